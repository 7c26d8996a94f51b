/** Speaks like the Google Ads API v26 over REST. Read from docs, seen 2026-11-23: there is no official client for Node.js. */
import type { Json } from '../json.ts';
import { type ServiceRequest, ServiceStandIn, type StandInAnswer } from './service-stand-in.ts';

const adwords = 'https://www.googleapis.com/auth/adwords';

export class GoogleAdsServer extends ServiceStandIn {
  readonly customer = '1234567890';
  /** Reached only with `login-customer-id` of the manager. */
  readonly client = '2222222222';
  readonly manager = '9999999999';
  readonly campaigns = [
    { id: '11', name: 'Spring', status: 'PAUSED' },
    { id: '12', name: 'Autumn', status: 'ENABLED' },
  ];
  pageSize = 10_000;

  protected answer({ method, path, body, headers, scopes }: ServiceRequest): StandInAnswer {
    if (headers['developer-token'] !== undefined)
      return refused(400, 'INVALID_ARGUMENT', { requestError: 'UNKNOWN' }, 'No developer token is taken');
    if (scopes === null) return refused(401, 'UNAUTHENTICATED', { authenticationError: 'OAUTH_TOKEN_INVALID' }, 'Invalid token');
    if (!scopes.includes(adwords)) return noScope();
    if (method === 'GET' && path === '/v26/customers:listAccessibleCustomers')
      return ok({ resourceNames: [`customers/${this.customer}`, `customers/${this.manager}`] });
    const [, customer, action] = /^\/v26\/customers\/(\d+)\/([\w]+:\w+)$/.exec(path) ?? [];
    if (customer === undefined || method !== 'POST')
      return { status: 404, text: '<html>404</html>', headers: { 'content-type': 'text/html' } };
    if (customer === this.client ? headers['login-customer-id'] !== this.manager : customer !== this.customer)
      return refused(
        403,
        'PERMISSION_DENIED',
        { authorizationError: 'USER_PERMISSION_DENIED' },
        "User doesn't have permission to access customer.",
      );
    if (action === 'googleAds:search') return this.search(body);
    return action === 'campaigns:mutate' ? this.mutate(customer, body) : { status: 404, text: '' };
  }

  private search({ query, pageToken = '0' }: Json): StandInAnswer {
    const unknown = /\bno_such_field\b/.exec(query);
    if (unknown !== null)
      return refused(400, 'INVALID_ARGUMENT', { queryError: 'UNRECOGNIZED_FIELD' }, "Unrecognized field in the query: 'no_such_field'.");
    const from = Number(pageToken);
    const to = from + this.pageSize;
    const results = this.campaigns.slice(from, to).map((campaign) => ({
      campaign: { resourceName: `customers/${this.customer}/campaigns/${campaign.id}`, ...campaign, advertisingChannelType: 'SEARCH' },
      campaignBudget: { resourceName: `customers/${this.customer}/campaignBudgets/1`, amountMicros: '5000000' },
    }));
    return ok({
      results,
      fieldMask: 'campaign.id,campaign.name,campaign.status',
      ...(to < this.campaigns.length && { nextPageToken: String(to) }),
    });
  }

  private mutate(customer: string, { operations }: Json): StandInAnswer {
    const [{ updateMask, update }] = operations;
    const campaign = this.campaigns.find(({ id }) => update.resourceName === `customers/${customer}/campaigns/${id}`);
    if (campaign === undefined) return refused(400, 'INVALID_ARGUMENT', { mutateError: 'RESOURCE_NOT_FOUND' }, 'Resource was not found.');
    if (updateMask === 'status') campaign.status = update.status;
    return ok({ results: [{ resourceName: update.resourceName }] });
  }
}

function ok(json: object): StandInAnswer {
  return { status: 200, json };
}

const failureType = 'type.googleapis.com/google.ads.googleads.v26.errors.GoogleAdsFailure';

export function refused(code: number, status: string, errorCode: Record<string, string>, message: string, details?: object): StandInAnswer {
  const errors = [{ errorCode, message, ...(details !== undefined && { details }) }];
  return {
    status: code,
    json: { error: { code, message: 'The request was refused.', status, details: [{ '@type': failureType, errors, requestId: 'r1' }] } },
  };
}

function noScope(): StandInAnswer {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT', domain: 'googleapis.com' };
  const message = 'Request had insufficient authentication scopes.';
  return { status: 403, json: { error: { code: 403, message, status: 'PERMISSION_DENIED', details: [info] } } };
}
