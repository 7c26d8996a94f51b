/** Rules of WhatsApp and Google Ads only. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { googleAds } from '../../../../src/domains/integrations/services/google-ads.ts';
import type { ReceivedMessage } from '../../../../src/domains/integrations/services/service.ts';
import { ServiceFailed } from '../../../../src/domains/integrations/services/service-failure.ts';
import { whatsapp } from '../../../../src/domains/integrations/services/whatsapp.ts';
import { directCall } from '../../../support/services/direct-call.ts';
import { GoogleAdsServer } from '../../../support/services/google-ads-server.ts';
import { goodToken } from '../../../support/services/service-row.ts';
import { WhatsappServer } from '../../../support/services/whatsapp-server.ts';

const hourMs = 3_600_000;
const sendMessage = whatsapp.tools.find(({ name }) => name === 'send_message')!;

test('free text is sent to a person who wrote within 24 hours or has no record', async (t) => {
  const { standIn, call } = await number(t, [{ id: 'w1', from: '4915123456789', text: 'Hi', at: ago(23) }]);
  await sendMessage.run({ to: '+49 151 23456789', text: 'Hello' }, call);
  await sendMessage.run({ to: '15550001111', text: 'Hello' }, call);
  assert.deepEqual(
    standIn.sent.map(({ to, type, text }) => [to, type, text.body]),
    [
      ['4915123456789', 'text', 'Hello'],
      ['15550001111', 'text', 'Hello'],
    ],
  );
});

test('free text to a person who wrote earlier is refused before a request; a template is sent', async (t) => {
  const { standIn, call } = await number(t, [{ id: 'w1', from: '4915123456789', text: 'Hi', at: ago(25) }]);
  await assert.rejects(sendMessage.run({ to: '+4915123456789', text: 'Hello' }, call), (error: ServiceFailed) => {
    assert.deepEqual([error.failure.type, (error.failure as { field?: string }).field], ['invalid', 'template']);
    return true;
  });
  assert.equal(standIn.requests.length, 0);
  await sendMessage.run({ to: '+4915123456789', text: 'Order 7', template: 'order_ready' }, call);
  assert.equal(standIn.sent[0].template.language.code, 'en_US');
});

test('a template that does not exist is invalid and names the field', async (t) => {
  const { call } = await number(t, []);
  await assert.rejects(sendMessage.run({ to: '15550001111', text: 'x', template: 'none' }, call), hasFailure({ field: 'template' }));
});

test('a refused token of WhatsApp is recognized by its code, with any status', () => {
  const answer = { status: 400, headers: {}, body: { error: { code: 190, message: 'Session has expired' } } };
  assert.equal(whatsapp.refusesToken!(answer), true);
  assert.equal(whatsapp.refusesToken!({ ...answer, body: null }), false);
});

const search = { customer_id: '222-222-2222', query: 'SELECT campaign.id FROM campaign' };
const readReport = googleAds.tools.find(({ name }) => name === 'read_report')!;
const updateCampaign = googleAds.tools.find(({ name }) => name === 'update_campaign')!;

test('a customer without a manager in the connection is forbidden, after a bounded number of tries', async (t) => {
  const { standIn, call } = await customer(t);
  await assert.rejects(readReport.run({ ...search, customer_id: '3333333333' }, call), hasFailure({ type: 'forbidden' }));
  assert.equal(standIn.requests.length, 4);
});

test('a rate limit of Google Ads is reported with the time in its details', () => {
  const details = [
    { errors: [{ errorCode: { quotaError: 'RESOURCE_EXHAUSTED' }, details: { quotaErrorDetails: { retryDelay: '90s' } } }] },
  ];
  const answer = { status: 429, headers: {}, body: { error: { code: 429, message: 'Too many', status: 'RESOURCE_EXHAUSTED', details } } };
  const failure = googleAds.failureIn!(answer, Date.UTC(2026, 0, 1));
  assert.deepEqual(failure, { type: 'rate_limited', message: 'Google Ads: Too many', retryAt: '2026-01-01T00:01:30.000Z' });
});

test('a partial failure inside a 200 answer is a failure', async (t) => {
  const { standIn, call } = await customer(t);
  const details = [
    { errors: [{ errorCode: { rangeError: 'TOO_LOW' }, message: 'Too low.', location: { fieldPathElements: [{ fieldName: 'status' }] } }] },
  ];
  standIn.meet(/mutate$/, { status: 200, json: { results: [{}], partialFailureError: { code: 3, message: 'Partly', details } } });
  const running = updateCampaign.run({ customer_id: standIn.customer, campaign_id: '11', status: 'PAUSED' }, call);
  await assert.rejects(running, (error: ServiceFailed) => {
    assert.deepEqual(error.failure, { type: 'invalid', message: 'Google Ads: Too low.', field: 'status' });
    return true;
  });
});

test('an update without a status, or with an invalid one, is refused before a request', async (t) => {
  const { standIn, call } = await customer(t);
  for (const status of [undefined, 'REMOVED', ''])
    await assert.rejects(updateCampaign.run({ customer_id: standIn.customer, campaign_id: '11', status }, call), ServiceFailed);
  assert.equal(standIn.requests.length, 0);
});

async function number(t: TestContext, received: ReceivedMessage[]) {
  const standIn = await WhatsappServer.start(t);
  standIn.tokens.set(goodToken, ['whatsapp_business_messaging']);
  const attributes = { phone_number_id: standIn.phoneNumberId };
  return { standIn, call: directCall(whatsapp, { apiUrl: standIn.apiUrl, token: goodToken, attributes, received }) };
}

async function customer(t: TestContext) {
  const standIn = await GoogleAdsServer.start(t);
  standIn.tokens.set(goodToken, ['https://www.googleapis.com/auth/adwords']);
  return { standIn, call: directCall(googleAds, { apiUrl: standIn.apiUrl, token: goodToken }) };
}

function ago(hours: number): string {
  return new Date(Date.now() - hours * hourMs).toISOString();
}

function hasFailure(expected: object) {
  return (error: ServiceFailed) => {
    assert.partialDeepStrictEqual(error.failure, expected);
    return true;
  };
}
