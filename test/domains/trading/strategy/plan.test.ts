/** The orders of a run for its weights: the difference to the holdings of its own orders, within the limits of the account. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { nanoText, one } from '../../../../src/domains/trading/decimal.ts';
import { nanoIn } from '../../../../src/domains/trading/orders/amounts.ts';
import { type PlannedSymbol, planSymbols, type Sizing } from '../../../../src/domains/trading/strategy/plan.ts';
import type { Target } from '../../../../src/domains/trading/strategy/run.ts';

const roomy: Sizing = {
  equity: 10_000n * one,
  divisor: 1,
  maxPosition: 1_000_000n * one,
  buyingPower: 1_000_000n * one,
  marketCollarPct: 1,
};
const none = { held: 0n, buys: 0n, sells: 0n };
const flat: PlannedSymbol = {
  symbol: 'AAPL',
  weight: 1,
  before: null,
  held: 0n,
  open: [],
  account: none,
  quote: { bid: 99, ask: 100 },
  flips: true,
  lot: 1n,
  continues: false,
};
const target = (weight: number, quantity: string | null, reached = false): Target => ({ weight, quantity, reached });
const planned = (changes: Partial<PlannedSymbol>, sizing: Partial<Sizing> = {}) =>
  planSymbols([{ ...flat, ...changes }], { ...roomy, ...sizing })[0]!;
const ordered = (changes: Partial<PlannedSymbol>, sizing: Partial<Sizing> = {}) => {
  const { order } = planned(changes, sizing);
  return order === null ? null : `${order.side} ${order.quantity}`;
};

test('a weight is sized at the paid price and divided among the symbols', () => {
  assert.equal(ordered({}), 'buy 100');
  assert.equal(ordered({ weight: -1 }), 'sell 101.01010101');
  assert.equal(ordered({}, { divisor: 4 }), 'buy 25');
  assert.equal(ordered({ lot: one, quote: { bid: 299, ask: 300 } }), 'buy 33');
  assert.equal(ordered({ weight: 0 }), null);
  assert.equal(ordered({}, { equity: -one }), null);
});

test('while a filled weight does not change, drift is not corrected; a new weight is sized again', () => {
  const before = target(1, '90');
  assert.equal(ordered({ before, held: nanoIn('90') }), null);
  assert.equal(planned({ before, held: nanoIn('90') }).target.reached, true);
  assert.equal(
    ordered({ before: target(1, '90', true), held: nanoIn('180') }),
    null,
    'a split changes what is held, and nothing is ordered',
  );
  assert.equal(ordered({ before, held: nanoIn('90'), weight: 0.5 }), 'sell 39.494949495');
  assert.equal(ordered({ before, held: nanoIn('90'), weight: 0 }), 'sell 90');
});

test('refused and partly filled quantities are ordered again on the next bar', () => {
  assert.equal(ordered({ before: target(1, '90'), held: 0n }), 'buy 100');
  assert.equal(ordered({ before: target(1, '90'), held: nanoIn('30') }), 'buy 70');
});

test('an open order that reaches the target is kept; others are cancelled before a new order is sent', () => {
  const open = [{ orderId: 'ord_1', remaining: nanoIn('60') }];
  const left = planned({ before: target(1, '90'), held: nanoIn('30'), open });
  assert.deepEqual([left.order, left.cancels, left.unfinished], [null, [], false]);
  const other = planned({ before: target(1, '90'), held: nanoIn('30'), open, weight: 0 });
  assert.deepEqual([other.order, other.cancels, other.unfinished], [null, ['ord_1'], true]);
  assert.equal(other.target.quantity, '0');
  assert.equal(ordered({ before: other.target, weight: 0, held: nanoIn('45'), continues: true }), 'sell 45');
});

test('if one order must not close a position and open the other side, the position is closed first', () => {
  const turn = { before: target(1, '100', true), held: nanoIn('100'), weight: -1, flips: false };
  const first = planned(turn);
  assert.deepEqual([first.order, first.unfinished], [{ side: 'sell', quantity: '100' }, true]);
  const second = planned({ ...turn, before: first.target, held: 0n, continues: true });
  assert.deepEqual([second.order, second.unfinished], [{ side: 'sell', quantity: '101.01010101' }, false]);
  assert.equal(ordered({ ...turn, flips: true }), 'sell 201.01010101');
});

test('increases are reduced to the position limit, including other orders and holdings of the account; reductions are not', () => {
  const limit = { maxPosition: 1_015n * one };
  assert.equal(planned({}, limit).cutBy, 'max_position_size');
  assert.equal(ordered({}, limit), 'buy 9.999999999');
  assert.equal(ordered({ account: { ...none, held: nanoIn('5'), buys: nanoIn('2') } }, limit), 'buy 3.073891625');
  assert.equal(ordered({ account: { ...none, held: nanoIn('11') } }, limit), null);
  assert.equal(ordered({ before: target(1, '100', true), held: nanoIn('100'), weight: 0 }, limit), 'sell 100');
  const cut = planned({}, limit);
  assert.equal(ordered({ before: cut.target, held: nanoIn(cut.order!.quantity) }, limit), null, 'what was cut off is not bought in crumbs');
});

test('a purchase waits for the cash of a sale: the quantity beyond the buying power is ordered later', () => {
  const cut = planned({}, { buyingPower: 500n * one });
  assert.deepEqual([cut.cutBy, cut.target.quantity], ['buying_power', '100']);
  assert.equal(
    ordered({ before: cut.target, held: nanoIn(cut.order!.quantity) }),
    `buy ${nanoText(nanoIn('100') - nanoIn(cut.order!.quantity))}`,
  );
  // The margin of a market order alone is not bought afterwards.
  const whole = planned({}, { buyingPower: 10_000n * one });
  assert.equal(whole.target.quantity, whole.order!.quantity);
});

test('several symbols of one bar share the buying power, and sales come before purchases', () => {
  const rows = ['A', 'B'].map((symbol) => ({ ...flat, symbol }));
  const plans = planSymbols(rows, { ...roomy, buyingPower: 10_150n * one });
  const spent = plans.reduce((sum, { order }) => sum + Number(order?.quantity ?? 0) * 101.5, 0);
  assert.ok(spent <= 10_150 && spent > 10_140, String(spent));
  assert.deepEqual(
    plans.map(({ symbol }) => symbol),
    ['A', 'B'],
  );
});

const quantities = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((thousandths) => BigInt(thousandths) * 1_000_000n);
const weights = fc.integer({ min: -10, max: 10 }).map((tenths) => tenths / 10);
const quotes = fc.integer({ min: 2, max: 100_000 }).map((cents) => ({ bid: (cents - 1) / 100, ask: cents / 100 }));

test('if every order fills, a run reaches its target and then orders nothing, for any holdings and reductions', () => {
  fc.assert(
    fc.property(
      quantities,
      weights,
      quotes,
      fc.boolean(),
      fc.integer({ min: 1, max: 100_000 }),
      (heldFirst, weight, quote, flips, dollars) => {
        const sizing = { ...roomy, maxPosition: BigInt(dollars) * one };
        let held = heldFirst;
        let before: Target | null = null;
        for (let turns = 0; ; turns++) {
          assert.ok(turns < 5, 'it comes to an end');
          const plan = planned({ weight, quote, flips, held, before, account: { ...none, held }, continues: turns > 0 }, sizing);
          before = plan.target;
          if (plan.order === null) break;
          const size = nanoIn(plan.order.quantity);
          const next = plan.order.side === 'buy' ? held + size : held - size;
          if (!flips) assert.ok(held === 0n || next === 0n || next > 0n === held > 0n, 'no order turns a position round');
          held = next;
        }
        if (before.reached && before.quantity !== null && nanoIn(before.quantity) !== held)
          assert.ok(Math.abs(Number(nanoIn(before.quantity) - held) / 1e9) * quote.bid < 1, 'less than a dollar is left');
      },
    ),
    { numRuns: 500 },
  );
});
