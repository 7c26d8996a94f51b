/** A checkout with a processor's page, turn by turn: when the processor is queried, and the effect of each result. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkoutActor, checkoutLifeMs } from '../../../src/domains/billing/checkout/checkout.ts';
import type { CheckoutRow } from '../../../src/domains/billing/checkout/entity.ts';
import type { CheckoutContract } from '../../../src/domains/billing/checkout/messages.ts';
import { AppError } from '../../../src/errors.ts';
import type { Json } from '../../support/json.ts';
import { play, RecordedTurn } from '../../support/turn-context.ts';

const actor = checkoutActor({} as never, { takesPayments: true });
const asked = {
  accountId: 'acct_1',
  userId: 'usr_1',
  plan: 'pro',
  billingPeriod: 'monthly',
  amountMinor: 4_900,
  lines: [{ description: 'Pro', amountMinor: 4_900 }],
  successUrl: null,
  cancelUrl: null,
  ownPage: 'http://127.0.0.1/checkout/x',
};
const deposit = { ...asked, plan: null, billingPeriod: null };
const payer = { customer: 'cus_1', method: 'pm_1', payment: 'pi_1' };
const done = (value: unknown) => ({ effectId: 'eff_1', outcome: { kind: 'done', value }, tookMs: 1 });
const failed = { effectId: 'eff_1', outcome: { kind: 'failed', message: 'away' }, tookMs: 1 };

type Command = keyof CheckoutContract['commands'] & string;

class Turn extends RecordedTurn {
  dueMs: number | null = null;
  override schedule(_name: string, dueMs: number): void {
    this.dueMs = dueMs;
  }
}

class CheckoutTurns {
  state: CheckoutRow | null = null;
  nowMs = 0;
  turn = new Turn('cs_1');

  run(command: Command, input: Json): this {
    this.turn = new Turn('cs_1', this.nowMs);
    this.state = play(actor, command, this.state, input, this.turn).state;
    return this;
  }
  get effects(): [string, Json][] {
    return this.turn.effects.map(({ name, input }) => [name, input]);
  }
}

const opened = (input: object = asked) =>
  new CheckoutTurns().run('open', input).run('opened', done({ sessionId: 'cs_test_1', url: 'https://pay' }));

test('without a notification the processor is queried at growing intervals, and the checkout closes exactly after half an hour', () => {
  const checkout = opened();
  const queriedAtMin: number[] = [];
  for (;;) {
    checkout.nowMs = checkout.turn.dueMs!;
    queriedAtMin.push(checkout.nowMs / 60_000);
    checkout.run('lookAgain', {});
    const [name, input] = checkout.effects[0]!;
    assert.equal(name, 'look');
    assert.equal(input.close, checkout.nowMs >= checkoutLifeMs);
    if (input.close) break;
    checkout.run('looked', done({ kind: 'open' }));
  }
  assert.deepEqual(queriedAtMin, [1, 2, 4, 8, 16, 30]);
  checkout.run('looked', failed);
  assert.ok(checkout.turn.dueMs! > checkout.nowMs, 'it is asked until it answers');
  checkout.nowMs = checkout.turn.dueMs!;
  assert.equal(checkout.run('lookAgain', {}).effects[0]![1].close, true);
  assert.equal(checkout.run('looked', done({ kind: 'ended' })).state!.status, 'expired');
  assert.deepEqual(checkout.run('look', null).effects, [], 'a decided checkout is not queried again');
});

test('a payment in the last moment counts, also after the expiry', () => {
  const checkout = opened();
  checkout.nowMs = checkoutLifeMs + 5_000;
  checkout.run('lookAgain', {}).run('looked', done({ kind: 'paid', payer }));
  assert.equal(checkout.state!.status, 'paying');
  assert.deepEqual(checkout.effects[0]![0], 'subscribe');
  assert.equal(checkout.effects[0]![1].isRenewed, true);
});

test('a deposit is sent to the wallet once, in the turn that finds the payment; it cannot be decided on a page of this service', () => {
  const checkout = opened(deposit);
  for (const command of ['pay', 'cancel', 'contact'] as const) assert.throws(() => checkout.run(command, null), { code: 'conflict' });
  checkout
    .run('look', null)
    .run('look', null)
    .run('looked', done({ kind: 'waits' }));
  assert.deepEqual([checkout.state!.status, checkout.turn.messages], ['waiting', []]);
  checkout.run('looked', done({ kind: 'paid', payer }));
  assert.deepEqual(checkout.effects, [], 'no plan changes');
  const input = { transferId: 'txn_1', amountMinor: 4_900, source: 'card' };
  assert.deepEqual(checkout.turn.messages, [{ kind: 'wallet', id: 'acct_1', command: 'deposit', input }]);
  for (const kind of ['paid', 'ended', 'mismatched']) assert.deepEqual(checkout.run('looked', done({ kind, payer })).turn.messages, []);
  for (const command of ['subscribeAgain', 'returnAgain', 'lookAgain'] as const) assert.deepEqual(checkout.run(command, {}).effects, []);
  assert.equal(checkout.state!.status, 'paid');
  for (const kind of ['ended', 'mismatched'])
    assert.deepEqual(opened(deposit).run('look', null).run('looked', done({ kind })).turn.messages, []);
  const elsewhere = checkoutActor({} as never, { takesPayments: false }).commands;
  const { state } = elsewhere.open(null, deposit, new Turn('cs_1'));
  assert.throws(() => elsewhere.pay(state, null, new Turn('cs_1')), { code: 'conflict' });
});

test('for any order of notifications, results and requests, the wallet gets a deposit once exactly if its payment was found', () => {
  const finds = ['open', 'waits', 'ended', 'mismatched', 'paid'].map((kind) => ['looked', done({ kind, payer })]);
  const others = ['open', 'look', 'lookAgain', 'pay', 'cancel', 'contact', 'subscribeAgain', 'returnAgain'].map((name) => [name, deposit]);
  const outcomes = ['opened', 'looked', 'subscribed', 'returned'].map((name) => [name, failed]);
  const page = ['opened', done({ sessionId: 'cs_test_1', url: 'https://pay' })];
  const step = fc.record({ call: fc.constantFrom(...finds, ...others, ...outcomes, page), laterMs: fc.nat(checkoutLifeMs) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const checkout = new CheckoutTurns().run('open', deposit);
      let sent = 0;
      for (const { call, laterMs } of steps) {
        const before = checkout.state!.status;
        const [command, input] = call as [Command, Json];
        checkout.nowMs += laterMs;
        try {
          checkout.run(command, input);
        } catch (error) {
          assert.ok(error instanceof AppError, `${error}`);
          continue;
        }
        sent += checkout.turn.messages.length;
        assert.equal(sent, checkout.state!.status === 'paid' ? 1 : 0);
        if (['paid', 'expired', 'mismatched'].includes(before)) assert.equal(checkout.state!.status, before);
      }
    }),
  );
});

test('a notification before the page is known is repeated, and overlapping queries decide once', () => {
  const early = new CheckoutTurns().run('open', asked);
  assert.throws(() => early.run('look', null), { code: 'unavailable' });
  const checkout = opened().run('look', null).run('look', null);
  checkout.run('looked', done({ kind: 'paid', payer }));
  assert.equal(checkout.effects.length, 1);
  for (const kind of ['open', 'ended', 'mismatched', 'waits']) assert.deepEqual(checkout.run('looked', done({ kind })).effects, []);
  assert.equal(checkout.state!.status, 'paying');
  assert.throws(() => checkout.run('pay', null), { code: 'conflict' });
  assert.throws(() => checkout.run('cancel', null), { code: 'conflict' });
});

test("the difference to the processor's minimum becomes credit; free plans and earlier checkouts are not paid on this page", () => {
  const small = opened({ ...asked, amountMinor: 7, lines: [{ description: 'Pro', amountMinor: 7 }] });
  assert.equal(small.state!.amountMinor, 50);
  assert.equal(
    small.state!.lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
    50,
  );
  const lesser = new CheckoutTurns().run('open', { ...asked, plan: 'free', amountMinor: 0, lines: [] });
  assert.deepEqual([lesser.state!.status, lesser.effects], ['open', []]);
  assert.equal(lesser.run('pay', null).state!.status, 'paying');
  const old = new CheckoutTurns();
  old.state = { ...lesser.state!, status: 'open', amountMinor: 4_900 };
  assert.throws(() => old.run('pay', null), { code: 'conflict' });
});

test('a page whose creation failed can be requested again, otherwise not', () => {
  const checkout = new CheckoutTurns().run('open', asked).run('opened', failed);
  assert.equal(checkout.state!.status, 'failed');
  checkout.nowMs = 1_000;
  checkout.run('open', asked);
  assert.deepEqual([checkout.state!.status, checkout.state!.createdAt, checkout.effects[0]![0]], ['opening', 1_000, 'openPage']);
  assert.deepEqual(checkout.run('open', asked).effects, [], 'one page is asked for at a time');
});
