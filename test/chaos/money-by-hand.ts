/** Hand-made runs with money, for the tests of their checker: a correct one, and functions that change it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkMoney, moneyRules } from './check-money.ts';
import type { KeptMoney } from './gather-money.ts';
import type { Decided, Operation } from './history.ts';

/** What a run left behind; what nodes show follows from it (`shown`), unless a test says otherwise. */
export type Run = { operations: Operation[]; books: Books };
export type Books = Omit<KeptMoney, 'events' | 'wallets' | 'spending' | 'cards' | 'orderViews'>;

/** `run` bends what happened, `shown` what nodes show of it. */
export type Breakage = {
  what: string;
  rule: keyof typeof moneyRules;
  words: RegExp;
  run?: (run: Run) => void;
  shown?: (kept: KeptMoney) => void;
};

export const today = '2026-05-04';
export const tomorrow = '2026-05-05';
const limits = { per_transaction_limit: 2_000, daily_limit: 3_000, monthly_limit: 4_000 };

/** Tests that each is found, by its rule and by no other. */
export function findsEach(breakages: readonly Breakage[]): void {
  for (const { what, rule, words, run: breakRun = () => {}, shown: breakShown = () => {} } of breakages)
    test(`${what} is found, and nothing else`, () => {
      const run = goodRun();
      breakRun(run);
      const kept = shown(run);
      breakShown(kept);
      const found = checkMoney(run.operations, kept);
      assert.ok(
        found.some((violation) => words.test(violation.words)),
        JSON.stringify(found, null, 1),
      );
      assert.deepEqual([...new Set(found.map((violation) => violation.rule))], [moneyRules[rule]], JSON.stringify(found, null, 1));
    });
}

export function goodRun(): Run {
  const operations: Operation[] = [
    ...['card_1', 'card_2', 'card_3'].map((card) =>
      operationOf({ name: 'issue card', subject: `the ${card}`, value: 1_000, result: card }),
    ),
    ...Object.entries(limits).map(([limit, value]) => operationOf({ name: 'set limit', subject: limit, value })),
    operationOf({ name: 'deposit', subject: 'a', value: 10_000, result: decided('txn_card_0', 'completed') }),
    operationOf({ name: 'freeze card', subject: 'card_1', begunMs: 40, endedMs: 50 }),
    operationOf({ name: 'cancel card', subject: 'card_2', begunMs: 40, endedMs: 50 }),
    operationOf({ name: 'place order', subject: 'chairs', value: 400, result: decided('po_1', 'pending') }),
    operationOf({ name: 'approve order', subject: 'po_1', result: decided('po_1', 'approved') }),
    operationOf({ name: 'place order', subject: 'tables', value: 450, result: decided('po_2', 'pending') }),
    operationOf({ name: 'reject order', subject: 'po_2', result: decided('po_2', 'rejected') }),
    operationOf({ name: 'place order', subject: 'pens', value: 50, result: decided('po_3', 'approved') }),
  ];
  const order = { account: 'a', isAsking: false };
  const run: Run = {
    operations,
    books: {
      authorizations: [],
      orders: [
        { ...order, id: 'po_1', description: 'chairs', amount: 400, status: 'complete', days: [today, today] },
        { ...order, id: 'po_2', description: 'tables', amount: 450, status: 'rejected', days: null },
        { ...order, id: 'po_3', description: 'pens', amount: 50, status: 'complete', days: [today, today] },
      ],
      entries: [],
      openHolds: 0,
      unpaid: [],
      ledgerCheck: { code: 0, output: '' },
    },
  };
  pay(run, 'deposits', 'card', -10_000);
  buy(run, 'authz_1', 'card_1/coffee', 300);
  decline(run, 'authz_2', 'card_1/dinner', 'spend_limit_exceeded', [20, 30]);
  decline(run, 'authz_3', 'card_1/cake', 'card_frozen');
  buy(run, 'authz_4', 'card_2/boat', 500);
  decline(run, 'authz_5', 'card_2/oar', 'card_cancelled');
  pay(run, 'orders', 'po_1', 400);
  pay(run, 'orders', 'po_3', 50);
  return run;
}

/** What every node shows of such books. */
export function shown({ operations, books }: Run): KeptMoney {
  const approved = books.authorizations.filter(({ status }) => status === 'approved');
  const sum = (list: readonly { amount: number }[]) => list.reduce((total, { amount }) => total + amount, 0);
  const spent = [...approved, ...books.orders.filter(({ days }) => days !== null)];
  const nodes = ['node-1', 'node-2'];
  return {
    ...books,
    events: [
      ...books.authorizations.map(({ id, status }) => ({
        account: 'a',
        type: status === 'approved' ? 'card.authorized' : 'card.declined',
        about: id,
      })),
      ...books.entries
        .filter(({ book }) => book === 'deposits')
        .map(({ transfer }) => ({ account: 'a', type: 'wallet.deposited', about: transfer })),
      ...books.orders.filter(({ days }) => days !== null).map(({ id }) => ({ account: 'a', type: 'order.approved', about: id })),
      ...books.orders
        .filter(({ status }) => status === 'complete' || status === 'rejected')
        .map(({ id, status }) => ({ account: 'a', type: `order.${status}`, about: id })),
    ],
    wallets: nodes.map((node) => ({ node, account: 'a', balance: sum(books.entries.filter(({ book }) => book === 'wallet')), held: 0 })),
    spending: nodes.map((node) => ({
      ...{ node, account: 'a', day: today },
      daySpent: sum(spent.filter(({ days }) => days![0] === today)),
      monthSpent: sum(spent),
    })),
    cards: nodes.flatMap((node) =>
      operations
        .filter(({ name }) => name === 'issue card')
        .map(({ result, value }) => ({
          ...{ node, id: String(result), limit: Number(value) },
          spent: sum(approved.filter(({ card }) => card === result)),
          status: result === 'card_2' ? 'cancelled' : 'active',
        })),
    ),
    orderViews: nodes.flatMap((node) => books.orders.map(({ id, status }) => ({ node, id, status }))),
  };
}

/** An authorization that is requested, answered and booked. */
export function buy(run: Run, id: string, mark: string, amount: number, [begunMs, endedMs]: readonly [number, number] = [20, 30]): void {
  run.operations.push(operationOf({ name: 'authorize', subject: mark, value: amount, result: decided(id, 'approved'), begunMs, endedMs }));
  authorize(run, id, mark, amount);
}

export function unbuy(run: Run, mark: string, id: string): void {
  run.operations.splice(run.operations.indexOf(operation(run, mark)), 1);
  unpay(run, id);
}

/** An authorization in the books. */
export function authorize(run: Pick<Run, 'books'>, id: string, mark: string, amount: number): void {
  run.books.authorizations.push({
    id,
    account: 'a',
    card: mark.split('/')[0]!,
    mark,
    amount,
    status: 'approved',
    reason: null,
    days: [today, today],
  });
  pay(run, 'cards', id, amount);
}

export function unpay(run: Pick<Run, 'books'>, id: string): void {
  run.books.authorizations.splice(run.books.authorizations.indexOf(authorization(run, id)), 1);
  withoutEntries(run, id);
}

export function decline({ operations, books }: Run, id: string, mark: string, reason: string, [begunMs, endedMs] = [60, 70]): void {
  const [card, amount] = [mark.split('/')[0]!, 900];
  operations.push(
    operationOf({ name: 'authorize', subject: mark, value: amount, result: decided(id, 'declined', reason), begunMs, endedMs }),
  );
  books.authorizations.push({ id, account: 'a', card, mark, amount, status: 'declined', reason, days: [today, today] });
}

/** @param amount less than nothing: is paid in */
export function pay({ books }: Pick<Run, 'books'>, book: string, reference: string, amount: number): void {
  const transfer = `txn_${reference}_${books.entries.filter((entry) => entry.reference === reference).length}`;
  const entry = { transfer, account: 'a', reference };
  books.entries.push({ ...entry, book: 'wallet', amount: -amount }, { ...entry, book, amount });
}

export function withoutEntries({ books }: Pick<Run, 'books'>, reference: string): void {
  books.entries = books.entries.filter((entry) => entry.reference !== reference);
}

export function indexOf({ entries }: Books, book: string): number {
  return entries.findIndex((entry) => entry.book === book);
}

export function operation({ operations }: Run, subject: string): Operation {
  return operations.find((one) => one.subject === subject)!;
}

export function authorization({ books }: Pick<Run, 'books'>, id: string): KeptMoney['authorizations'][number] {
  return books.authorizations.find((one) => one.id === id)!;
}

function decided(id: string, status: string, reason: string | null = null): Decided {
  return { id, status, reason };
}

export function operationOf(fields: Partial<Operation> & Pick<Operation, 'name' | 'subject'>): Operation {
  const timing = { invokedMs: 0, begunMs: 0, endedMs: 1 };
  return { id: 0, account: 'a', value: null, ...timing, outcome: 'done', status: 200, result: null, requests: 1, ...fields };
}
