/** Wallet and cards of the real service: refused requests do not change the books, secrets stay secret, and a kill loses no cent. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { backoffMs } from '../../src/backoff.ts';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { nodeEnv } from '../support/node-env.ts';
import { onBusiness } from '../support/on-business.ts';
import { sameDay } from '../support/same-day.ts';
import { Caller, type Service, startService } from '../support/service.ts';

const ends: (() => unknown)[] = [];
let service: Service;
before(async () => {
  service = await startService({ after: (end) => ends.push(end) }, { LOG_LEVEL: 'debug' });
});
after(async () => {
  for (const end of ends) await end();
});

/** A caller whose plan has cards. */
async function customer(): Promise<Caller> {
  const url = (await runningEmbeddedPostgres(service.dataDir))!;
  await onBusiness(url);
  const caller = await Caller.register(service);
  while ((await caller.fetch('GET', '/v1/commerce/cards')).status === 402) await new Promise((resolve) => setTimeout(resolve, 20));
  return caller;
}

async function ledgerCheck(): Promise<any> {
  const args = ['--disable-warning=ExperimentalWarning', 'src/cli/main.ts', 'ledger', 'check', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...nodeEnv, DATA_DIR: service.dataDir } });
  return JSON.parse(stdout);
}

const card = { name: 'Travel', spend_limit: 100, currency: 'USD' };
const cards = '/v1/commerce/cards';
const deposits = '/v1/commerce/wallet/deposit';
const noAmounts = [0, -1, 1.234, 0.001, 1e308, 1e-7, '5', null, true, [5], {}, 10_000_000_000.01];

test('plans below business have a wallet and no cards', async () => {
  const caller = await Caller.register(service);
  assert.equal((await caller.json('GET', '/v1/commerce/wallet/balance')).balance, 0);
  for (const [method, path, body] of [
    ['GET', cards],
    ['POST', cards, card],
  ] as const)
    assert.equal((await caller.fetch(method, path, body)).status, 402);
});

test('an invalid amount, source, currency or name is 422, and the books do not change', async () => {
  const caller = await customer();
  await caller.json('POST', deposits, { amount: 0.29, source: 'bank_transfer' });
  const { id } = await caller.json('POST', cards, card);
  const status = async (method: string, path: string, body: unknown) => (await caller.fetch(method, path, body)).status;
  for (const amount of noAmounts) {
    const text = JSON.stringify(amount);
    assert.equal(await status('POST', deposits, { amount, source: 'card' }), 422, `deposit ${text}`);
    assert.equal(await status('POST', `${cards}/${id}/authorizations`, { amount, merchant: 'm' }), 422, `authorization ${text}`);
    assert.equal(await status('POST', cards, { ...card, spend_limit: amount }), 422, `card ${text}`);
  }
  for (const limit of noAmounts.filter((amount) => amount !== 0))
    assert.equal(await status('PATCH', '/v1/commerce/spending-limits', { daily_limit: limit }), 422, `limit ${JSON.stringify(limit)}`);
  assert.equal(await status('POST', deposits, { amount: 1_000_000.01, source: 'card' }), 422);
  for (const source of ['cash', '', 1, null]) assert.equal(await status('POST', deposits, { amount: 1, source }), 422);
  for (const currency of ['EUR', 'XXX', 'usd', 'US', '', 840, null])
    assert.equal(await status('POST', cards, { ...card, currency }), 422, String(currency));
  for (const name of ['', ' \n', 'x'.repeat(101), 5]) assert.equal(await status('POST', cards, { ...card, name }), 422);
  for (const merchant of ['', 'x'.repeat(201), 5])
    assert.equal(await status('POST', `${cards}/${id}/authorizations`, { amount: 1, merchant }), 422);
  const nan = await fetch(`${service.url}${deposits}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
    body: '{"amount": NaN, "source": "card"}',
  });
  assert.equal(nan.status, 400);
  const { balance, available, held, currency } = await caller.json('GET', '/v1/commerce/wallet/balance');
  assert.deepEqual([balance, available, held, currency], [0.29, 0.29, 0, 'USD']);
  assert.equal((await caller.json('GET', '/v1/commerce/wallet/transactions')).total, 1);
  assert.equal((await caller.json('GET', cards)).total, 1);
});

test('a repeated deposit has its effect once; with another body it is 422', async () => {
  const caller = await customer();
  const key = { 'idempotency-key': 'd1' };
  const first = await caller.json('POST', deposits, { amount: 12.34, source: 'card' }, key);
  assert.deepEqual(await caller.json('POST', deposits, { amount: 12.34, source: 'card' }, key), first);
  assert.equal((await caller.fetch('POST', deposits, { amount: 12.35, source: 'card' }, key)).status, 422);
  assert.equal(first.status, 'completed');
  assert.deepEqual(await caller.json('GET', `${deposits}s/${first.id}`), first);
  assert.equal((await caller.json('GET', '/v1/commerce/wallet/balance')).balance, 12.34);
});

test('each decline has its reason, a card at its limit freezes, and a cancelled card stays cancelled', async () => {
  await sameDay();
  const caller = await customer();
  await caller.json('POST', deposits, { amount: 150, source: 'card' });
  await caller.json('PATCH', '/v1/commerce/spending-limits', { per_transaction_limit: 60, daily_limit: 90, monthly_limit: 95 });
  const { id } = await caller.json('POST', cards, card);
  const path = `${cards}/${id}`;
  const pay = async (amount: number) => (await caller.json('POST', `${path}/authorizations`, { amount, merchant: 'Acme' })).decline_reason;
  assert.equal(await pay(100.01), 'spend_limit_exceeded');
  assert.equal(await pay(60.01), 'spend_limit_exceeded', 'also over the limit of one payment');
  assert.equal(await pay(60), null);
  assert.equal(await pay(30.01), 'daily_limit');
  await caller.json('PATCH', '/v1/commerce/spending-limits', { daily_limit: 1_000 });
  assert.equal(await pay(35.01), 'monthly_limit');
  await caller.json('PATCH', '/v1/commerce/spending-limits', { monthly_limit: 1_000 });
  assert.equal((await caller.json('POST', `${path}/freeze`)).status, 'frozen');
  assert.equal(await pay(1), 'card_frozen');
  assert.equal((await caller.fetch('POST', `${path}/freeze`)).status, 409);
  await caller.json('POST', `${path}/unfreeze`);
  assert.equal(await pay(40), null);
  const full = await caller.json('GET', path);
  assert.deepEqual([full.spent, full.status], [100, 'frozen']);
  assert.equal((await caller.fetch('POST', `${path}/unfreeze`)).status, 409);
  const second = `${cards}/${(await caller.json('POST', cards, { ...card, spend_limit: 60 })).id}`;
  assert.equal(
    (await caller.json('POST', `${second}/authorizations`, { amount: 50.01, merchant: 'm' })).decline_reason,
    'insufficient_funds',
  );
  assert.equal((await caller.json('POST', `${second}/cancel`)).status, 'cancelled');
  assert.equal((await caller.json('POST', `${second}/authorizations`, { amount: 1, merchant: 'm' })).decline_reason, 'card_cancelled');
  for (const action of ['freeze', 'unfreeze', 'cancel']) assert.equal((await caller.fetch('POST', `${second}/${action}`)).status, 409);
  const types = (await caller.events()).map(({ type }) => type).filter((type) => type.startsWith('card.'));
  const count = (type: string) => types.filter((one) => one === type).length;
  assert.deepEqual(
    ['created', 'authorized', 'declined', 'frozen', 'cancelled'].map((name) => count(`card.${name}`)),
    [2, 2, 7, 2, 1],
  );
  const spending = await caller.json('GET', '/v1/commerce/spending-limits');
  assert.deepEqual([spending.daily_spent, spending.monthly_spent], [100, 100]);
  const other = await customer();
  for (const [method, of] of [
    ['GET', path],
    ['POST', `${path}/cancel`],
  ] as const)
    assert.equal((await other.fetch(method, of)).status, 404);
});

test("a card's number is shown once: no list, event, log, table or other answer contains it", async () => {
  const caller = await customer();
  const key = { 'idempotency-key': 'card' };
  const made = await caller.json('POST', cards, card, key);
  assert.match(made.number, /^400000\d{10}$/);
  assert.match(made.cvv, /^\d{3}$/);
  assert.match(made.expiry, /^\d\d\/\d\d$/);
  assert.ok(isLuhn(made.number) && made.number.endsWith(made.last4));
  assert.deepEqual(await caller.json('POST', cards, card, key), made, 'a request with the same key gets the first answer');
  for (const path of [cards, `${cards}/${made.id}`, `${cards}/${made.id}/authorizations`]) {
    const text = JSON.stringify(await caller.json('GET', path));
    assert.ok(!text.includes(made.number) && !/"\w*(cvv|hash)\w*":/.test(text), path);
  }
  const client = new pg.Client({ connectionString: (await runningEmbeddedPostgres(service.dataDir))! });
  await client.connect();
  try {
    const { rows: tables } = await client.query(`select tablename as name from pg_tables where schemaname = 'public'`);
    for (const { name } of tables) {
      const { rows } = await client.query(`select count(*)::int as n from "${name}" t where t::text like '%' || $1 || '%'`, [made.number]);
      assert.equal(rows[0].n, 0, name);
    }
  } finally {
    await client.end();
  }
  assert.ok(!service.output().includes(made.number), 'the log, debug included');
});

test('after a kill during hundreds of authorizations, deposits and freezes, each repeated request has its effect once, and the books are correct', {
  timeout: 300_000,
}, async (t) => {
  const caller = await customer();
  await caller.json('POST', deposits, { amount: 500, source: 'card' });
  const made: { id: string; spend_limit: number }[] = [];
  for (const spend_limit of [40, 300]) made.push(await caller.json('POST', cards, { ...card, spend_limit }));
  type Asked = { path: string; body: object | undefined; key: string };
  const asked: Asked[] = Array.from({ length: 300 }, (_, n) => {
    const path = `${cards}/${made[n % 2]!.id}`;
    if (n % 30 === 7) return { path: `${path}/${n % 60 === 7 ? 'freeze' : 'unfreeze'}`, body: undefined, key: `k${n}` };
    if (n % 20 === 3) return { path: deposits, body: { amount: 1.11, source: 'card' }, key: `k${n}` };
    return { path: `${path}/authorizations`, body: { amount: 1.37, merchant: `m${n}` }, key: `k${n}` };
  });
  const send = async ({ path, body, key }: Asked): Promise<any> => {
    for (let tries = 0; ; tries++) {
      t.signal.throwIfAborted();
      const response = await caller.fetch('POST', path, body, { 'idempotency-key': key }).catch(() => null);
      if (response !== null && response.status < 500 && !(response.status === 409 && response.headers.has('retry-after')))
        return response.status < 300 ? await response.json().catch(() => null) : null;
      await pause(backoffMs(tries, 50, 2_000));
    }
  };
  let answered = 0;
  const answers = asked.map((one) => send(one).finally(() => answered++));
  while (answered < 60) await pause(1, null, { signal: t.signal });
  await service.kill();
  await service.restart();
  const all = await Promise.all(answers);
  const approved = all.filter((answer) => answer?.status === 'approved');
  const spent = new Map<string, number>();
  for (const { card_id, amount } of approved) spent.set(card_id, (spent.get(card_id) ?? 0) + Math.round(amount * 100));
  for (const { id, spend_limit } of made) {
    const now = await caller.json('GET', `${cards}/${id}`);
    assert.equal(Math.round(now.spent * 100), spent.get(id) ?? 0, 'the card has spent what was approved');
    assert.ok(now.spent <= spend_limit);
  }
  const paidIn = 50_000 + 111 * all.filter((answer) => answer?.source === 'card').length;
  const { balance } = await caller.json('GET', '/v1/commerce/wallet/balance');
  assert.equal(Math.round(balance * 100), paidIn - [...spent.values()].reduce((sum, minor) => sum + minor, 0));
  const again = await Promise.all(asked.map(send));
  const views = (answers: ({ merchant?: string } | null)[]) => answers.filter((answer) => answer?.merchant !== undefined);
  assert.deepEqual(views(again), views(all));
  const books = await ledgerCheck();
  assert.deepEqual([books.ok, books.findings], [true, []]);
});

function isLuhn(number: string): boolean {
  const digits = [...number].reverse().map(Number);
  return digits.reduce((sum, digit, i) => sum + (i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2), 0) % 10 === 0;
}
