/**
 * Checks the money of a run: the answers that clients got, the state that every node shows at the end, and the books. Pure, as `check.ts`;
 * `check-money.test.ts` gives each rule a history that breaks it alone.
 *
 * Amounts are cents. An operation with an unknown outcome may have taken effect once, or not.
 */
import { describeOperation, type Violation, violationsOf } from './check.ts';
import { cardsRight, frozenHeeded } from './check-cards.ts';
import { limitsHeld } from './check-limits.ts';
import { ordersPaid } from './check-orders.ts';
import type { KeptMoney } from './gather-money.ts';
import type { Decided, Operation } from './history.ts';
import { notOnce, sum } from './once.ts';

/** The rules in the words of a report. */
export const moneyRules = {
  authorizations: 'an approved authorization is booked once, a declined one never',
  deposits: 'a deposit is booked once',
  conserved: 'no cent comes or goes',
  cards: 'no card is over its limit, and each shows what was approved',
  frozen: 'a frozen or cancelled card pays nothing, and no other is said to be one',
  orders: 'an order is paid once, when it was approved',
  limits: "no payment passes an account's limits",
  events: 'each change of money has one event',
  inFlight: 'no money stays on its way',
  books: '`troupe ledger check` finds the books right',
} as const;

export function checkMoney(operations: readonly Operation[], kept: KeptMoney): Violation[] {
  return violationsOf(moneyRules, {
    authorizations: authorizationsBooked(operations, kept),
    deposits: depositsBooked(operations, kept),
    conserved: moneyConserved(kept),
    cards: cardsRight(operations, kept),
    frozen: frozenHeeded(operations, kept),
    orders: ordersPaid(operations, kept),
    limits: limitsHeld(operations, kept),
    events: emittedOnce(kept),
    inFlight: nothingInFlight(kept),
    books: kept.ledgerCheck.code === 0 ? [] : [`ended with ${kept.ledgerCheck.code}: ${kept.ledgerCheck.output.slice(0, 2_000)}`],
  });
}

function authorizationsBooked(operations: readonly Operation[], { authorizations, entries }: KeptMoney): string[] {
  const wrong: string[] = [];
  const asked = operations.filter(({ name }) => name === 'authorize');
  const byMark = Map.groupBy(authorizations, ({ mark }) => mark);
  for (const operation of asked) {
    const made = byMark.get(operation.subject) ?? [];
    wrong.push(...notOnce(operation, made.length));
    for (const { id, amount, status, reason } of made) {
      const isAsked = amount === operation.value && (operation.outcome !== 'done' || same(operation.result, { id, status, reason }));
      if (!isAsked) wrong.push(`${describeOperation(operation)}: kept is ${id}, ${status} ${reason ?? ''} ${amount}`);
    }
  }
  const marks = new Set(asked.map(({ subject }) => subject));
  const paid = Map.groupBy(
    entries.filter(({ book }) => book === 'wallet'),
    ({ reference }) => reference,
  );
  for (const { id, mark, account, amount, status } of authorizations) {
    if (!marks.has(mark)) wrong.push(`${id}, ${mark}: no client requested it`);
    const booked = (paid.get(id) ?? []).map((entry) => `${entry.amount} of ${entry.account}`);
    const due = status === 'approved' ? [`${-amount} of ${account}`] : [];
    if (booked.join() !== due.join()) wrong.push(`${id} (${mark}) is ${status}, its entries are ${booked.join() || 'none'}`);
  }
  const known = new Set(authorizations.map(({ id }) => id));
  for (const { book, transfer, reference } of entries)
    if (book === 'cards' && !known.has(reference)) wrong.push(`${transfer} pays ${reference}, which is no authorization`);
  return wrong;
}

/** No two deposits of an account have the same amount. */
function depositsBooked(operations: readonly Operation[], { entries }: KeptMoney): string[] {
  const wrong: string[] = [];
  const asked = operations.filter(({ name }) => name === 'deposit');
  const paidIn = depositsOf(entries);
  const markOf = (account: string, amount: unknown) => `${amount} to ${account}`;
  const byMark = Map.groupBy(paidIn, ({ account, amount }) => markOf(account, amount));
  for (const operation of asked) {
    const booked = byMark.get(markOf(operation.account, operation.value)) ?? [];
    wrong.push(...notOnce(operation, booked.length));
    const { id } = (operation.result ?? {}) as Partial<Decided>;
    for (const { transfer } of booked)
      if (id !== undefined && transfer !== id) wrong.push(`${describeOperation(operation)} as ${id}, kept is ${transfer}`);
  }
  const marks = new Set(asked.map(({ account, value }) => markOf(account, value)));
  for (const [mark, [first]] of byMark) if (!marks.has(mark)) wrong.push(`${first!.transfer}, ${mark}: no client paid it in`);
  return wrong;
}

function moneyConserved({ wallets, authorizations, orders, entries }: KeptMoney): string[] {
  const wrong: string[] = [];
  for (const [transfer, sides] of Map.groupBy(entries, (entry) => entry.transfer))
    if (sum(sides) !== 0 || sides.length !== 2) wrong.push(`${transfer} has ${sides.length} entries that sum to ${sum(sides)}`);
  const approved = Map.groupBy(
    authorizations.filter(({ status }) => status === 'approved'),
    ({ account }) => account,
  );
  const complete = Map.groupBy(
    orders.filter(({ status }) => status === 'complete'),
    ({ account }) => account,
  );
  const ofAccount = Map.groupBy(entries, ({ account }) => account);
  for (const { node, account, balance } of wallets) {
    const own = ofAccount.get(account) ?? [];
    const due = sum(depositsOf(own)) - sum(approved.get(account) ?? []) - sum(complete.get(account) ?? []);
    const booked = sum(own.filter(({ book }) => book === 'wallet'));
    if (balance !== due) wrong.push(`${node} shows ${account} ${balance}; paid in less approved and completed is ${due}`);
    if (balance !== booked) wrong.push(`${node} shows ${account} ${balance}; its entries sum to ${booked}`);
  }
  return wrong;
}

/** Decisions alone: that a card was frozen by its limit, or an order placed, says nothing about money. */
function emittedOnce({ authorizations, orders, entries, events }: KeptMoney): string[] {
  const due = [
    ...authorizations.map(({ id, status }) => `card.${status === 'approved' ? 'authorized' : 'declined'} ${id}`),
    ...depositsOf(entries).map(({ transfer }) => `wallet.deposited ${transfer}`),
    ...orders.flatMap(({ id, status }) =>
      status === 'pending' ? [] : status === 'complete' ? [`order.approved ${id}`, `order.complete ${id}`] : [`order.${status} ${id}`],
    ),
  ];
  const times = new Map(due.map((event) => [event, 0]));
  for (const { type, about } of events) times.set(`${type} ${about}`, (times.get(`${type} ${about}`) ?? Number.NaN) + 1);
  return [...times].flatMap(([event, count]) =>
    count === 1 ? [] : [Number.isNaN(count) ? `${event} has an event, but did not happen` : `${event} has ${count} events`],
  );
}

function nothingInFlight({ wallets, orders, openHolds, unpaid }: KeptMoney): string[] {
  return [
    ...wallets.filter(({ held }) => held !== 0).map(({ node, account, held }) => `${node} shows ${held} of ${account} held`),
    ...(openHolds === 0 ? [] : [`${openHolds} holds are open`]),
    ...orders.filter(({ isAsking }) => isAsking).map(({ id, status }) => `${id} is ${status}, and waits for the wallet's answer`),
    ...orders.filter(({ status }) => status === 'approved').map(({ id, amount }) => `${id} waits for ${amount}, and there is money`),
    ...unpaid.map(({ id, account, amount, available }) => `${id} waited for ${amount} while ${account} had ${available}`),
  ];
}

function same(result: Operation['result'], kept: Decided): boolean {
  const { id, status, reason } = result as Decided;
  return id === kept.id && status === kept.status && reason === kept.reason;
}

function depositsOf(entries: KeptMoney['entries']): KeptMoney['entries'] {
  const transfers = new Set(entries.filter(({ book }) => book === 'deposits').map(({ transfer }) => transfer));
  return entries.filter(({ book, transfer }) => book === 'wallet' && transfers.has(transfer));
}
