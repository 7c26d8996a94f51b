/** The checker of money: a correct run, and for each rule histories that break only this rule. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkMoney } from './check-money.ts';
import { authorization, authorize, findsEach, goodRun, indexOf, operation, pay, shown, unpay, withoutEntries } from './money-by-hand.ts';

findsEach([
  {
    what: 'an approved authorization that is gone',
    rule: 'authorizations',
    words: /coffee.* 0 times/,
    run: (run) => unpay(run, 'authz_1'),
  },
  {
    what: 'an authorization that is kept and was refused',
    rule: 'authorizations',
    words: /coffee.* 1 times/,
    run: (run) => Object.assign(operation(run, 'card_1/coffee'), { outcome: 'refused', result: null }),
  },
  {
    what: 'an approved authorization that is kept as declined',
    rule: 'authorizations',
    words: /coffee.*kept is authz_1, declined/,
    run(run) {
      Object.assign(authorization(run, 'authz_1'), { status: 'declined', reason: 'insufficient_funds' });
      withoutEntries(run, 'authz_1');
    },
  },
  {
    what: 'a declined authorization that was paid',
    rule: 'authorizations',
    words: /dinner.*kept is authz_2, approved/,
    run(run) {
      Object.assign(authorization(run, 'authz_2'), { status: 'approved', reason: null, amount: 600 });
      operation(run, 'card_1/dinner').value = 600;
      pay(run, 'cards', 'authz_2', 600);
    },
  },
  {
    what: 'an authorization of another amount',
    rule: 'authorizations',
    words: /coffee.* 290/,
    run: ({ books }) => {
      withoutEntries({ books }, 'authz_1');
      authorization({ books }, 'authz_1').amount = 290;
      pay({ books }, 'cards', 'authz_1', 290);
    },
  },
  {
    what: 'a command that made two authorizations',
    rule: 'authorizations',
    words: /coffee.* 2 times/,
    run: (run) => authorize(run, 'authz_9', 'card_1/coffee', 300),
  },
  {
    what: 'an unknown command that made two authorizations',
    rule: 'authorizations',
    words: /coffee.* 2 times/,
    run(run) {
      Object.assign(operation(run, 'card_1/coffee'), { outcome: 'unknown', result: null, endedMs: null });
      authorize(run, 'authz_9', 'card_1/coffee', 300);
    },
  },
  {
    what: 'an authorization no client requested',
    rule: 'authorizations',
    words: /tea: no client/,
    run: (run) => authorize(run, 'authz_9', 'card_1/tea', 5),
  },
  {
    what: 'an approved authorization that is paid twice, as another is not at all',
    rule: 'authorizations',
    words: /authz_1 .* -300 of a,-500 of a/,
    run(run) {
      run.books.entries.filter(({ reference }) => reference === 'authz_4').forEach((entry) => (entry.reference = 'authz_1'));
    },
  },
  {
    what: 'a payment for nothing that is known',
    rule: 'authorizations',
    words: /pays authz_0, which is no authorization/,
    run: ({ books }) => books.entries.filter(({ reference }) => reference === 'authz_1').forEach((entry) => (entry.reference = 'authz_0')),
  },
  {
    what: 'an acknowledged deposit that is gone',
    rule: 'deposits',
    words: /deposit a.* 0 times/,
    run: (run) => withoutEntries(run, 'card'),
  },
  {
    what: 'a deposit that is booked twice',
    rule: 'deposits',
    words: /deposit a.* 2 times/,
    run: (run) => pay(run, 'deposits', 'card', -10_000),
  },
  { what: 'a deposit no client made', rule: 'deposits', words: /7 to a: no client/, run: (run) => pay(run, 'deposits', 'card', -7) },
  {
    what: 'a deposit under another id',
    rule: 'deposits',
    words: /as txn_card_0, kept is txn_x/,
    run: ({ books }) => books.entries.forEach((entry) => (entry.transfer = entry.transfer === 'txn_card_0' ? 'txn_x' : entry.transfer)),
  },
  {
    what: 'a cent too much on one node',
    rule: 'conserved',
    words: /node-2 shows a 8751; paid in/,
    shown: ({ wallets }) => wallets[1]!.balance++,
  },
  {
    what: 'an entry that is gone',
    rule: 'conserved',
    words: /txn_authz_1_0 has 1 entries/,
    run: ({ books }) => books.entries.splice(indexOf(books, 'cards'), 1),
  },
  {
    what: 'a cent that is made',
    rule: 'conserved',
    words: /sum to 1/,
    run: ({ books }) => books.entries[indexOf(books, 'cards')]!.amount++,
  },
  {
    what: 'an authorization without an event',
    rule: 'events',
    words: /card.authorized authz_1 has 0 events/,
    shown: ({ events }) => events.shift(),
  },
  {
    what: 'an order with two events',
    rule: 'events',
    words: /order.complete po_1 has 2 events/,
    shown: ({ events }) => events.push({ account: 'a', type: 'order.complete', about: 'po_1' }),
  },
  {
    what: 'a decline that never was',
    rule: 'events',
    words: /card.declined authz_1 has an event, but did not/,
    shown: ({ events }) => events.push({ account: 'a', type: 'card.declined', about: 'authz_1' }),
  },
  { what: 'money that is held back', rule: 'inFlight', words: /node-1 shows 5 of a held/, shown: ({ wallets }) => (wallets[0]!.held = 5) },
  { what: 'a hold that stays open', rule: 'inFlight', words: /1 holds/, run: ({ books }) => (books.openHolds = 1) },
  {
    what: 'an approval that hangs',
    rule: 'inFlight',
    words: /po_2 is rejected, and waits/,
    run: ({ books }) => (books.orders[1]!.isAsking = true),
  },
  {
    what: 'an approved order that is never paid',
    rule: 'inFlight',
    words: /po_1 waits for 400/,
    run(run) {
      run.books.orders[0]!.status = 'approved';
      withoutEntries(run, 'po_1');
    },
  },
  {
    what: 'an order that waited beside the money',
    rule: 'inFlight',
    words: /po_1 waited for 400 while a had 500/,
    run: ({ books }) => books.unpaid.push({ id: 'po_1', account: 'a', amount: 400, available: 500 }),
  },
  {
    what: 'books that the command finds wrong',
    rule: 'books',
    words: /ended with 1: txn_1/,
    run: ({ books }) => (books.ledgerCheck = { code: 1, output: 'txn_1' }),
  },
]);

test('a correct run breaks no rule', () => {
  const run = goodRun();
  assert.deepEqual(checkMoney(run.operations, shown(run)), []);
});

test('an unknown outcome may have moved money or not', () => {
  for (const kept of [true, false]) {
    const run = goodRun();
    const unknown = { outcome: 'unknown', result: null, endedMs: null } as const;
    for (const subject of ['card_1/coffee', 'a', 'chairs', 'po_1']) Object.assign(operation(run, subject), unknown);
    if (!kept) {
      unpay(run, 'authz_1');
      withoutEntries(run, 'card');
      run.books.orders.splice(0, 1);
      withoutEntries(run, 'po_1');
    }
    assert.deepEqual(checkMoney(run.operations, shown(run)), []);
  }
});
