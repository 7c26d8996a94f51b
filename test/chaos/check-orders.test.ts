/** The checker of money: histories that break one rule about orders or spending limits, and an undecided one. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkMoney } from './check-money.ts';
import {
  authorization,
  findsEach,
  goodRun,
  operation,
  operationOf,
  shown,
  today,
  tomorrow,
  unbuy,
  withoutEntries,
} from './money-by-hand.ts';

findsEach([
  { what: 'an order that is gone', rule: 'orders', words: /tables.* 0 times/, run: ({ books }) => books.orders.splice(1, 1) },
  {
    what: 'an order that was placed twice',
    rule: 'orders',
    words: /tables.* 2 times/,
    run: ({ books }) => books.orders.push({ ...books.orders[1]!, id: 'po_9', status: 'pending' }),
  },
  { what: 'an order of another amount', rule: 'orders', words: /tables.*po_2 of 451/, run: ({ books }) => books.orders[1]!.amount++ },
  {
    what: 'an order that is paid twice, as another is not at all',
    rule: 'orders',
    words: /po_1 is complete, its entries are -400 of a,-50 of a/,
    run: ({ books }) => books.entries.filter(({ reference }) => reference === 'po_3').forEach((entry) => (entry.reference = 'po_1')),
  },
  {
    what: 'an order that is paid and was never approved',
    rule: 'orders',
    words: /po_1 is complete, and no client approved it/,
    run: (run) => void run.operations.splice(run.operations.indexOf(operation(run, 'po_1')), 1),
  },
  {
    what: 'an order that was approved and rejected',
    rule: 'orders',
    words: /reject order po_1.* but the order is complete/,
    run: ({ operations }) => operations.push(operationOf({ name: 'reject order', subject: 'po_1' })),
  },
  {
    what: 'a rejection that is lost',
    rule: 'orders',
    words: /reject order po_2.* but the order is pending/,
    run: ({ books }) => (books.orders[1]!.status = 'pending'),
  },
  {
    what: 'a rejection no client requested',
    rule: 'orders',
    words: /po_2 is rejected, and no client/,
    run: (run) => void run.operations.splice(run.operations.indexOf(operation(run, 'po_2')), 1),
  },
  {
    what: 'an order that approved itself and is pending again',
    rule: 'orders',
    words: /pens.* approved, but the order is pending/,
    run(run) {
      Object.assign(run.books.orders[2]!, { status: 'pending', days: null });
      withoutEntries(run, 'po_3');
    },
  },
  {
    what: 'a node that shows an order as it was',
    rule: 'orders',
    words: /node-2 shows po_1 approved/,
    shown: ({ orderViews }) => (orderViews[3]!.status = 'approved'),
  },
  {
    what: 'a payment for no order',
    rule: 'orders',
    words: /pays po_0, which is no order/,
    run: ({ books }) => books.entries.filter(({ reference }) => reference === 'po_1').forEach((entry) => (entry.reference = 'po_0')),
  },
  {
    what: 'too much at once',
    rule: 'limits',
    words: /po_1 paid 400, over 350 at once/,
    run: (run) => (operation(run, 'per_transaction_limit').value = 350) && unbuy(run, 'card_2/boat', 'authz_4'),
  },
  {
    what: 'too much on a day',
    rule: 'limits',
    words: /paid 1250, over 1249 in 2026-05-04/,
    run: (run) => (operation(run, 'daily_limit').value = 1_249),
  },
  {
    what: 'too much in a month',
    rule: 'limits',
    words: /paid 1250, over 1249 in 2026-05/,
    run(run) {
      operation(run, 'monthly_limit').value = 1_249;
      authorization(run, 'authz_1').days = [tomorrow, tomorrow];
    },
  },
  {
    what: 'too much on a day whose limit was raised afterwards',
    rule: 'limits',
    words: /paid 800, over 799 in 2026-05-04/,
    run(run) {
      const raised = operation(run, 'daily_limit');
      run.operations.splice(run.operations.indexOf(raised), 0, { ...raised, value: 799 });
      Object.assign(raised, { begunMs: 50, endedMs: 60 });
      for (const one of run.operations) if (/order/.test(one.name)) Object.assign(one, { begunMs: 70, endedMs: 80 });
    },
  },
  {
    what: 'a day that shows too little',
    rule: 'limits',
    words: /node-1 shows a 1249 spent in/,
    shown: ({ spending }) => spending[0]!.daySpent--,
  },
  {
    what: 'a month that shows too much',
    rule: 'limits',
    words: /node-2 shows a 1251 spent in 2026-05,/,
    shown: ({ spending }) => spending[1]!.monthSpent++,
  },
]);

test('an order that is reported around midnight counts on either day', () => {
  for (const counted of [today, tomorrow]) {
    const run = goodRun();
    run.books.orders[0]!.days = [today, tomorrow];
    const kept = shown(run);
    for (const spending of kept.spending) if (counted === tomorrow) spending.daySpent -= run.books.orders[0]!.amount;
    assert.deepEqual(checkMoney(run.operations, kept), []);
  }
});
