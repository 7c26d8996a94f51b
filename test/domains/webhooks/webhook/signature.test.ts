import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { keyOfSecret, newWebhookSecret, signatureHeaders } from '../../../../src/domains/webhooks/webhook/signature.ts';

const body = '{"id":"evt_1","data":{"text":"Grüße, 世界"}}';
const nowS = Math.floor(Date.now() / 1_000);

test('a delivery is verified by the Standard Webhooks library, and by hand from X-Troupe-Signature', () => {
  const secret = newWebhookSecret();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const headers = signatureHeaders([keyOfSecret(secret)], 'evt_1', nowS, body);
  assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  assert.equal(headers['x-troupe-signature'], `t=${nowS},v1=${createHmac('sha256', key).update(`${nowS}.${body}`).digest('hex')}`);
});

test('a changed body, or a signature with another secret, is not verified', () => {
  const secret = newWebhookSecret();
  const headers = signatureHeaders([keyOfSecret(secret)], 'evt_1', nowS, body);
  assert.throws(() => new Webhook(secret).verify(`${body} `, headers));
  assert.throws(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'evt_2' }));
  assert.throws(() => new Webhook(newWebhookSecret()).verify(body, headers));
});

test('during a rotation both secrets verify a delivery', () => {
  const [old, current] = [newWebhookSecret(), newWebhookSecret()];
  const headers = signatureHeaders([current, old].map(keyOfSecret), 'evt_1', nowS, body);
  for (const secret of [old, current]) assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
  assert.match(headers['x-troupe-signature']!, /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  assert.equal(headers['webhook-signature']!.split(' ').length, 2);
});
