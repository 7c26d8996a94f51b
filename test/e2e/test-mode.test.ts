/**
 * A live and a test key of one account, in the whole service: money, cards, orders and events of one mode are never seen or changed by
 * the other.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { nodeEnv } from '../support/node-env.ts';
import { onBusiness } from '../support/on-business.ts';
import { sameDay } from '../support/same-day.ts';
import { Caller, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const service = await startService({ after });
const base = '/v1/commerce';
const hooks = '/v1/api-keys/webhooks';
const good = { description: '3 licences', amount: 30, vendor: 'Acme' };
const card = { name: 'Travel', spend_limit: 100, currency: 'USD' };

type Owner = { person: Caller; live: Caller; test: Caller };

async function owner(): Promise<Owner> {
  const person = await Caller.register(service);
  return { person, live: await person.program('live'), test: await person.program('test') };
}

const deposit = (caller: Caller, amount: number) => caller.json('POST', `${base}/wallet/deposit`, { amount, source: 'card' });
const balance = async (caller: Caller) => (await caller.json('GET', `${base}/wallet/balance`)).balance;
const idsOf = async (caller: Caller, list: string): Promise<string[]> =>
  (await caller.json('GET', `${base}/${list}`)).data.map(({ id }: { id: string }) => id);
const statusOf = async (caller: Caller, method: string, path: string, body?: object) => (await caller.fetch(method, path, body)).status;

async function ledgerCheck(): Promise<any> {
  const args = ['--disable-warning=ExperimentalWarning', 'src/cli/main.ts', 'ledger', 'check', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...nodeEnv, DATA_DIR: service.dataDir } });
  return JSON.parse(stdout);
}

test('a plan without cards has none in test mode either', async () => {
  const { test: program } = await owner();
  assert.equal(await statusOf(program, 'GET', `${base}/cards`), 402);
  assert.equal(await statusOf(program, 'POST', `${base}/cards`, card), 402);
  assert.equal(await balance(program), 0);
  await onBusiness((await runningEmbeddedPostgres(service.dataDir))!);
});

test('wallet, cards, orders and their lists are separate, objects of the other mode are 404, and the ledger check totals each mode separately', async () => {
  const { person, live, test: trial } = await owner();
  await until(async () => (await statusOf(live, 'GET', `${base}/cards`)) === 200, 'the plan');
  const paidIn = { live: await deposit(person, 100), test: await deposit(trial, 5_000) };
  assert.deepEqual([paidIn.live.mode, paidIn.test.mode, paidIn.test.status], ['live', 'test', 'completed']);

  const made = async (caller: Caller) => {
    const { id: cardId, mode } = await caller.json('POST', `${base}/cards`, card);
    const paid = await caller.json('POST', `${base}/cards/${cardId}/authorizations`, { amount: 10, merchant: 'm' });
    const { id: order } = await caller.json('POST', `${base}/orders`, good);
    await caller.json('POST', `${base}/orders/${order}/approve`);
    return { cardId, authorization: paid.id, order, modes: [mode, paid.mode] };
  };
  const [ours, theirs] = await Promise.all([made(live), made(trial)]);
  assert.deepEqual(
    [ours.modes, theirs.modes],
    [
      ['live', 'live'],
      ['test', 'test'],
    ],
  );
  const complete = async (caller: Caller, id: string) => (await caller.json('GET', `${base}/orders/${id}`)).status === 'complete';
  await until(async () => (await complete(live, ours.order)) && (await complete(trial, theirs.order)), 'the payments');
  assert.deepEqual([await balance(person), await balance(live), await balance(trial)], [60, 60, 4_960]);

  for (const [caller, own, other, deposits] of [
    [live, ours, theirs, { own: paidIn.live, other: paidIn.test }],
    [person, ours, theirs, { own: paidIn.live, other: paidIn.test }],
    [trial, theirs, ours, { own: paidIn.test, other: paidIn.live }],
  ] as const) {
    assert.deepEqual(await idsOf(caller, 'cards'), [own.cardId]);
    assert.deepEqual(await idsOf(caller, 'orders'), [own.order]);
    assert.deepEqual(await idsOf(caller, `cards/${own.cardId}/authorizations`), [own.authorization]);
    const { data, total } = await caller.json('GET', `${base}/wallet/transactions`);
    assert.equal(total, 3);
    assert.deepEqual(new Set(data.map(({ mode }: { mode: string }) => mode)), new Set([deposits.own.mode]));
    assert.ok(data.some(({ id }: { id: string }) => id === deposits.own.id));
    const theirCard = `${base}/cards/${other.cardId}`;
    const theirOrder = `${base}/orders/${other.order}`;
    for (const [method, path, body] of [
      ['GET', theirCard],
      ['GET', `${theirCard}/authorizations`],
      ['GET', `${theirCard}/authorizations/${other.authorization}`],
      ['GET', `${base}/cards/${own.cardId}/authorizations/${other.authorization}`],
      ['POST', `${theirCard}/freeze`],
      ['POST', `${theirCard}/unfreeze`],
      ['POST', `${theirCard}/cancel`],
      ['POST', `${theirCard}/authorizations`, { amount: 1, merchant: 'm' }],
      ['GET', theirOrder],
      ['POST', `${theirOrder}/approve`],
      ['POST', `${theirOrder}/reject`, {}],
      ['GET', `${base}/wallet/deposits/${deposits.other.id}`],
    ] as const)
      assert.equal(await statusOf(caller, method, path, body), 404, `${method} ${path}`);
    assert.equal((await caller.json('GET', `${base}/wallet/deposits/${deposits.own.id}`)).mode, deposits.own.mode);
  }

  const key = { 'idempotency-key': 'card-1' };
  const shown = await live.json('POST', `${base}/cards`, card, key);
  const asked = (await (await trial.fetch('POST', `${base}/cards`, card, key)).json()) as { id: string; mode: string };
  assert.ok(asked.id === undefined || asked.id !== shown.id, 'a key of one mode is never answered with the card of the other');
  assert.ok(asked.mode === undefined || asked.mode === 'test');

  const { ok, balance: total, entries, test: inTest, findings } = await ledgerCheck();
  assert.deepEqual([ok, findings, total, entries, inTest.balance, inTest.entries], [true, [], 60, 6, 4_960, 6]);
});

test('test mode has its own limits and threshold; a session sees and changes those of both modes', async () => {
  await sameDay();
  const { person, live, test: trial } = await owner();
  const limits = `${base}/spending-limits`;
  await person.json('PATCH', `${limits}?mode=test`, { per_transaction_limit: 40, auto_approve_threshold: 30 });
  const seen = async (caller: Caller, query = '') => {
    const { mode, per_transaction_limit: limit, auto_approve_threshold: threshold } = await caller.json('GET', limits + query);
    return [mode, limit, threshold];
  };
  assert.deepEqual(await seen(trial), ['test', 40, 30]);
  assert.deepEqual(await seen(trial, '?mode=test'), ['test', 40, 30]);
  assert.deepEqual(await seen(person, '?mode=test'), ['test', 40, 30]);
  for (const caller of [live, person]) assert.deepEqual(await seen(caller), ['live', 10_000, 0]);
  assert.equal(await statusOf(trial, 'GET', `${limits}?mode=live`), 403);
  assert.equal(await statusOf(live, 'GET', `${limits}?mode=test`), 403);
  assert.equal(await statusOf(trial, 'PATCH', limits, { daily_limit: 1 }), 403);
  assert.equal((await person.json('GET', '/v1/settings')).auto_approve_threshold, 0);

  const place = async (caller: Caller, amount: number) => (await caller.json('POST', `${base}/orders`, { ...good, amount })).status;
  assert.deepEqual([await place(trial, 30), await place(live, 30), await place(trial, 30.01)], ['approved', 'pending', 'pending']);
  const { daily_spent: spent } = await trial.json('GET', limits);
  assert.deepEqual([spent, (await live.json('GET', limits)).daily_spent], [30, 0]);
});

test('a key gets events of its own mode only, by socket and webhook, and manages webhooks of its own mode only', async () => {
  const { person, live, test: trial } = await owner();
  for (const caller of [live, trial]) {
    const { id } = await caller.json('POST', `${base}/orders`, good);
    await caller.json('POST', `${base}/orders/${id}/reject`, {});
    await deposit(caller, 1);
  }
  const types = ['order.created', 'order.rejected', 'wallet.deposited'];
  for (const [caller, mode] of [
    [live, 'live'],
    [person, 'live'],
    [trial, 'test'],
  ] as const) {
    const emitted = (await caller.events()).filter(({ type }) => types.includes(type));
    assert.deepEqual(
      emitted.map(({ type, data }) => [type, data.mode]),
      types.map((type) => [type, mode]),
    );
  }
  const hook = { url: 'https://example.com/hook', events: ['order.*'] };
  const [ours, theirs] = [await live.json('POST', hooks, hook), await trial.json('POST', hooks, hook)];
  assert.deepEqual([ours.mode, theirs.mode], ['live', 'test']);
  const listed = async (caller: Caller) => (await caller.json('GET', hooks)).data.map(({ id }: { id: string }) => id);
  assert.deepEqual([await listed(live), await listed(trial), await listed(person)], [[ours.id], [theirs.id], [theirs.id, ours.id]]);
  assert.equal(await statusOf(trial, 'DELETE', `${hooks}/${ours.id}`), 404);
  assert.equal(await statusOf(live, 'GET', `${hooks}/${theirs.id}`), 404);
});

test('a test key can neither continue nor end live work, and approves no live purchase', async () => {
  const { person } = await owner();
  const trial = await person.program('test', [
    'tasks.read',
    'tasks.write',
    'agents.read',
    'agents.write',
    'commerce.read',
    'commerce.write',
  ]);
  const ask = { prompt: 'Order 3 licences from Acme for 120 dollars', config: { autonomy_level: 50 } };
  const { id } = await person.json('POST', '/v1/tasks', ask);
  let found: any;
  await until(async () => {
    found = await person.json('GET', `/v1/tasks/${id}`);
    return found.agents?.some((one: { status: string }) => one.status === 'waiting');
  }, 'the question');
  const agent = `/v1/agents/${found.agents.find((one: { status: string }) => one.status === 'waiting').id}`;
  const approval = found.approvals.find((one: { status: string }) => one.status === 'pending').id;
  for (const [path, body] of [
    [`${agent}/approve/${approval}`, { approved: true }],
    [`${agent}/guide`, { message: 'Order ten' }],
    [`${agent}/pause`],
    [`${agent}/resume`],
    [`${agent}/cancel`],
    [`/v1/tasks/${id}/cancel`],
  ] as const)
    assert.equal(await statusOf(trial, 'POST', path, body), 403, path);
  assert.equal((await person.json('POST', `/v1/tasks/${id}/cancel`)).status, 'cancelled');
  assert.deepEqual(await idsOf(person, 'orders'), []);
});

test('a task of a test key orders with money of test mode, also while a live task orders', async () => {
  const { person, live, test: trial } = await owner();
  await Promise.all([deposit(live, 1_000), deposit(trial, 1_000)]);
  await person.json('PATCH', `${base}/spending-limits?mode=test`, { auto_approve_threshold: 500 });
  await person.json('PATCH', `${base}/spending-limits`, { auto_approve_threshold: 500 });
  const work = async (caller: Caller, prompt: string) => {
    const { id } = await caller.json('POST', '/v1/tasks', { prompt, config: { autonomy_level: 100 } });
    return (await caller.untilTask(id, ['complete', 'failed'])).status;
  };
  assert.deepEqual(
    await Promise.all([work(trial, 'Order 3 licences from Acme for 120 dollars'), work(live, 'Order 2 licences from Bolt for 70 dollars')]),
    ['complete', 'complete'],
  );
  await until(async () => (await balance(trial)) === 880 && (await balance(live)) === 930, 'the payments');
  const orders = async (caller: Caller) =>
    (await caller.json('GET', `${base}/orders`)).data.map((one: { vendor: string; amount: number; mode: string }) => [
      one.vendor,
      one.amount,
      one.mode,
    ]);
  assert.deepEqual(await orders(trial), [['Acme', 120, 'test']]);
  assert.deepEqual(await orders(person), [['Bolt', 70, 'live']]);
});
