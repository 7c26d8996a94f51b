/** Purchase orders in the whole service: placed by users and agents, approved, rejected, paid when there is money, and refused. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Invalid } from '../support/bodies.ts';
import { sameDay } from '../support/same-day.ts';
import { Caller, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const service = await startService({ after });
const good = { description: '3 licences', amount: 120.5, vendor: 'Acme' };

const place = (caller: Caller, body: object = good) => caller.json('POST', '/v1/commerce/orders', body);
const act = (caller: Caller, id: string, what: string, body?: object, headers?: Record<string, string>) =>
  caller.fetch('POST', `/v1/commerce/orders/${id}/${what}`, body, headers);
const order = (caller: Caller, id: string) => caller.json('GET', `/v1/commerce/orders/${id}`);
const balance = async (caller: Caller) => (await caller.json('GET', '/v1/commerce/wallet/balance')).balance;

test('an order waits, is approved, is paid when money arrives, and shows every step', async () => {
  const ann = await Caller.register(service);
  const placed = await place(ann);
  const { id, created_at, ...rest } = placed;
  assert.match(id, /^po_/);
  assert.deepEqual(rest, { ...good, status: 'pending', mode: 'live' });
  const approved: any = await (await act(ann, id, 'approve')).json();
  assert.deepEqual([approved.status, approved.payment_error], ['approved', 'insufficient_funds']);
  assert.ok(approved.approved_at >= created_at);
  await ann.json('POST', '/v1/commerce/wallet/deposit', { amount: 200, source: 'card' });
  await until(async () => (await order(ann, id)).status === 'complete', 'payment');
  assert.equal(await balance(ann), 79.5);
  const types = (await ann.events()).map(({ type }) => type).filter((type) => /^(order|wallet)\./.test(type));
  assert.deepEqual(types, ['order.created', 'order.approved', 'wallet.deposited', 'order.complete']);

  const second = await place(ann, { ...good, amount: 10 });
  const answered = await act(ann, second.id, 'approve');
  assert.deepEqual([answered.status, ((await answered.json()) as { status: string }).status], [200, 'approved']);
  assert.equal((await order(ann, second.id)).status, 'complete');
  for (const what of ['approve', 'reject']) assert.equal((await act(ann, second.id, what)).status, 409);
  const third = await place(ann);
  const rejected: any = await (await act(ann, third.id, 'reject', { reason: 'Too dear' })).json();
  assert.deepEqual([rejected.status, rejected.reason, rejected.approved_at], ['rejected', 'Too dear', undefined]);
  for (const what of ['approve', 'reject']) assert.equal((await act(ann, third.id, what)).status, 409);
  const { data, has_more, total } = await ann.json('GET', '/v1/commerce/orders?limit=2');
  assert.deepEqual([data.map((one: { id: string }) => one.id), has_more, total], [[third.id, second.id], true, 3]);
  assert.equal(await balance(ann), 69.5);
});

test('an invalid amount or text and an unknown order are refused without an effect', async () => {
  const ann = await Caller.register(service);
  const bob = await Caller.register(service);
  const status = async (body: unknown) => (await ann.fetch('POST', '/v1/commerce/orders', body)).status;
  for (const amount of [0, -5, 0.001, 1.005, 1e308, -0, '5', null, true, [1], {}, 1e12])
    assert.equal(await status({ ...good, amount }), 422, String(amount));
  for (const currency of ['EUR', 'usd', 'XXX', 1]) assert.equal(await status({ ...good, currency }), 422);
  for (const missing of ['description', 'amount', 'vendor']) assert.equal(await status({ ...good, [missing]: undefined }), 422);
  assert.equal(await status({ ...good, description: '' }), 422);
  const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' };
  const raw = async (body: string) => (await fetch(`${service.url}/v1/commerce/orders`, { method: 'POST', headers, body })).status;
  assert.equal(await raw('{"description":"x","vendor":"y","amount":NaN}'), 400);
  assert.equal(await raw('{"description":"x","vendor":"y","amount":1e999}'), 422);
  assert.equal((await ann.json('GET', '/v1/commerce/orders')).total, 0);
  assert.equal(await status({ ...good, currency: 'USD' }), 201);

  const { id } = await place(bob);
  for (const other of [id, 'po_01jny8e2zjv6x0r3k9m4t7w5ab', 'nothing']) {
    for (const what of ['approve', 'reject']) assert.equal((await act(ann, other, what)).status, 404, other);
    assert.equal((await ann.fetch('GET', `/v1/commerce/orders/${other}`)).status, 404);
  }
  const { key } = await ann.json('POST', '/v1/api-keys', { name: 'r', scopes: ['commerce.read'] });
  const reader = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  assert.equal(
    (await fetch(`${service.url}/v1/commerce/orders`, { method: 'POST', headers: reader, body: JSON.stringify(good) })).status,
    403,
  );
});

test('spending limits refuse an approval with 422, an approval is repeated by its key, and an order under the threshold approves itself', async () => {
  await sameDay();
  const ann = await Caller.register(service);
  await ann.json('POST', '/v1/commerce/wallet/deposit', { amount: 50_000, source: 'bank_transfer' });
  const dear = await place(ann, { ...good, amount: 10_000.01 });
  const refused = await act(ann, dear.id, 'approve');
  assert.equal(refused.status, 422);
  assert.deepEqual(((await refused.json()) as Invalid).detail[0].type, 'per_transaction_limit');
  assert.equal((await order(ann, dear.id)).status, 'pending');
  const ids = await Promise.all([1, 2, 3, 4].map(async () => (await place(ann, { ...good, amount: 9_000 })).id));
  const statuses = await Promise.all(ids.map(async (id) => (await act(ann, id, 'approve')).status));
  assert.deepEqual(statuses.toSorted(), [200, 200, 422, 422]);
  assert.equal(await balance(ann), 32_000);

  const { id } = await place(ann, { ...good, amount: 5 });
  const key = { 'idempotency-key': 'approve-1' };
  const [first, again] = [await act(ann, id, 'approve', undefined, key), await act(ann, id, 'approve', undefined, key)];
  assert.deepEqual([first.status, again.status, again.headers.get('idempotency-replayed')], [200, 200, 'true']);
  assert.deepEqual(await again.json(), await first.json());

  await ann.json('PATCH', '/v1/settings', { auto_approve_threshold: 20 });
  const own = await place(ann, { ...good, amount: 20 });
  assert.equal(own.status, 'approved');
  assert.equal((await order(ann, own.id)).status, 'complete');
  assert.equal((await place(ann, { ...good, amount: 20.01 })).status, 'pending');
  assert.equal(await balance(ann), 31_975);
});

test('an agent places an order after an approval; a kill in between leaves one order', async () => {
  const ann = await Caller.register(service);
  const prompt = 'Order 3 licences from Acme for 120 dollars';
  const asked = await ann.json('POST', '/v1/tasks', { prompt, config: { autonomy_level: 50 } });
  let agent: any;
  await until(async () => {
    agent = (await ann.json('GET', `/v1/tasks/${asked.id}`)).agents?.find((one: { status: string }) => one.status === 'waiting');
    return agent !== undefined;
  }, 'the question');
  assert.equal((await ann.json('GET', '/v1/commerce/orders')).total, 0);
  const required = (await ann.events()).find(({ type }) => type === 'approval.required')!;
  assert.equal(required.data.action, 'create_purchase_order');
  await ann.json('POST', `/v1/agents/${agent.id}/approve/${required.data.approval_id}`, { approved: true });
  await until(async () => (await ann.json('GET', '/v1/commerce/orders')).total === 1, 'the order');
  await service.kill();
  await service.restart();
  const back = ann.at(service);
  const done = await back.untilTask(asked.id, ['complete', 'failed']);
  assert.equal(done.status, 'complete');
  const { data } = await back.json('GET', '/v1/commerce/orders');
  assert.deepEqual(
    data.map((one: { description: string; amount: number; vendor: string; status: string }) => [
      one.description,
      one.amount,
      one.vendor,
      one.status,
    ]),
    [['3 licences', 120, 'Acme', 'pending']],
  );
});
