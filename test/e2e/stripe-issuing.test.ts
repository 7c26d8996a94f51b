/**
 * Cards that Stripe issues, in the whole service: created once, synchronized, decided in time, and refunds of amounts that Stripe did
 * not take.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import { onBusiness } from '../support/on-business.ts';
import { Caller, type Service, startService } from '../support/service.ts';
import { type IssuedCard, type IssuingAuthorization, type Said, StripeIssuingServer } from '../support/stripe-issuing-server.ts';
import { until } from '../support/until.ts';

const ends: (() => unknown)[] = [];
let stripe: StripeIssuingServer;
let service: Service;
let database: pg.Client;
before(async () => {
  const scope = { after: (end: () => unknown) => ends.unshift(end) };
  stripe = await StripeIssuingServer.start(scope);
  service = await startService(scope, { ...stripe.env, LOG_LEVEL: 'debug' });
  stripe.serviceUrl = () => service.url;
  const url = (await runningEmbeddedPostgres(service.dataDir))!;
  await onBusiness(url);
  database = new pg.Client({ connectionString: url });
  database.on('error', () => {});
  await database.connect();
  scope.after(() => database.end());
});
after(async () => {
  for (const end of ends) await end();
});

type Decided = { authorization: IssuingAuthorization; said: Said };
const cards = '/v1/commerce/cards';
const asked = { name: 'Travel', spend_limit: 100, currency: 'USD' };

/** A caller on business with money. */
async function customer(dollars = 1_000): Promise<Caller> {
  const caller = await Caller.register(service);
  await until(async () => (await caller.fetch('GET', cards)).status === 200, 'the plan');
  if (dollars > 0) await caller.json('POST', '/v1/commerce/wallet/deposit', { amount: dollars, source: 'card' });
  return caller;
}

/** A card of theirs, ours and Stripe's. */
async function cardOf(caller: Caller, spendLimit = 100): Promise<{ id: string; card: IssuedCard; number: string; cvv: string }> {
  const { id, number, cvv } = await caller.json('POST', cards, { ...asked, spend_limit: spendLimit });
  return { id, card: stripe.cardOf(id), number, cvv };
}

const balanceOf = async (caller: Caller) => (await caller.json('GET', '/v1/commerce/wallet/balance')).balance;
const spentOn = async (caller: Caller, id: string) => (await caller.json('GET', `${cards}/${id}`)).spent;
const authorizationsOf = async (caller: Caller, id: string) => (await caller.json('GET', `${cards}/${id}/authorizations`)).data;
const isIdle = async () =>
  (await database.query('select (select count(*) from message) + (select count(*) from effect) as n')).rows[0].n === '0';

/** Stripe's state of the authorizations is known, and no charge waits for its decision. */
async function isDecided(column: 'id' | 'card_id', value: string): Promise<boolean> {
  const { rows } = await database.query(`select charges, word from issuer_authorization where ${column} = $1`, [value]);
  return (
    rows.length > 0 &&
    rows.every(({ charges, word }) => word !== null && charges.every(({ outcome }: { outcome: string }) => outcome !== 'asked'))
  );
}

/** The wallet has this balance, the card has spent this much, and the ledger check finds nothing. */
async function proven(caller: Caller, id: string, { balance, spent }: { balance: number; spent: number }): Promise<void> {
  await until(async () => (await balanceOf(caller)) === balance && (await isIdle()), `a balance of ${balance}`);
  assert.equal(await spentOn(caller, id), spent);
  const approvals = (await authorizationsOf(caller, id)).filter(({ status }: { status: string }) => status === 'approved');
  assert.equal(
    approvals.reduce((sum: number, { amount }: { amount: number }) => sum + Math.round(amount * 100), 0),
    Math.round(spent * 100),
  );
  assert.deepEqual((await checkLedger(database, null)).findings, []);
}

/**
 * An authorization request that is decided in time. On a busy machine the decision may time out: then the service declines, refunds the
 * late booking, and the request is repeated.
 */
async function authorize(...asked: Parameters<StripeIssuingServer['authorize']>): ReturnType<StripeIssuingServer['authorize']> {
  for (let attempt = 1; ; attempt++) {
    const decided = await stripe.authorize(...asked);
    if (decided.said?.body?.metadata?.decline_reason !== 'timeout' || attempt === 5) return decided;
    await stripe.notify('issuing_authorization.created', decided.authorization);
    await until(() => isDecided('id', decided.authorization.id), 'what was booked too late to be refunded');
  }
}

/** Repeats the request until one answer is in time, because a busy machine may delay an answer. Resolves with all answers. */
async function inTime(ask: () => Promise<Decided>, maxMs: number): Promise<Decided[]> {
  const all: Decided[] = [];
  for (let sample = 0; sample < 5; sample++) {
    const decided = await ask();
    all.push(decided);
    if (decided.said!.afterMs < maxMs) return all;
  }
  return assert.fail(`answers after ${all.map(({ said }) => Math.round(said!.afterMs))} ms`);
}

function yes(said: Said): void {
  assert.deepEqual([said?.status, said?.version, said?.body.approved], [200, '2026-10-28.endive', true], JSON.stringify(said));
}
function no(said: Said, reason: string): void {
  assert.deepEqual([said?.status, said?.version, said?.body.approved], [200, '2026-10-28.endive', false], JSON.stringify(said));
  assert.equal(said!.body.metadata.decline_reason, reason);
}

test('a card of a test key is created by the embedded issuer, without a request to Stripe', async () => {
  const trial = await (await customer(0)).program('test');
  await trial.json('POST', '/v1/commerce/wallet/deposit', { amount: 50, source: 'card' });
  const { id, number, mode } = await trial.json('POST', cards, asked);
  assert.deepEqual([mode, number.slice(0, 6), stripe.cardOf(id)], ['test', '400000', undefined]);
  const { status } = await trial.json('POST', `${cards}/${id}/authorizations`, { amount: 20, merchant: 'm' });
  await trial.json('POST', `${cards}/${id}/freeze`);
  assert.deepEqual([status, await balanceOf(trial)], ['approved', 30]);
});

test('a card is created at Stripe for the company, active and with its limit; its number is shown once and not stored', async () => {
  const caller = await customer();
  const key = { 'idempotency-key': 'the-one-card' };
  const made = await caller.json('POST', cards, asked, key);
  const card = stripe.cardOf(made.id);
  assert.deepEqual([made.number, made.cvv, made.expiry, made.last4], [card.number, card.cvc, '08/31', card.last4]);
  assert.deepEqual([card.status, card.type, card.currency, card.cardholder.name], ['active', 'virtual', 'usd', 'Acme Inc']);
  assert.equal((await caller.json('POST', cards, asked, key)).id, made.id);
  const { id: other } = await caller.json('POST', cards, asked);
  assert.notEqual(other, made.id);
  assert.equal(stripe.cardholders.size, 1);
  const [limited] = stripe.asked(/^POST .*\/cards$/);
  assert.equal(limited!.params.get('spending_controls[spending_limits][0][amount]'), '10000');
  assert.equal(limited!.idempotencyKey, made.id);
  yes((await authorize(card, 100)).said);
  for (const { name } of (await database.query(`select tablename as name from pg_tables where schemaname = 'public'`)).rows) {
    const { rows } = await database.query(`select count(*)::int as n from "${name}" t where t::text like any ($1)`, [
      [`%${card.number}%`, `%""${card.cvc}""%`],
    ]);
    assert.equal(rows[0].n, 0, name);
  }
  assert.ok(!service.output().includes(card.number) && !service.output().includes(`"${card.cvc}"`));
  const events = JSON.stringify(await caller.events());
  assert.ok(events.includes(made.id) && !events.includes(card.number));
});

test('a crash between the creation of a card at Stripe and its commit creates one card and loses none', async () => {
  const caller = await customer();
  const before = stripe.cards.size;
  // Stripe has created it; the service dies before the answer arrives.
  stripe.failures.push({ path: /^POST .*\/cards$/, failure: 'hang', times: 1 });
  const reached = stripe.next(/^POST .*\/cards$/);
  const key = { 'idempotency-key': 'a-card-in-a-crash' };
  const lost = caller.fetch('POST', cards, asked, key).catch(() => null);
  const { idempotencyKey: id } = await reached;
  await service.kill();
  await lost;
  await service.restart();
  // The request is not repeated, and still it is created.
  await until(async () => stripe.cardOf(id!) !== undefined, 'the card at Stripe');
  await until(async () => (await caller.json('GET', cards)).data.some((one: { id: string }) => one.id === id), 'the card here');
  // A repeat of the request returns the same card with its number.
  let shown: { id?: string; number?: string } = {};
  await until(async () => {
    const answer = await caller.fetch('POST', cards, asked, key);
    shown = (await answer.json()) as typeof shown;
    return answer.status === 201;
  }, 'the answer');
  assert.deepEqual([shown.id, shown.number], [id, stripe.cardOf(id!).number]);
  assert.equal(stripe.cards.size, before + 1);
  yes((await authorize(stripe.cardOf(id!), 500)).said);
});

test('a lost answer of Stripe creates no second card', async () => {
  const caller = await customer();
  const before = stripe.cards.size;
  stripe.failures.push({ path: /^POST .*\/cards$/, failure: 'answer is lost', times: 2 });
  const { id, number } = await caller.json('POST', cards, asked);
  assert.equal(stripe.cards.size, before + 1);
  assert.equal(stripe.cardOf(id).number, number);
});

test('Stripe gets the status changes of a card in order, also after an outage; meanwhile the card decides alone', async () => {
  const caller = await customer();
  const { id, card } = await cardOf(caller);
  const outage = { path: /^POST .*\/cards\/ic_/, failure: 'reset' as const, times: Number.POSITIVE_INFINITY };
  stripe.failures.push(outage);
  const become = (what: string) => caller.json('POST', `${cards}/${id}/${what}`);
  await become('freeze');
  no((await authorize(card, 100)).said, 'card_frozen');
  assert.equal(card.status, 'active');
  outage.times = 0;
  await until(() => card.status === 'inactive', 'Stripe knows of the freeze');
  await become('unfreeze');
  await become('freeze');
  await become('unfreeze');
  await until(async () => card.status === 'active' && (await isIdle()), 'Stripe knows that it is active');
  yes((await authorize(card, 100)).said);
  stripe.failures.push({ path: /^POST .*\/cards\/ic_/, failure: 'answer is lost', times: 1 });
  await become('freeze');
  await become('cancel');
  no((await authorize(card, 100)).said, 'card_cancelled');
  await until(async () => card.status === 'canceled' && (await isIdle()), 'Stripe knows that it is cancelled');
  await proven(caller, id, { balance: 999, spent: 1 });
});

test('a request is decided by card and wallet, and every decline has its reason', async () => {
  const caller = await customer(50);
  const { id, card } = await cardOf(caller);
  no((await authorize(card, 10_001)).said, 'spend_limit_exceeded');
  no((await authorize(card, 5_001)).said, 'insufficient_funds');
  no((await authorize(card, 500, { currency: 'eur' })).said, 'currency_mismatch');
  no((await authorize({ ...card, id: 'ic_of_somebody_else' }, 500)).said, 'card_unknown');
  for (const amount of [-500, 1.5, 1e300]) no((await authorize(card, amount)).said, 'amount_invalid');
  const { authorization, said } = await authorize(card, 4_000, { merchant: 'Caf\u00e9 \u0000"drop table card" \ud800' });
  yes(said);
  await stripe.notify('issuing_authorization.created', authorization);
  // A merchant only verifies that the card exists.
  for (const verified of await inTime(() => authorize(card, 0), 1_500)) yes(verified.said);
  await proven(caller, id, { balance: 10, spent: 40 });
  const [first] = await authorizationsOf(caller, id);
  assert.deepEqual([first.id, first.status, first.reversed_amount], [said!.body.metadata.authorization_id, 'approved', 0]);
  // Freezing the card at its limit is also sent to Stripe.
  await caller.json('POST', '/v1/commerce/wallet/deposit', { amount: 100, source: 'card' });
  yes((await authorize(card, 6_000)).said);
  await until(() => card.status === 'inactive', 'Stripe knows of the freeze');
  await proven(caller, id, { balance: 50, spent: 100 });
});

test('a repeated request, concurrent or after a kill, is one authorization', async () => {
  const caller = await customer();
  const { id, card } = await cardOf(caller);
  const authorization = stripe.newAuthorization(card);
  authorization.pending_request = { amount: 700, currency: 'usd' };
  const answers = await Promise.all(Array.from({ length: 12 }, () => stripe.ask(authorization)));
  for (const said of answers) {
    yes(said);
    assert.equal(said!.body.metadata.authorization_id, answers[0]!.body.metadata.authorization_id);
  }
  await service.kill();
  await service.restart();
  // A busy service may decline in time, without a decision.
  let said: Said = null;
  await until(async () => {
    said = await stripe.ask(authorization);
    return said?.body.metadata.decline_reason !== 'timeout';
  }, 'a decision after the restart');
  yes(said);
  assert.equal((await authorizationsOf(caller, id)).length, 1);
  await proven(caller, id, { balance: 993, spent: 7 });
});

test('an increased amount is decided for the difference; a part that Stripe refuses is refunded', async () => {
  const caller = await customer();
  const { id, card } = await cardOf(caller);
  const { authorization } = await authorize(card, 1_000);
  yes((await authorize(card, 500, { on: authorization })).said);
  no((await authorize(card, 9_000, { on: authorization })).said, 'spend_limit_exceeded');
  // The service approved and Stripe refused.
  yes((await authorize(card, 300, { on: authorization, stands: false })).said);
  await stripe.notify('issuing_authorization.updated', authorization);
  await proven(caller, id, { balance: 985, spent: 15 });
});

test('an amount that Stripe refuses, reverses or lets expire after an approval is refunded once, however often it is reported', async () => {
  const caller = await customer();
  const { id, card } = await cardOf(caller);
  const refused = await authorize(card, 1_000, { stands: false });
  yes(refused.said);
  await Promise.all(Array.from({ length: 6 }, () => stripe.notify('issuing_authorization.created', refused.authorization)));
  await proven(caller, id, { balance: 1_000, spent: 0 });
  for (const status of ['reversed', 'expired'] as const) {
    const { authorization } = await authorize(card, 2_000);
    await stripe.notify('issuing_authorization.created', authorization);
    await proven(caller, id, { balance: 980, spent: 20 });
    authorization.status = status;
    await Promise.all(Array.from({ length: 6 }, () => stripe.notify('issuing_authorization.updated', authorization)));
    await proven(caller, id, { balance: 1_000, spent: 0 });
  }
  const all = await authorizationsOf(caller, id);
  assert.deepEqual(
    all.map((one: { status: string; amount: number; reversed_amount: number }) => [one.status, one.amount, one.reversed_amount]),
    [
      ['reversed', 20, 20],
      ['reversed', 20, 20],
      ['reversed', 10, 10],
    ],
  );
  const { data } = await caller.json('GET', '/v1/commerce/wallet/transactions');
  assert.equal(data.filter(({ type }: { type: string }) => type === 'card_reversal').length, 3);
  const reasons = (await caller.events()).filter(({ type }) => type === 'card.reversed').map(({ data }) => data.reason);
  assert.deepEqual(reasons, ['not_approved', 'reversed', 'expired']);
  assert.equal((await caller.json('GET', '/v1/commerce/spending-limits')).daily_spent, 0);
});

test('after a smaller or larger capture or a refund, the wallet has paid the captured amount', async () => {
  const caller = await customer();
  const { id, card } = await cardOf(caller);
  const { authorization } = await authorize(card, 3_000);
  await stripe.notify('issuing_authorization.created', authorization);
  await stripe.notify('issuing_transaction.created', stripe.capture(authorization, 2_000));
  await proven(caller, id, { balance: 980, spent: 20 });
  const tip = await authorize(card, 1_000);
  await stripe.notify('issuing_transaction.created', stripe.capture(tip.authorization, 1_250));
  await proven(caller, id, { balance: 967.5, spent: 32.5 });
  await stripe.notify('issuing_transaction.created', stripe.refund(authorization, 500));
  await stripe.notify('issuing_transaction.updated', authorization.transactions.at(-1)!);
  await proven(caller, id, { balance: 972.5, spent: 27.5 });
  // More than the limit of the card: it is recorded as uncovered, and not retried repeatedly.
  const large = await authorize(card, 1_000);
  await stripe.notify('issuing_transaction.created', stripe.capture(large.authorization, 50_000));
  await stripe.notify('issuing_authorization.updated', large.authorization);
  await proven(caller, id, { balance: 962.5, spent: 37.5 });
  const { rows } = await database.query('select uncovered_minor from issuer_authorization where id = $1', [large.authorization.id]);
  assert.equal(rows[0].uncovered_minor, '49000');
});

test('with a slow PostgreSQL the request is declined in time, and a later booking is refunded', async () => {
  const caller = await customer();
  const { id, card } = await cardOf(caller);
  const holder = new pg.Client({ connectionString: (await runningEmbeddedPostgres(service.dataDir))! });
  await holder.connect();
  const late: Decided[] = [];
  for (const lock of ['select * from wallet for update', 'lock table issuer_authorization in access exclusive mode']) {
    const declined = async () => {
      await holder.query('begin');
      await holder.query(lock);
      const decided = await stripe.authorize(card, 1_500);
      await holder.query('rollback');
      no(decided.said, 'timeout');
      return decided;
    };
    late.push(...(await inTime(declined, 1_900)));
  }
  await holder.end();
  // It may be booked before or after Stripe's notification; one notification is enough.
  for (const { authorization } of late) await stripe.notify('issuing_authorization.created', authorization);
  await until(() => isDecided('card_id', id), 'every charge is decided');
  await proven(caller, id, { balance: 1_000, spent: 0 });
  yes((await authorize(card, 1_500)).said);
});

test('a crash after the booking and before the answer leaves no money debited, also without a notification', async () => {
  const caller = await customer();
  const { id, card } = await cardOf(caller);
  const authorization = stripe.newAuthorization(card);
  authorization.pending_request = { amount: 900, currency: 'usd' };
  const asking = stripe.ask(authorization).catch(() => null);
  await until(async () => (await database.query('select from card_authorization where card_id = $1', [id])).rowCount === 1, 'the booking');
  await service.kill();
  await asking;
  // Stripe got no answer.
  Object.assign(authorization, { pending_request: null, status: 'closed', amount: 900 });
  authorization.request_history.push({ approved: false, reason: 'webhook_timeout' });
  await database.query(`update timer set due_at = now() where kind = 'issuer_authorization'`);
  await service.restart();
  await proven(caller, id, { balance: 1_000, spent: 0 });
});

test("a notification without Stripe's signature or form is refused without an effect", async () => {
  const caller = await customer();
  const { id, card } = await cardOf(caller);
  const authorization = stripe.newAuthorization(card);
  authorization.pending_request = { amount: 900, currency: 'usd' };
  const request = stripe.event('issuing_authorization.request', authorization);
  const status = async (sending: Promise<Response>) => (await sending).status;
  assert.equal(await status(stripe.send(request, { secret: 'whsec_SomebodyElses' })), 400);
  assert.equal(await status(stripe.send(request, { atS: Math.floor(Date.now() / 1_000) - 400 })), 400);
  assert.equal(await status(stripe.send(request, { body: JSON.stringify(request, null, 2).replace('900', '1') })), 400);
  assert.equal(await status(stripe.send(request, { body: '' })), 400);
  assert.equal(await status(stripe.send({ ...request, filler: 'x'.repeat(600_000) })), 413);
  const shapes = [null, 5, [], {}, { id: 5 }, { ...authorization, card: null }, { ...authorization, id: 'a/../b' }];
  for (const object of [...shapes, { ...authorization, pending_request: null }, { ...authorization, request_history: 'none' }])
    assert.equal(await status(stripe.send(stripe.event('issuing_authorization.request', object))), 400, JSON.stringify(object));
  for (const type of ['issuing_authorization.updated', 'issuing_transaction.created', 'issuing_card.updated', 'charge.succeeded'])
    assert.ok([200, 400].includes(await status(stripe.send(stripe.event(type, { id: 'x' })))));
  assert.equal(await status(stripe.send({ id: 'evt_1' })), 200);
  for (const event of [null, 5, [], 'text']) assert.equal(await status(stripe.send(event as never)), 400, JSON.stringify(event));
  // Money that belongs to no authorization is reported to the operator.
  assert.equal(
    await status(stripe.send(stripe.event('issuing_transaction.created', { id: 'ipi_1', authorization: null, card: card.id }))),
    200,
  );
  await until(() => service.output().includes('belongs to no authorization'), 'the log line');
  await proven(caller, id, { balance: 1_000, spent: 0 });
});

test('below the business plan a card is declined, and its secrets are in no line of the log', async () => {
  const caller = await customer();
  const { id, card, number, cvv } = await cardOf(caller);
  await database.query('alter table account_override disable trigger on_business');
  await database.query(`update account_override set plan = 'free', changed_at = clock_timestamp()`);
  await until(async () => (await caller.fetch('GET', `${cards}/${id}`)).status === 402, 'the plan');
  no((await authorize(card, 100)).said, 'plan_required');
  for (const secret of [number, `"${cvv}"`, stripe.env.STRIPE_SECRET_KEY!, stripe.env.STRIPE_ISSUING_WEBHOOK_SECRET!])
    assert.ok(!service.output().includes(secret));
});
