/** Deposits paid with Stripe, with a stand-in of Stripe's API: the wallet gets exactly the amount that Stripe reports as paid, once. */
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import { Caller, startService } from '../support/service.ts';
import { deliver, killDuringQuery, StripeServer, type StripeSession } from '../support/stripe-server.ts';
import { stripeSecretKey } from '../support/stripe-stand-in.ts';
import { until } from '../support/until.ts';

const stripe = await StripeServer.start({ after });
const service = await startService({ after }, { ...stripe.env, LOG_LEVEL: 'info' });

const path = '/v1/commerce/wallet/deposit';
const asked = { amount: 120.5, source: 'card' };
const deposit = (caller: Caller, amount = asked.amount): Promise<any> => caller.json('POST', path, { ...asked, amount });
const find = (caller: Caller, id: string): Promise<any> => caller.json('GET', `${path}s/${id}`);
const balanceOf = async (caller: Caller) => (await caller.json('GET', '/v1/commerce/wallet/balance')).balance;
const transactionsOf = async (caller: Caller) => (await caller.json('GET', '/v1/commerce/wallet/transactions')).data;
const eventOf = (session: StripeSession, type = 'completed') =>
  stripe.event(`checkout.session.${type}`, { ...session, payment_intent: session.payment_intent?.id ?? null });

afterEach(async () => {
  const database = new pg.Client({ connectionString: (await runningEmbeddedPostgres(service.dataDir))! });
  await database.connect();
  try {
    assert.deepEqual((await checkLedger(database, null)).findings, []);
  } finally {
    await database.end();
  }
});

/** The wallet has nothing of it, and the deposit has ended so. */
async function cameToNothing(caller: Caller, id: string, status: string): Promise<void> {
  const { checkout_url, ...found } = await find(caller, id);
  assert.deepEqual([found.status, checkout_url, await balanceOf(caller), await transactionsOf(caller)], [status, undefined, 0, []]);
}

test('a deposit of a test key is settled at once, without a request to Stripe', async () => {
  const trial = await (await Caller.register(service)).program('test');
  const before = stripe.requests.length;
  const { status, balance, mode, id } = await deposit(trial);
  assert.deepEqual([status, balance, mode, stripe.requests.length], ['completed', 120.5, 'test', before]);
  assert.equal((await find(trial, id)).status, 'completed');
});

test("a deposit is pending until it is paid on Stripe's page; after three notifications and kills in between, the wallet has it once", async () => {
  let ann = await Caller.register(service);
  const opened = await deposit(ann);
  const { id, checkout_url: page, expires_at, ...rest } = opened;
  assert.deepEqual(
    [rest.amount, rest.source, rest.status, rest.balance, Object.keys(rest).sort()],
    [120.5, 'card', 'pending', 0, ['amount', 'balance', 'created_at', 'mode', 'source', 'status']],
  );
  assert.ok(Date.parse(expires_at) - Date.parse(rest.created_at) === 30 * 60_000);
  assert.match(id, /^txn_/);
  assert.match(page, /^https:\/\/checkout\.stripe\.test\//);
  const { params } = stripe.requests.find(({ path: of }) => of === '/v1/checkout/sessions')!;
  const [item] = params.line_items;
  assert.deepEqual([item.price_data.unit_amount, item.price_data.currency, params.payment_method_types], ['12050', 'usd', ['card']]);
  assert.equal(params.payment_intent_data.setup_future_usage, undefined, 'nothing is charged to the card later');
  assert.deepEqual(await find(ann, id), opened);
  const order = await ann.json('POST', '/v1/commerce/orders', { description: 'Paper', amount: 20.5, vendor: 'Mill' });
  await ann.json('POST', `/v1/commerce/orders/${order.id}/approve`, {});

  const session = stripe.pay(page);
  const event = eventOf(session);
  assert.match(await (await fetch(`${session.success_url}x`)).text(), /No such checkout/);
  await killDuringQuery(stripe, service, event, session);
  // Killed as soon as it is committed: a deposit that is not yet in the wallet is a message in transit.
  assert.equal((await deliver(service.url, event)).status, 200);
  await service.kill();
  await service.restart();
  assert.equal((await deliver(service.url, { ...event, id: 'evt_another' })).status, 200);
  ann = ann.at(service);
  await until(async () => (await find(ann, id)).status === 'completed', 'the money');
  await until(async () => (await balanceOf(ann)) === 100, 'the order, which waited for it');
  assert.deepEqual(await find(ann, id), { id, ...rest, status: 'completed', balance: 100 }, 'the same deposit');
  assert.equal((await deliver(service.url, event)).status, 200);
  const transactions = await transactionsOf(ann);
  assert.deepEqual(transactions.map((one: { type: string; amount: number }) => [one.type, one.amount]).sort(), [
    ['deposit', 120.5],
    ['purchase_order', -20.5],
  ]);
  assert.ok(transactions.some((one: { id: string; reference: string }) => one.id === id && one.reference === 'card'));
  const comesBack = await fetch(service.url + new URL(session.success_url).pathname);
  assert.match(await comesBack.text(), /Your \$120\.50 are in the wallet/);
  assert.equal(stripe.subscriptions.size + stripe.refunds.length, 0);
  assert.deepEqual(await ann.json('GET', '/v1/billing/invoices').then(({ data }) => data), []);
});

test('after three concurrent notifications while the customer returns, the wallet has it once; a payment without a notification is found when the customer returns', async () => {
  const ann = await Caller.register(service);
  const [notified, unnotified] = [await deposit(ann, 7), await deposit(ann, 5)];
  const [session, other] = [stripe.pay(notified.checkout_url), stripe.pay(unnotified.checkout_url)];
  const events = [1, 2, 3].map(() => eventOf(session));
  await Promise.all([...events.map((event) => deliver(service.url, event)), fetch(session.success_url), fetch(other.success_url)]);
  for (const { id } of [notified, unnotified]) await until(async () => (await find(ann, id)).status === 'completed', 'the money');
  assert.equal(await balanceOf(ann), 12);
  assert.deepEqual((await transactionsOf(ann)).map(({ amount }: { amount: number }) => amount).sort(), [5, 7]);
});

test('a repeat with the same key is the same deposit on the same page; another body is 422; other accounts cannot see it', async () => {
  const [ann, bob] = await Promise.all([Caller.register(service), Caller.register(service)]);
  const made = stripe.sessions.size;
  const send = (body: object) => ann.fetch('POST', path, body, { 'idempotency-key': 'rent' });
  stripe.always = { status: 503, body: { error: { type: 'api_error', message: stripeSecretKey } } };
  assert.equal((await send(asked)).status, 503, 'there is no page now');
  stripe.always = null;
  stripe.failures = ['answer is lost'];
  const [first, again] = [await (await send(asked)).json(), await (await send(asked)).json()];
  assert.deepEqual([again, stripe.sessions.size], [first, made + 1]);
  assert.equal((await send({ ...asked, amount: 121 })).status, 422);
  const { id } = first as any;
  for (const other of [id, `${id.slice(0, -1)}!`, id.replace('txn_', 'cs_'), 'txn_', 'x'])
    assert.equal((await bob.fetch('GET', `${path}s/${encodeURIComponent(other)}`)).status, 404, other);
  const { session_id } = await ann.json('POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' });
  assert.equal((await ann.fetch('GET', `${path}s/${session_id.replace('cs_', 'txn_')}`)).status, 404, 'what pays for a plan is no deposit');
});

test('an unpaid deposit expires, and the books do not change', async () => {
  const ann = await Caller.register(service);
  const { id, checkout_url: page } = await deposit(ann);
  const session = stripe.sessionOf(page);
  for (const what of ['pay', 'cancel']) assert.equal((await fetch(`${session.success_url}?do=${what}`, { method: 'POST' })).status, 409);
  assert.match(await (await fetch(session.success_url)).text(), /Deposit of \$120\.50.*Nothing has been paid yet/s);
  assert.equal((await find(ann, id)).status, 'pending');
  session.status = 'expired';
  for (const _ of [1, 2]) assert.equal((await deliver(service.url, eventOf(session, 'expired'))).status, 200);
  assert.equal((await fetch(session.success_url)).status, 410);
  await cameToNothing(ann, id, 'expired');
});

test('another amount, another currency or the payment of another deposit is not credited, and is reported to the operator', async () => {
  const ann = await Caller.register(service);
  const [less, euros, swapped, other] = [await deposit(ann), await deposit(ann), await deposit(ann), await deposit(ann)];
  const sessions = [
    stripe.pay(less.checkout_url, { paidMinor: 12_049 }),
    Object.assign(stripe.pay(euros.checkout_url), { currency: 'eur' }),
    Object.assign(stripe.pay(swapped.checkout_url), { client_reference_id: other.id.replace('txn_', 'cs_') }),
  ];
  for (const session of sessions) for (const _ of [1, 2]) assert.equal((await deliver(service.url, eventOf(session))).status, 200);
  for (const { id } of [less, euros, swapped]) await cameToNothing(ann, id, 'failed');
  await until(() => service.output().includes('the payment does not match the request'), 'the log line');
  assert.ok(!service.output().includes(stripeSecretKey));
});

test('only cards and amounts that Stripe accepts are accepted; a refused deposit opens no page', async () => {
  const ann = await Caller.register(service);
  const made = stripe.sessions.size;
  for (const [body, about] of [
    [{ ...asked, source: 'bank_transfer' }, /Only cards are taken here/],
    [{ ...asked, amount: 0.49 }, /Between 0\.50 and 999,999\.99/],
    [{ ...asked, amount: 1_000_000 }, /Between 0\.50 and 999,999\.99/],
  ] as const) {
    const answer = await ann.fetch('POST', path, body);
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), about);
  }
  assert.equal(stripe.sessions.size, made);
  for (const amount of [0.5, 999_999.99]) assert.equal((await deposit(ann, amount)).status, 'pending');
});
