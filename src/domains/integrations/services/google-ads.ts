/** Google Ads: campaigns and reports of the customers that the connected person manages. */
import Type from 'typebox';
import { adsFailure } from './google-ads-answers.ts';
import { googleOAuth } from './google-failures.ts';
import { pagesUpTo } from './pages.ts';
import { type Fields, fieldsOf, listOf, requiredFields, textOf, textsOf } from './read-answer.ts';
import { defineService, type ServiceAnswer, type ServiceCall, type ServiceRequest } from './service.ts';
import { ServiceFailed } from './service-failure.ts';

const title = 'Google Ads';
/** Versions live about a year. */
const version = '/v26';
const scopes = ['https://www.googleapis.com/auth/adwords'];

const maxCampaigns = 200;
const maxRows = 1_000;
/** Manager accounts that are tried for a customer that cannot be reached directly. */
const maxManagers = 5;
const settable = ['ENABLED', 'PAUSED'];

const customerId = Type.String({ pattern: '^[\\d\\s-]{1,20}$', description: 'Id of the customer, such as 123-456-7890' });

export const googleAds = defineService({
  name: 'google_ads',
  title,
  shapeSeen: '2026-11-23',
  shapeSource: 'Reference of the Google Ads API v26 (read from docs: there is no official client for Node.js)',
  apiUrl: 'https://googleads.googleapis.com',
  // No developer token: since 2026-09 access belongs to the project of the OAuth client.
  headers: {},
  oauth: googleOAuth,
  takesApiKey: false,
  identity: { method: 'GET', path: `${version}/customers:listAccessibleCustomers` },
  failureIn: adsFailure,
  tools: [
    {
      name: 'list_campaigns',
      description: `Lists campaigns of a Google Ads customer that are not removed. Returns {campaigns: [{id, name, status, channel, budget_micros}], has_more}, at most ${maxCampaigns}; a million micros is one unit of the customer's currency.`,
      parameters: Type.Object({ customer_id: customerId }),
      scopes,
      writes: false,
      highConsequence: false,
      untrusted: false,
      repeatable: true,
      async run({ customer_id: customer }: { customer_id: string }, call) {
        const { items, hasMore } = await search(customer, campaignsQuery, maxCampaigns, call);
        return { campaigns: items.map(shownCampaign), has_more: hasMore };
      },
    },
    {
      name: 'read_report',
      description: `Runs a query in the Google Ads Query Language (GAQL) for a customer and returns {rows, has_more}, at most ${maxRows} rows. Put LIMIT and a date range into the query, such as "SELECT campaign.name, metrics.clicks FROM campaign WHERE segments.date DURING LAST_7_DAYS LIMIT 100".`,
      parameters: Type.Object({
        customer_id: customerId,
        query: Type.String({ minLength: 1, maxLength: 20_000, pattern: '^\\s*[Ss][Ee][Ll][Ee][Cc][Tt]\\s', description: 'GAQL' }),
      }),
      scopes,
      writes: false,
      highConsequence: false,
      untrusted: false,
      repeatable: true,
      async run({ customer_id: customer, query }: { customer_id: string; query: string }, call) {
        const { items, hasMore } = await search(customer, query, maxRows, call);
        return { rows: items, has_more: hasMore };
      },
    },
    {
      name: 'update_campaign',
      description:
        'Enables or pauses a campaign of a Google Ads customer; an enabled campaign spends money. The user may have to approve it first. Returns {campaign_id, status}.',
      parameters: Type.Object({
        customer_id: customerId,
        campaign_id: Type.String({ pattern: '^\\d{1,20}$', description: 'Id of the campaign' }),
        status: Type.Optional(Type.String({ maxLength: 20, description: 'ENABLED or PAUSED' })),
      }),
      scopes,
      writes: true,
      highConsequence: true,
      untrusted: false,
      // A repeat sets the same status.
      repeatable: true,
      async run(args: { customer_id: string; campaign_id: string; status?: string }, call) {
        const status = args.status?.toUpperCase();
        if (status === undefined || !settable.includes(status))
          throw new ServiceFailed({
            type: 'invalid',
            message: `status must be one of ${settable.join(', ')}. Nothing was changed`,
            field: 'status',
          });
        const id = digits(args.customer_id);
        const update = { resourceName: `customers/${id}/campaigns/${args.campaign_id}`, status };
        await asManager(id, call, {
          method: 'POST',
          path: `${version}/customers/${id}/campaigns:mutate`,
          json: { operations: [{ updateMask: 'status', update }] },
          repeatable: true,
          limit: 'campaigns.mutate',
        });
        return { campaign_id: args.campaign_id, status };
      },
    },
  ],
});

const campaignsQuery = [
  'SELECT campaign.id, campaign.name, campaign.status, campaign.advertising_channel_type, campaign_budget.amount_micros',
  "FROM campaign WHERE campaign.status != 'REMOVED' ORDER BY campaign.id",
  `LIMIT ${maxCampaigns + 1}`,
].join(' ');

function shownCampaign(row: Fields) {
  const campaign = fieldsOf(row.campaign);
  return {
    id: textOf(campaign.id) ?? null,
    name: textOf(campaign.name) ?? null,
    status: textOf(campaign.status) ?? null,
    channel: textOf(campaign.advertisingChannelType) ?? null,
    budget_micros: textOf(fieldsOf(row.campaignBudget).amountMicros) ?? null,
  };
}

function search(customer: string, query: string, max: number, call: ServiceCall): Promise<{ items: Fields[]; hasMore: boolean }> {
  const id = digits(customer);
  return pagesUpTo(max, async (pageToken) => {
    const { body } = await asManager(id, call, {
      method: 'POST',
      path: `${version}/customers/${id}/googleAds:search`,
      json: { query, ...(pageToken !== undefined && { pageToken }) },
      repeatable: true,
      limit: 'googleAds.search',
    });
    const page = requiredFields(body, title);
    return { items: listOf(page.results, title), next: textOf(page.nextPageToken) || undefined };
  });
}

/** A customer below a manager account is reached with the manager named in `login-customer-id`; which one it is, is found by trying. */
async function asManager(customer: string, call: ServiceCall, request: ServiceRequest): Promise<ServiceAnswer> {
  try {
    return await call.request(request);
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    for (const manager of await accessible(customer, call)) {
      const answer = await call.request({ ...request, headers: { 'login-customer-id': manager } }).catch((refusal: unknown) => {
        if (isNotPermitted(refusal)) return null;
        throw refusal;
      });
      if (answer !== null) return answer;
    }
    throw error;
  }
}

async function accessible(except: string, call: ServiceCall): Promise<string[]> {
  const { body } = await call.request({ method: 'GET', path: `${version}/customers:listAccessibleCustomers`, limit: 'customers' });
  const ids = textsOf(fieldsOf(body).resourceNames).map((name) => name.replace(/^customers\//, ''));
  return ids.filter((id) => id !== except).slice(0, maxManagers);
}

function isNotPermitted(error: unknown): boolean {
  return error instanceof ServiceFailed && error.failure.type === 'forbidden' && error.message.includes('USER_PERMISSION_DENIED');
}

function digits(customer: string): string {
  return customer.replace(/\D/g, '');
}
