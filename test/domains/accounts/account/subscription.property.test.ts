/**
 * Costs of plans over years: each day is paid once, for the plan of that day; unused paid days become credit; lines sum to their
 * invoice.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { accountActor } from '../../../../src/domains/accounts/account/account.ts';
import type { AccountRow } from '../../../../src/domains/accounts/account/entity.ts';
import type { InvoiceRow } from '../../../../src/domains/accounts/account/invoice-entity.ts';
import type { AccountContract } from '../../../../src/domains/accounts/account/messages.ts';
import { quoteFor, usageSummaryOf } from '../../../../src/domains/accounts/account/usage.ts';
import type { BillingPeriod, Plan } from '../../../../src/plans.ts';
import type { Json } from '../../../support/json.ts';
import { type Call, play, RecordedTurn } from '../../../support/turn-context.ts';

const actor = accountActor({ startedTasks: null as never });
const dayMs = 86_400_000;

class Customer {
  nowMs: number;
  account: AccountRow;
  readonly invoices: InvoiceRow[] = [];
  readonly emitted: string[] = [];
  private payments = 0;

  constructor(signedUp: string) {
    this.nowMs = Date.parse(signedUp);
    this.account = null as never;
    this.wake();
  }

  runCommand(...[command, input]: Call<AccountContract>): Json {
    const ctx = new RecordedTurn('acct_1', this.nowMs);
    const { state, reply } = play(actor, command, this.account, input, ctx);
    this.account = state;
    this.invoices.push(...ctx.rows);
    this.emitted.push(...ctx.events.map(({ type, data }) => `${type} ${data.plan}`));
    return reply;
  }
  wake(): void {
    this.runCommand('beginPeriod', {});
  }
  quote(plan: Plan, billingPeriod: BillingPeriod): number {
    return quoteFor(this.account, { plan, billingPeriod }, this.nowMs).amountMinor;
  }
  /** At the price of a page. */
  choose(
    plan: Plan,
    billingPeriod: BillingPeriod = 'monthly',
    amountMinor = this.quote(plan, billingPeriod),
    processorId: string | null = null,
  ) {
    const paymentId = `cs_${++this.payments}`;
    return this.runCommand('changePlan', { plan, billingPeriod, amountMinor, paymentId, processorId });
  }
  at(moment: string): this {
    this.nowMs = Date.parse(moment);
    return this;
  }
  get amounts(): number[] {
    return this.invoices.map(({ amountMinor }) => amountMinor);
  }
  get last(): [string, number][] {
    return this.invoices.at(-1)!.lines.map(({ description, amountMinor }) => [description, amountMinor]);
  }
}

test('a plan costs the remaining days of its period; an upgrade refunds the remaining days of the plan before', () => {
  const ann = new Customer('2026-11-01T17:30:00Z');
  ann.at('2026-11-21T23:59:59Z').choose('pro');
  assert.deepEqual(ann.last, [['Pro, monthly, 10 of 30 days', 1_633]]);
  ann.at('2026-11-26T00:00:00Z').choose('power');
  assert.deepEqual(ann.last, [
    ['Power, monthly, 5 of 30 days', 2_483],
    ['Unused time of Pro, monthly, 5 of 30 days', -817],
  ]);
  ann.at('2026-12-01T00:00:00Z').wake();
  assert.deepEqual(ann.last, [['Power, monthly, 2026-12-01 to 2027-01-01', 14_900]]);
  assert.deepEqual(ann.amounts, [1_633, 1_666, 14_900]);

  const bob = new Customer('2026-11-21T21:00:00Z');
  bob.choose('pro');
  assert.deepEqual(bob.last, [['Pro, monthly, 2026-11-21 to 2026-12-21', 4_900]], 'on the day of signing up it is the price');
});

test('a paid plan is renewed, a lower one begins after the paid term, and the free one costs nothing', () => {
  const ann = new Customer('2026-01-31T12:00:00Z');
  ann.choose('power');
  for (const day of ['2026-02-27', '2026-02-28', '2026-02-28', '2026-03-30', '2026-03-31']) ann.at(`${day}T00:00:00Z`).wake();
  assert.deepEqual(
    ann.invoices.map(({ periodStart, amountMinor }) => [new Date(periodStart).toISOString().slice(0, 10), amountMinor]),
    ['2026-01-31', '2026-02-28', '2026-03-31'].map((day) => [day, 14_900]),
  );
  assert.equal(ann.choose('pro').kind, 'waiting');
  assert.equal(ann.account.plan, 'power');
  ann.at('2026-04-30T00:00:01Z').wake();
  assert.deepEqual([ann.account.plan, ann.last], ['pro', [['Pro, monthly, 2026-04-30 to 2026-05-31', 4_900]]]);
  ann.choose('free');
  ann.choose('pro');
  ann.at('2026-05-31T00:00:00Z').wake();
  assert.equal(ann.account.plan, 'pro', 'who stays stays');
  ann.choose('free');
  ann.at('2026-06-30T00:00:00Z').wake();
  ann.at('2026-07-31T00:00:00Z').wake();
  assert.deepEqual([ann.account.plan, ann.account.subscription, ann.amounts.length], ['free', null, 5]);
  assert.deepEqual(ann.emitted.slice(-2), ['invoice.created pro', 'plan.changed free']);
});

test('a year is paid at once and renewed after a year, or monthly from then on if that was chosen', () => {
  const ann = new Customer('2027-03-31T12:00:00Z');
  ann.choose('pro', 'annual');
  const month = (n: number) => Date.UTC(2027, 3 + n, 1) - dayMs;
  for (let n = 1; n < 12; n++) {
    ann.nowMs = month(n);
    ann.wake();
  }
  assert.deepEqual([ann.amounts, ann.last], [[58_800], [['Pro, annual, 2027-03-31 to 2028-03-31', 58_800]]]);
  ann.choose('pro', 'monthly');
  ann.at('2028-03-30T23:59:59Z').wake();
  assert.equal(ann.amounts.length, 1);
  ann.at('2028-03-31T00:00:00Z').wake();
  assert.deepEqual(ann.last, [['Pro, monthly, 2028-03-31 to 2028-04-30', 4_900]]);

  const bob = new Customer('2026-11-01T12:00:00Z');
  bob.choose('pro', 'annual');
  bob.at('2026-12-01T12:00:00Z').choose('power', 'monthly');
  assert.deepEqual(bob.last, [
    ['Power, monthly, 2026-12-01 to 2027-01-01', 14_900],
    ['Unused time of Pro, annual, 335 of 365 days', -53_967],
    ['Kept as credit', 39_067],
  ]);
  bob.at('2027-01-01T00:00:00Z').wake();
  assert.deepEqual(bob.last.slice(1), [
    ['Credit', -39_067],
    ['Kept as credit', 24_167],
  ]);
  bob.at('2027-02-01T00:00:00Z').wake();
  bob.at('2027-03-01T00:00:00Z').wake();
  assert.deepEqual([bob.amounts, bob.account.creditMinor], [[58_800, 0, 0, 0, 5_633], 0]);
});

test('periods in which the service did not run cost nothing, and the period of the next start costs its remaining days', () => {
  const ann = new Customer('2026-11-01T12:00:00Z');
  ann.choose('pro');
  ann.at('2027-02-15T12:00:00Z');
  assert.equal(usageSummaryOf(ann.account, ann.nowMs).plan, 'pro');
  ann.wake();
  ann.wake();
  assert.deepEqual(ann.last, [['Pro, monthly, 14 of 28 days', 2_450]]);
  assert.equal(ann.amounts.length, 2);
});

test('a shown price holds within its period: an excess becomes credit; if more is due, nothing is charged', () => {
  const ann = new Customer('2026-11-01T12:00:00Z');
  const promised = ann.at('2026-11-30T23:50:00Z').quote('pro', 'monthly');
  assert.equal(promised, 163);
  assert.equal(ann.at('2026-12-01T00:05:00Z').choose('pro', 'monthly', promised).kind, 'dearer');
  assert.deepEqual([ann.account.plan, ann.amounts], ['free', []]);

  const dear = ann.at('2026-12-01T23:59:00Z').quote('pro', 'monthly');
  assert.equal(ann.at('2026-12-02T00:01:00Z').choose('pro', 'monthly', dear).kind, 'changed');
  assert.deepEqual(ann.last, [
    ['Pro, monthly, 30 of 31 days', 4_742],
    ['Kept as credit', 158],
  ]);
  ann.at('2027-01-01T00:00:00Z').wake();
  assert.deepEqual([ann.amounts, ann.account.creditMinor], [[4_900, 4_742], 0]);
});

test('a plan that a payment processor renews is not renewed here: the processor reports each term once, and the end', () => {
  const ann = new Customer('2026-11-01T12:00:00Z');
  assert.deepEqual(ann.choose('pro', 'monthly', 4_900, 'sub_1'), { kind: 'changed', before: 'free', replaced: null });
  ann.at('2026-12-01T00:00:00Z').wake();
  assert.deepEqual([ann.account.plan, ann.amounts], ['pro', [4_900]]);
  const paid = {
    processorId: 'sub_1',
    paymentId: 'in_2',
    plan: 'pro',
    billingPeriod: 'monthly',
    amountMinor: 4_900,
    startsAtMs: Date.parse('2026-12-01T12:00:00Z'),
    paidUntilMs: Date.parse('2027-01-01T12:00:00Z'),
  } as const;
  assert.deepEqual([ann.runCommand('periodPaid', paid), ann.runCommand('periodPaid', paid)], [true, false]);
  assert.equal(ann.runCommand('periodPaid', { ...paid, processorId: 'sub_2', paidUntilMs: paid.paidUntilMs + dayMs }), false);
  assert.deepEqual([ann.last, ann.amounts.length], [[['Pro, monthly, 2026-12-01 to 2027-01-01', 4_900]], 2]);
  assert.equal(ann.choose('power', 'monthly', 14_900, 'sub_3').replaced, 'sub_1');
  assert.equal(ann.runCommand('subscriptionEnded', { processorId: 'sub_1' }), false, 'the one that was replaced');
  ann.choose('pro');
  assert.equal(ann.runCommand('subscriptionEnded', { processorId: 'sub_3' }), true);
  assert.deepEqual([ann.account.plan, ann.account.subscription], ['free', null], 'nobody has paid for the plan that waited');
});

test('for any choices over years: each day is paid once, up to a cent of rounding, and every invoice is the sum of its lines', () => {
  const plan = fc.constantFrom<Plan>('free', 'pro', 'power');
  const step = fc.oneof(
    fc.record({ choose: plan, billingPeriod: fc.constantFrom<BillingPeriod>('monthly', 'annual') }),
    fc.record({ days: fc.integer({ min: 1, max: 70 }) }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_500 }), fc.array(step, { maxLength: 60, size: 'max' }), (signUpDay, steps) => {
      const ann = new Customer(new Date(Date.UTC(2026, 0, 1 + signUpDay, 9)).toISOString());
      let servedMinor = 0;
      for (const one of steps) {
        if ('choose' in one) ann.choose(one.choose, one.billingPeriod);
        else
          for (let day = 0; day < one.days; day++) {
            servedMinor += dayPriceMinor(ann.account, ann.nowMs);
            ann.nowMs += dayMs;
            // Some periods begin late.
            if (ann.nowMs >= ann.account.periodEndsAt && ((day + signUpDay) % 3 === 0 || day === one.days - 1)) ann.wake();
          }
      }
      for (const { amountMinor, lines } of ann.invoices) {
        assert.ok(amountMinor >= 0);
        assert.equal(
          lines.reduce((sum, line) => sum + line.amountMinor, 0),
          amountMinor,
        );
      }
      assert.equal(new Set(ann.invoices.map(({ paymentId }) => paymentId)).size, ann.invoices.length);
      const paidMinor = ann.amounts.reduce((sum, minor) => sum + minor, 0);
      const leftMinor = daysLeft(ann.account, ann.nowMs) * dayPriceMinor(ann.account, ann.nowMs);
      const difference = paidMinor - ann.account.creditMinor - leftMinor - servedMinor;
      assert.ok(Math.abs(difference) <= ann.invoices.length + 1e-6, `${difference} cents in ${ann.invoices.length} invoices`);
    }),
    { numRuns: Number(process.env.RUNS ?? 200) },
  );
});

/** Of the day that begins or runs now. */
function dayPriceMinor({ subscription }: AccountRow, nowMs: number): number {
  if (subscription === null || subscription.paidUntilMs <= nowMs) return 0;
  return subscription.priceMinor / ((subscription.paidUntilMs - subscription.startsAtMs) / dayMs);
}

function daysLeft({ subscription }: AccountRow, nowMs: number): number {
  return subscription === null ? 0 : Math.max(0, Math.ceil((subscription.paidUntilMs - nowMs) / dayMs));
}
