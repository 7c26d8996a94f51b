/** The checker of trading: a correct run, and for each rule histories that break only this rule. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkTrading, tradingRules } from './check-trading.ts';
import type { KeptTrading } from './gather-trading.ts';
import type { Operation } from './history.ts';

type Run = { operations: Operation[]; kept: KeptTrading };
type Breakage = { what: string; rule: keyof typeof tradingRules; words: RegExp; breakIt(run: Run): void };

function operationOf(some: Partial<Operation>): Operation {
  const times = { invokedMs: 1, begunMs: 1, endedMs: 2, requests: 1 };
  return { id: 1, account: 'a', name: 'trade', subject: '', value: null, outcome: 'done', status: 201, result: null, ...times, ...some };
}

/** One order that filled in two parts, one that was cancelled, one that replaced it, and a leg that ended with its parent. */
function goodRun(): Run {
  const orders = [
    {
      id: 'ord_1',
      account: 'a',
      mark: 'm1',
      status: 'filled',
      filled: '3',
      replaces: null,
      isLeg: false,
      isOfStrategy: false,
      filledBy: 'embedded',
      isUnknown: false,
      isLeftToSession: false,
    },
    {
      id: 'ord_2',
      account: 'a',
      mark: 'm2',
      status: 'cancelled',
      filled: '0',
      replaces: null,
      isLeg: false,
      isOfStrategy: false,
      filledBy: 'embedded',
      isUnknown: false,
      isLeftToSession: false,
    },
    {
      id: 'ord_3',
      account: 'a',
      mark: 'm3',
      status: 'cancelled',
      filled: '1',
      replaces: 'ord_2',
      isLeg: false,
      isOfStrategy: false,
      filledBy: 'broker',
      isUnknown: false,
      isLeftToSession: false,
    },
    {
      id: 'ord_4',
      account: 'a',
      mark: null,
      status: 'cancelled',
      filled: '0',
      replaces: null,
      isLeg: true,
      isOfStrategy: false,
      filledBy: 'embedded',
      isUnknown: false,
      isLeftToSession: false,
    },
  ];
  const fills = [
    { id: 'fil_1', order: 'ord_1' },
    { id: 'fil_2', order: 'ord_1' },
    { id: 'fil_3', order: 'ord_3' },
  ];
  const events = [
    ...orders.map(({ id }) => ({ type: 'trade.submitted', order: id, fill: null })),
    { type: 'trade.accepted', order: 'ord_1', fill: null },
    { type: 'trade.partially_filled', order: 'ord_1', fill: 'fil_1' },
    { type: 'trade.filled', order: 'ord_1', fill: 'fil_2' },
    { type: 'trade.partially_filled', order: 'ord_3', fill: 'fil_3' },
    ...['ord_2', 'ord_3', 'ord_4'].map((order) => ({ type: 'trade.cancelled', order, fill: null })),
  ];
  const nodes = ['node-1', 'node-2'];
  return {
    operations: [
      operationOf({ subject: 'm1', result: 'ord_1' }),
      operationOf({ subject: 'm2', result: 'ord_2' }),
      operationOf({ name: 'replace trade', subject: 'm3', outcome: 'unknown', endedMs: null }),
      operationOf({ name: 'cancel trade', subject: 'ord_3', result: 'cancelled' }),
      operationOf({ subject: 'm4', outcome: 'refused', status: 422 }),
      operationOf({ subject: 'm5', outcome: 'unknown', endedMs: null }),
    ],
    kept: {
      ...{
        orders,
        fills,
        events,
        held: [
          { account: 'a', symbol: 'AAPL', quantity: 4 },
          { account: 'a', symbol: 'KO', quantity: 0 },
        ],
      },
      orderViews: nodes.map((node) => ({ node, id: 'ord_1', status: 'filled', filled: 3 })),
      positions: nodes.map((node) => ({ node, account: 'a', symbol: 'AAPL', quantity: 4 })),
      venue: [{ ourId: 'ord_3', filled: 1 }],
      check: { code: 0, output: '' },
    },
  };
}

const breakages: Breakage[] = [
  {
    what: 'an acknowledged order that is gone',
    rule: 'placed',
    words: /m2.* 0 times/,
    breakIt({ kept }) {
      kept.orders.splice(1, 1);
      kept.events = kept.events.filter(({ order }) => order !== 'ord_2');
    },
  },
  {
    what: 'an order that was placed twice',
    rule: 'placed',
    words: /m1.* 2 times/,
    breakIt({ kept }) {
      kept.orders.push({ ...kept.orders[1]!, id: 'ord_9', mark: 'm1' });
      kept.events.push({ type: 'trade.submitted', order: 'ord_9', fill: null }, { type: 'trade.cancelled', order: 'ord_9', fill: null });
    },
  },
  {
    what: 'a refused order that was placed',
    rule: 'placed',
    words: /m2.* 1 times/,
    breakIt: ({ operations }) => Object.assign(operations[1]!, { outcome: 'refused', result: null }),
  },
  {
    what: 'an order of another id than was answered',
    rule: 'placed',
    words: /m2.*as ord_7, kept is ord_2/,
    breakIt: ({ operations }) => Object.assign(operations[1]!, { result: 'ord_7' }),
  },
  {
    what: 'an order that no client placed',
    rule: 'placed',
    words: /ord_3, m3: no client placed it/,
    breakIt: ({ operations }) => operations.splice(2, 1),
  },
  {
    what: 'a confirmed cancel of an order that filled',
    rule: 'cancelled',
    words: /ord_1.*it is filled/,
    breakIt: ({ operations }) => operations.push(operationOf({ name: 'cancel trade', subject: 'ord_1', result: 'cancelled' })),
  },
  {
    what: 'an order that stays open',
    rule: 'ended',
    words: /ord_2 is still accepted/,
    breakIt({ kept }) {
      kept.orders[1]!.status = 'accepted';
      kept.events = kept.events.filter(({ type, order }) => type !== 'trade.cancelled' || order !== 'ord_2');
    },
  },
  {
    what: 'an order that stays open with an unknown outcome without an event about it',
    rule: 'ended',
    words: /ord_2 is still submitted/,
    breakIt({ kept }) {
      Object.assign(kept.orders[1]!, { status: 'submitted', isUnknown: true });
      kept.events = kept.events.filter(({ type, order }) => type !== 'trade.cancelled' || order !== 'ord_2');
    },
  },
  {
    what: 'a fill with two events',
    rule: 'emitted',
    words: /fil_2 of ord_1 is emitted 2 times/,
    breakIt: ({ kept }) => kept.events.push({ type: 'trade.filled', order: 'ord_1', fill: 'fil_2' }),
  },
  {
    what: 'an event of a fill that is not stored',
    rule: 'emitted',
    words: /fil_9 of ord_1 is emitted, but did not happen/,
    breakIt: ({ kept }) => kept.events.push({ type: 'trade.filled', order: 'ord_1', fill: 'fil_9' }),
  },
  {
    what: 'an end without an event',
    rule: 'emitted',
    words: /trade\.cancelled ord_4 is emitted 0 times/,
    breakIt: ({ kept }) => kept.events.pop(),
  },
  {
    what: 'a position that its fills did not make',
    rule: 'positions',
    words: /node-2 shows 5 of a AAPL, its fills sum to 4/,
    breakIt: ({ kept }) => Object.assign(kept.positions[1]!, { quantity: 5 }),
  },
  {
    what: 'a position that a node does not know',
    rule: 'positions',
    words: /node-1 shows 0 of a MSFT, its fills sum to -1/,
    breakIt: ({ kept }) => kept.held.push({ account: 'a', symbol: 'MSFT', quantity: -1 }),
  },
  {
    what: 'an order that a node shows otherwise',
    rule: 'shown',
    words: /node-2 shows ord_1 accepted with 3, it is filled with 3/,
    breakIt: ({ kept }) => Object.assign(kept.orderViews[1]!, { status: 'accepted' }),
  },
  {
    what: 'an order that is at the broker twice',
    rule: 'venue',
    words: /ord_3 is at the broker 2 times/,
    breakIt: ({ kept }) => kept.venue.push({ ourId: 'ord_3', filled: 0 }),
  },
  {
    what: 'an order at the broker that no client placed',
    rule: 'venue',
    words: /ord_8 is at the broker, and no client placed it/,
    breakIt: ({ kept }) => kept.venue.push({ ourId: 'ord_8', filled: 0 }),
  },
  {
    what: 'a fill of the broker that is missing here',
    rule: 'venue',
    words: /ord_3 is filled with 1, at the broker with 2/,
    breakIt: ({ kept }) => Object.assign(kept.venue[0]!, { filled: 2 }),
  },
  {
    what: 'a fill that the broker never made',
    rule: 'venue',
    words: /ord_3 is cancelled with 1, and the broker does not have it/,
    breakIt: ({ kept }) => kept.venue.pop(),
  },
  {
    what: 'an order that the broker has and that is still unknown here',
    rule: 'venue',
    words: /ord_3 is reported by the broker/,
    breakIt: ({ kept }) => Object.assign(kept.orders[2]!, { isUnknown: true }),
  },
  {
    what: 'books that are wrong',
    rule: 'tradingBooks',
    words: /ended with 1: wrong/,
    breakIt: ({ kept }) => Object.assign(kept.check, { code: 1, output: 'wrong' }),
  },
];

test('a correct run of trading breaks no rule', () => {
  const { operations, kept } = goodRun();
  assert.deepEqual(checkTrading(operations, kept), []);
});

test('an order whose outcome only the end of its session decides may be open, if an event has reported it', () => {
  const { operations, kept } = goodRun();
  Object.assign(kept.orders[1]!, { status: 'submitted', isUnknown: true, isLeftToSession: true });
  kept.events = kept.events.filter(({ type, order }) => type !== 'trade.cancelled' || order !== 'ord_2');
  assert.deepEqual(checkTrading(operations, kept), []);
});

for (const { what, rule, words, breakIt } of breakages)
  test(`${what} is found, and nothing else`, () => {
    const run = goodRun();
    breakIt(run);
    const found = checkTrading(run.operations, run.kept);
    assert.ok(
      found.some((violation) => words.test(violation.words)),
      JSON.stringify(found, null, 1),
    );
    assert.deepEqual([...new Set(found.map((violation) => violation.rule))], [tradingRules[rule]], JSON.stringify(found, null, 1));
  });

test('every rule has a history that breaks it', () => {
  assert.deepEqual(new Set(breakages.map(({ rule }) => rule)), new Set(Object.keys(tradingRules)));
});
