import assert from 'node:assert/strict';
import { stripe } from '../../../src/domains/integrations/services/stripe.ts';
import { defineRow, goodToken, mark, tokenWithoutScopes } from './service-row.ts';
import { StripeAccountServer } from './stripe-account-server.ts';

const refused = (status: number, error: object, headers: Record<string, string> = {}) => ({ status, json: { error }, headers });

export const stripeRow = defineRow<StripeAccountServer>({
  service: stripe,
  hasScopes: true,
  async start(t) {
    const standIn = await StripeAccountServer.start(t);
    standIn.tokens.set(goodToken, ['read_write']).set(tokenWithoutScopes, []);
    standIn.addPayment(5_000, 'usd', 'Book');
    return standIn;
  },
  truePlan: {
    variables: { token: 'STRIPE_TEST_KEY' },
    ofStandIn: () => ({ token: goodToken }),
    calls: {
      list_payments: () => ({ limit: 5 }),
      create_payment_link: () => ({ name: mark, amount: 19.99, currency: 'USD' }),
    },
    unknown: { tool: 'refund_payment', args: () => ({ payment_id: 'pi_0000000000000000' }) },
  },
  tools: {
    list_payments: {
      args: () => ({ limit: 5 }),
      path: /\/payment_intents$/,
      result: ({ payments: [payment] }) => ({
        payments: [
          {
            ...{ id: payment!.id, amount: 50, amount_received: 50, currency: 'usd', status: 'succeeded', description: 'Book' },
            ...{
              customer: payment!.customer,
              receipt_email: 'buyer@example.com',
              created_at: new Date(payment!.created * 1_000).toISOString(),
            },
          },
        ],
        has_more: false,
      }),
    },
    create_payment_link: {
      args: () => ({ name: 'Book', amount: 19.99, currency: 'USD' }),
      path: /\/payment_links$/,
      result: ({ links: [link] }) => ({ id: link!.id, url: link!.url, active: true }),
      effect: ({ links: [link] }) =>
        assert.deepEqual([link!.name, link!.unitAmount, link!.quantity, link!.currency], ['Book', 1_999, 1, 'usd']),
    },
    refund_payment: {
      args: ({ payments: [payment] }) => ({ payment_id: payment!.id, amount: 12.5 }),
      path: /\/refunds$/,
      result: ({ refunds: [refund], payments: [payment] }) => ({
        ...{ id: refund!.id, status: 'succeeded', amount: 12.5, currency: 'usd', payment_id: payment!.id },
      }),
    },
  },
  refusals: {
    notFound: {
      answer: refused(404, { type: 'invalid_request_error', code: 'resource_missing', param: 'id', message: "No such charge: 'ch_1'" }),
      failure: { type: 'not_found', message: 'No such charge' },
    },
    forbidden: {
      answer: refused(403, {
        type: 'invalid_request_error',
        message: "The provided key 'rk_test_***abc' does not have the required permissions",
      }),
      failure: { type: 'forbidden', scope: null, message: "key '[key]' does not have" },
    },
    invalid: {
      answer: refused(400, {
        type: 'invalid_request_error',
        code: 'parameter_invalid_integer',
        param: 'amount',
        message: 'Invalid integer: x',
      }),
      failure: { type: 'invalid', field: 'amount', message: 'Invalid integer' },
    },
    unavailable: { answer: refused(500, { type: 'api_error', message: 'Sorry' }), failure: { type: 'unavailable' } },
  },
  limited: {
    plain: refused(429, { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests' }),
    withRetryAfter: (value) => refused(429, { code: 'lock_timeout', message: 'Locked' }, { 'retry-after': value }),
  },
});
