/** Invalid amounts, on every route that accepts amounts: each is refused as the contract says, and the books do not change by a cent. */
import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import { onBusiness } from '../support/on-business.ts';
import { Caller, startService } from '../support/service.ts';

/** As text of the body, so that no client converts it to another number. */
const noAmounts = [
  '1.234',
  '-1',
  '-0.01',
  '0.001',
  '1e308',
  '-1e308',
  '1e999',
  '1e-7',
  '1e-3',
  '9007199254740993',
  '0.30000000000000004',
  '1.0000000000000001e1',
];
const noNumbers = ['"5"', '"NaN"', 'null', 'true', '[5]', '{}', '"1e1"', '""'];
const noJson = ['NaN', 'Infinity', '-Infinity', '0x10', '1,5', '.5', '5.', '+5', '01'];
/** Each is one amount in any notation. */
const amounts: [text: string, minor: number][] = [
  ['0.01', 1],
  ['0.29', 29],
  ['1e-1', 10],
  ['1.10', 110],
  ['1.50000', 150],
  ['1E+1', 1_000],
  ['100.000000000000000000000000', 10_000],
];

test('invalid amounts are refused everywhere, and the books do not change', { timeout: 300_000 }, async (t) => {
  const service = await startService(t);
  const databaseUrl = (await runningEmbeddedPostgres(service.dataDir))!;
  await onBusiness(databaseUrl);
  const ann = await Caller.register(service);
  const send = async (method: string, path: string, body: string, key?: string) => {
    const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
    const response = await fetch(service.url + path, { method, headers, body });
    return { status: response.status, replayed: response.headers.get('idempotency-replayed'), body: (await response.json()) as any };
  };
  const books = async () => {
    const paths = ['wallet/balance', 'wallet/transactions', 'cards', 'orders', 'spending-limits'];
    return Promise.all(paths.map((path) => ann.json('GET', `/v1/commerce/${path}`)));
  };
  while ((await ann.fetch('GET', '/v1/commerce/cards')).status === 402) await new Promise((resolve) => setTimeout(resolve, 20));
  await ann.json('POST', '/v1/commerce/wallet/deposit', { amount: 1_000, source: 'card' });
  const { id: card } = await ann.json('POST', '/v1/commerce/cards', { name: 'c', spend_limit: 500, currency: 'USD' });

  /** `zero`: whether nothing is an amount there. */
  const routes: { method: string; path: string; body: (amount: string) => string; zero?: boolean }[] = [
    { method: 'POST', path: '/v1/commerce/wallet/deposit', body: (amount) => `{"amount":${amount},"source":"card"}` },
    { method: 'POST', path: '/v1/commerce/orders', body: (amount) => `{"description":"d","vendor":"v","amount":${amount}}` },
    { method: 'POST', path: '/v1/commerce/cards', body: (amount) => `{"name":"n","currency":"USD","spend_limit":${amount}}` },
    { method: 'POST', path: `/v1/commerce/cards/${card}/authorizations`, body: (amount) => `{"merchant":"m","amount":${amount}}` },
    ...['per_transaction_limit', 'daily_limit', 'monthly_limit', 'auto_approve_threshold'].map((field) => {
      return { method: 'PATCH', path: '/v1/commerce/spending-limits', body: (amount: string) => `{"${field}":${amount}}`, zero: true };
    }),
    { method: 'PATCH', path: '/v1/settings', body: (amount) => `{"auto_approve_threshold":${amount}}`, zero: true },
  ];
  const before = await books();
  const refusals = routes.map(async ({ method, path, body, zero = false }) => {
    for (const amount of [...noAmounts, ...noNumbers, ...(zero ? [] : ['0', '-0', '0.00', '0e5'])])
      assert.equal((await send(method, path, body(amount))).status, 422, `${method} ${path} ${body(amount)}`);
    for (const amount of noJson) assert.equal((await send(method, path, body(amount))).status, 400, `${method} ${path} ${body(amount)}`);
  });
  await Promise.all(refusals);
  for (const [path, body] of [
    ['/v1/commerce/wallet/deposit', { amount: 1_000_000.01, source: 'card' }],
    ['/v1/commerce/wallet/deposit', { amount: 1, source: 'cash' }],
    ['/v1/commerce/wallet/deposit', { source: 'card' }],
    ['/v1/commerce/cards', { name: 'n', spend_limit: 1, currency: 'EUR' }],
    ['/v1/commerce/cards', { name: 'n', spend_limit: 1, currency: 'XXX' }],
    ['/v1/commerce/orders', { description: 'd', vendor: 'v', amount: 1, currency: 'EUR' }],
    ['/v1/billing/checkout', { plan: 'gold', billing_period: 'monthly' }],
    ['/v1/billing/checkout', { plan: 'constructor', billing_period: 'monthly' }],
    ['/v1/billing/checkout', { plan: 'Pro', billing_period: 'monthly' }],
  ] as const)
    assert.equal((await send('POST', path, JSON.stringify(body))).status, 422, `${path} ${JSON.stringify(body)}`);
  assert.deepEqual(await books(), before);

  let cents = 100_000;
  for (const [text, minor] of amounts) {
    const { status, body } = await send('POST', '/v1/commerce/wallet/deposit', `{"amount":${text},"source":"card"}`);
    cents += minor;
    assert.deepEqual([status, body.amount, body.balance], [201, minor / 100, cents / 100], text);
  }

  const deposit = (amount: number) => send('POST', '/v1/commerce/wallet/deposit', JSON.stringify({ amount, source: 'card' }), 'deposit');
  const [first, again, other] = [await deposit(5), await deposit(5), await deposit(6)];
  assert.deepEqual([first.status, again.status, again.replayed, again.body], [201, 201, 'true', first.body]);
  assert.deepEqual([other.status, other.body.detail[0].loc], [422, ['header', 'Idempotency-Key']]);

  const place = async () => (await ann.json('POST', '/v1/commerce/orders', { description: 'd', vendor: 'v', amount: 10 })).id;
  const decide = async (id: string, what: string) => (await ann.fetch('POST', `/v1/commerce/orders/${id}/${what}`)).status;
  const [approved, rejected] = [await place(), await place()];
  const decisions = [];
  for (const [id, what] of [
    [approved, 'approve'],
    [approved, 'approve'],
    [approved, 'reject'],
    [rejected, 'reject'],
    [rejected, 'approve'],
    [rejected, 'reject'],
  ] as const)
    decisions.push(await decide(id, what));
  assert.deepEqual(decisions, [200, 409, 409, 200, 409, 409]);
  const balance = (await ann.json('GET', '/v1/commerce/wallet/balance')).balance;
  assert.equal(balance, (cents + 500 - 1_000) / 100);

  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { live, findings } = await checkLedger(client, null).finally(() => client.end());
  assert.deepEqual([live.balanceMinor / 100, findings], [balance, []]);
});
