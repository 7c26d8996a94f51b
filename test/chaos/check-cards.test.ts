/** The checker of money: histories that break one rule about cards, and histories with an undecided outcome. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkMoney } from './check-money.ts';
import { buy, decline, findsEach, goodRun, operation, operationOf, shown } from './money-by-hand.ts';

findsEach([
  {
    what: 'a card over its limit',
    rule: 'cards',
    words: /card_3 paid 1200 of 1000/,
    run: (run) => ['one', 'two'].forEach((shop, n) => buy(run, `authz_8${n}`, `card_3/${shop}`, 600)),
  },
  {
    what: 'a card that shows too little',
    rule: 'cards',
    words: /node-2 shows 299 spent on card_1/,
    shown: ({ cards }) => cards[3]!.spent--,
  },
  {
    what: 'a card with another limit',
    rule: 'cards',
    words: /node-1 shows card_1 with a limit of 999/,
    shown: ({ cards }) => cards[0]!.limit--,
  },
  {
    what: 'a payment by a frozen card',
    rule: 'frozen',
    words: /book.* is approved, after .*freeze/,
    run: (run) => buy(run, 'authz_8', 'card_1/book', 100, [60, 70]),
  },
  {
    what: 'a payment by a frozen card that was unfrozen before',
    rule: 'frozen',
    words: /book.* is approved, after .*freeze/,
    run(run) {
      run.operations.push(operationOf({ name: 'unfreeze card', subject: 'card_1', begunMs: 31, endedMs: 39 }));
      buy(run, 'authz_8', 'card_1/book', 100, [60, 70]);
    },
  },
  {
    what: 'a payment by a frozen card that no client knows of',
    rule: 'frozen',
    words: /book.* is approved, after .*freeze/,
    run(run) {
      buy(run, 'authz_8', 'card_1/book', 100, [60, 70]);
      Object.assign(operation(run, 'card_1/book'), { outcome: 'unknown', result: null, endedMs: null });
    },
  },
  {
    what: 'a payment by a cancelled card, also after an unfreeze',
    rule: 'frozen',
    words: /book.* is approved, after .*cancel/,
    run(run) {
      run.operations.push(operationOf({ name: 'unfreeze card', subject: 'card_2', begunMs: 45, endedMs: 59 }));
      buy(run, 'authz_8', 'card_2/book', 100, [60, 70]);
    },
  },
  {
    what: 'a freeze no client requested',
    rule: 'frozen',
    words: /hat.*no client froze it/,
    run: (run) => decline(run, 'authz_8', 'card_3/hat', 'card_frozen'),
  },
  {
    what: 'a cancel no client requested',
    rule: 'frozen',
    words: /hat.*no client cancelled it/,
    run: (run) => decline(run, 'authz_8', 'card_3/hat', 'card_cancelled'),
  },
  { what: 'a cancel that is lost', rule: 'frozen', words: /node-1 shows it active/, shown: ({ cards }) => (cards[1]!.status = 'active') },
]);

test('an operation that overlaps a freeze or a later unfreeze is undecided and not an error', () => {
  for (const [begunMs, endedMs] of [
    [45, 70],
    [60, 95],
    [95, 99],
  ] as const) {
    const run = goodRun();
    run.operations.push(operationOf({ name: 'unfreeze card', subject: 'card_1', begunMs: 80, endedMs: 90 }));
    buy(run, 'authz_8', 'card_1/book', 100, [begunMs, endedMs]);
    assert.deepEqual(checkMoney(run.operations, shown(run)), []);
  }
});

test('a card that has reached its limit is frozen automatically', () => {
  const run = goodRun();
  buy(run, 'authz_8', 'card_3/ring', 1_000);
  decline(run, 'authz_9', 'card_3/hat', 'card_frozen');
  assert.deepEqual(checkMoney(run.operations, shown(run)), []);
});
