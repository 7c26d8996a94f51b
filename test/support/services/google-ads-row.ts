import assert from 'node:assert/strict';
import { googleAds } from '../../../src/domains/integrations/services/google-ads.ts';
import { GoogleAdsServer, refused } from './google-ads-server.ts';
import { defineRow, goodToken, tokenWithoutScopes } from './service-row.ts';

export const googleAdsRow = defineRow<GoogleAdsServer>({
  service: googleAds,
  hasScopes: true,
  async start(t) {
    const standIn = await GoogleAdsServer.start(t);
    standIn.tokens.set(goodToken, ['https://www.googleapis.com/auth/adwords']).set(tokenWithoutScopes, []);
    return standIn;
  },
  truePlan: {
    variables: { token: 'GOOGLE_ADS_TEST_TOKEN', customer: 'GOOGLE_ADS_TEST_CUSTOMER' },
    ofStandIn: ({ customer }) => ({ token: goodToken, customer }),
    calls: {
      list_campaigns: ({ customer }) => ({ customer_id: customer }),
      read_report: ({ customer }) => ({ customer_id: customer, query: 'SELECT campaign.name FROM campaign LIMIT 2' }),
    },
    unknown: { tool: 'update_campaign', args: ({ customer }) => ({ customer_id: customer, campaign_id: '1', status: 'paused' }) },
  },
  tools: {
    list_campaigns: {
      args: () => ({ customer_id: '123-456-7890' }),
      path: /googleAds:search$/,
      result: () => ({
        campaigns: [
          { id: '11', name: 'Spring', status: 'PAUSED', channel: 'SEARCH', budget_micros: '5000000' },
          { id: '12', name: 'Autumn', status: 'ENABLED', channel: 'SEARCH', budget_micros: '5000000' },
        ],
        has_more: false,
      }),
    },
    read_report: {
      args: ({ client }) => ({ customer_id: client, query: 'SELECT campaign.name FROM campaign LIMIT 2' }),
      path: /googleAds:search$/,
      result: ({ customer }) => ({
        rows: ['11 Spring PAUSED', '12 Autumn ENABLED'].map((campaign) => {
          const [id, name, status] = campaign.split(' ');
          return {
            campaign: { resourceName: `customers/${customer}/campaigns/${id}`, id, name, status, advertisingChannelType: 'SEARCH' },
            campaignBudget: { resourceName: `customers/${customer}/campaignBudgets/1`, amountMicros: '5000000' },
          };
        }),
        has_more: false,
      }),
      effect: ({ requests, manager }) => assert.equal(requests.at(-1)!.headers['login-customer-id'], manager),
    },
    update_campaign: {
      args: ({ customer }) => ({ customer_id: customer, campaign_id: '11', status: 'enabled' }),
      path: /campaigns:mutate$/,
      result: () => ({ campaign_id: '11', status: 'ENABLED' }),
      effect: ({ campaigns }) => assert.equal(campaigns[0]!.status, 'ENABLED'),
    },
  },
  refusals: {
    notFound: {
      answer: refused(400, 'INVALID_ARGUMENT', { mutateError: 'RESOURCE_NOT_FOUND' }, 'Resource was not found.'),
      failure: { type: 'not_found' },
    },
    forbidden: {
      answer: refused(403, 'PERMISSION_DENIED', { authorizationError: 'CUSTOMER_NOT_ENABLED' }, 'The customer is not enabled.'),
      failure: { type: 'forbidden', scope: null },
    },
    invalid: {
      answer: refused(400, 'INVALID_ARGUMENT', { queryError: 'UNRECOGNIZED_FIELD' }, 'Unrecognized field'),
      failure: { type: 'invalid', field: null },
    },
    unavailable: {
      answer: refused(500, 'INTERNAL', { internalError: 'INTERNAL_ERROR' }, 'Internal error'),
      failure: { type: 'unavailable' },
    },
  },
  limited: {
    plain: refused(429, 'RESOURCE_EXHAUSTED', { quotaError: 'RESOURCE_EXHAUSTED' }, 'Too many requests'),
    withRetryAfter: (value) => ({
      ...refused(429, 'RESOURCE_EXHAUSTED', { quotaError: 'RESOURCE_EXHAUSTED' }, 'Too many requests'),
      headers: { 'retry-after': value },
    }),
  },
  pages: {
    tool: 'list_campaigns',
    args: { customer_id: '1234567890' },
    make(standIn) {
      standIn.pageSize = 50;
      for (let n = 100; n < 320; n += 1) standIn.campaigns.push({ id: String(n), name: `Campaign ${n}`, status: 'PAUSED' });
    },
    check({ campaigns, has_more }) {
      assert.deepEqual([campaigns.length, has_more], [200, true]);
      assert.equal(new Set(campaigns.map(({ id }: { id: string }) => id)).size, 200);
    },
  },
});
