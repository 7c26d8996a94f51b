import assert from 'node:assert/strict';
import { whatsapp } from '../../../src/domains/integrations/services/whatsapp.ts';
import { defineRow, goodToken, mark, tokenWithoutScopes } from './service-row.ts';
import { refused, WhatsappServer } from './whatsapp-server.ts';

const received = [
  { id: 'wamid.in2', from: '4915123456789', text: 'Still there?', at: '2020-01-02T10:00:00.000Z' },
  { id: 'wamid.in1', from: '15550001111', text: 'Hello', at: '2020-01-01T10:00:00.000Z' },
];

export const whatsappRow = defineRow<WhatsappServer>({
  service: whatsapp,
  hasScopes: true,
  async start(t) {
    const standIn = await WhatsappServer.start(t);
    standIn.tokens.set(goodToken, ['whatsapp_business_messaging']).set(tokenWithoutScopes, []);
    return standIn;
  },
  attributes: ({ phoneNumberId }) => ({ phone_number_id: phoneNumberId }),
  received,
  truePlan: {
    variables: { token: 'WHATSAPP_TEST_TOKEN', number: 'WHATSAPP_TEST_NUMBER_ID', to: 'WHATSAPP_TEST_TO' },
    ofStandIn: ({ phoneNumberId: number }) => ({ token: goodToken, number, to: '+49 151 23456789' }),
    attributes: ({ number }) => ({ phone_number_id: number! }),
    calls: { send_message: ({ to }) => ({ to, text: mark, template: 'hello_world:en_US' }) },
    unknown: { tool: 'send_message', args: ({ to }) => ({ to, text: mark, template: 'no_such_template:en_US' }) },
  },
  tools: {
    send_message: {
      args: () => ({ to: '+49 151 23456789', text: 'Your order 7', template: 'order_ready:de' }),
      path: /\/messages$/,
      result: () => ({ id: 'wamid.1', to: '4915123456789' }),
      effect: ({ sent }) =>
        assert.deepEqual(sent[0].template, {
          name: 'order_ready',
          language: { code: 'de' },
          components: [{ type: 'body', parameters: [{ type: 'text', text: 'Your order 7' }] }],
        }),
    },
    read_messages: { args: () => ({ from: '+1 555 000 1111' }), path: null, result: () => ({ messages: [received[1]] }) },
  },
  refusals: {
    notFound: {
      answer: refused(400, 100, "Unsupported post request. Object with ID '1' does not exist", { error_subcode: 33 }),
      failure: { type: 'not_found' },
    },
    forbidden: {
      answer: refused(403, 10, 'Application does not have permission for this action'),
      failure: { type: 'forbidden', scope: null },
    },
    invalid: {
      answer: refused(400, 131047, 'Re-engagement message', { error_data: { details: 'More than 24 hours have passed' } }),
      failure: { type: 'invalid', field: 'template', message: 'More than 24 hours have passed' },
    },
    unavailable: { answer: refused(500, 131000, 'Something went wrong'), failure: { type: 'unavailable' } },
  },
  limited: {
    plain: refused(400, 131056, '(Business Account, Consumer Account) pair rate limit hit'),
    withRetryAfter: (value) => ({ ...refused(429, 130429, 'Rate limit hit'), headers: { 'retry-after': value } }),
  },
});
