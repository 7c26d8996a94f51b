/**
 * Checks the orders of a run: the answers to clients, the state that every node shows at the end, and the books. Pure, like `check.ts`;
 * `check-trading.test.ts` has for each rule a history that breaks only this rule.
 */
import { describeOperation, type Violation, violationsOf } from './check.ts';
import type { KeptTrading } from './gather-trading.ts';
import type { Operation } from './history.ts';
import { notOnce } from './once.ts';

/** The rules in the words of a report. */
export const tradingRules = {
  placed: 'each order of a client is placed once, and no others exist',
  cancelled: 'an order whose cancel was confirmed is cancelled',
  ended: 'every order comes to its end, or an event says that only the end of its session decides its outcome',
  emitted: 'an order and each of its fills has one event',
  positions: 'positions are the sum of the fills, on every node',
  shown: 'every node shows an order as it is kept',
  venue: 'an order is at its broker once, and filled there as it is here',
  tradingBooks: '`troupe trading check` finds the books right',
} as const;

const endings = ['filled', 'cancelled', 'rejected', 'expired'];

export function checkTrading(operations: readonly Operation[], kept: KeptTrading): Violation[] {
  return violationsOf(tradingRules, {
    placed: placedOnce(operations, kept),
    cancelled: cancelsHeld(operations, kept),
    ended: kept.orders.filter(mustHaveEnded).map(({ id, status }) => `${id} is still ${status}`),
    emitted: emittedOnce(kept),
    positions: positionsRight(kept),
    shown: shownRight(kept),
    venue: venueAgrees(kept),
    tradingBooks: kept.check.code === 0 ? [] : [`ended with ${kept.check.code}: ${kept.check.output.slice(0, 2_000)}`],
  });
}

/** A process can die after it has begun to send an order, and ids are not unique at Tradier: until the session ends it is unknown whether the order exists. */
function mustHaveEnded({ status, isUnknown, isLeftToSession }: KeptTrading['orders'][number]): boolean {
  return !endings.includes(status) && !(isUnknown && isLeftToSession);
}

function placedOnce(operations: readonly Operation[], { orders }: KeptTrading): string[] {
  const wrong: string[] = [];
  const asked = operations.filter(({ name }) => name === 'trade' || name === 'replace trade');
  const byMark = Map.groupBy(
    orders.filter(({ mark }) => mark !== null),
    ({ mark }) => mark!,
  );
  for (const operation of asked) {
    const made = byMark.get(operation.subject) ?? [];
    wrong.push(...notOnce(operation, made.length));
    for (const { id } of made)
      if (operation.outcome === 'done' && operation.result !== id)
        wrong.push(`${describeOperation(operation)} as ${operation.result}, kept is ${id}`);
  }
  const marks = new Set(asked.map(({ subject }) => subject));
  for (const { id, mark, isLeg, isOfStrategy } of orders)
    if (mark === null ? !isLeg && !isOfStrategy : !marks.has(mark))
      wrong.push(`${id}, ${mark ?? 'without a client id'}: no client placed it`);
  return wrong;
}

function cancelsHeld(operations: readonly Operation[], { orders }: KeptTrading): string[] {
  const statusOf = new Map(orders.map(({ id, status }) => [id, status]));
  return operations
    .filter(({ name, outcome, result }) => name === 'cancel trade' && outcome === 'done' && result === 'cancelled')
    .filter(({ subject }) => statusOf.get(subject) !== 'cancelled')
    .map((operation) => `${describeOperation(operation)}, but it is ${statusOf.get(operation.subject) ?? 'gone'}`);
}

function emittedOnce({ orders, fills, events }: KeptTrading): string[] {
  const due = [
    ...orders.map(({ id }) => `trade.submitted ${id}`),
    ...orders.filter(({ status }) => status !== 'filled' && endings.includes(status)).map(({ id, status }) => `trade.${status} ${id}`),
    ...fills.map(({ id, order }) => `fill ${id} of ${order}`),
  ];
  const times = new Map(due.map((event) => [event, 0]));
  for (const { type, order, fill } of events) {
    if (type === 'trade.accepted') continue;
    const about = fill === null ? `${type} ${order}` : `fill ${fill} of ${order}`;
    times.set(about, (times.get(about) ?? Number.NaN) + 1);
  }
  return [...times].flatMap(([event, count]) =>
    count === 1 ? [] : [Number.isNaN(count) ? `${event} is emitted, but did not happen` : `${event} is emitted ${count} times`],
  );
}

function positionsRight({ held, positions }: KeptTrading): string[] {
  const due = new Map(
    held.filter(({ quantity }) => quantity !== 0).map(({ account, symbol, quantity }) => [`${account} ${symbol}`, quantity]),
  );
  const nodes = Map.groupBy(positions, ({ node }) => node);
  return [...nodes].flatMap(([node, shown]) => {
    const byKey = new Map(shown.map(({ account, symbol, quantity }) => [`${account} ${symbol}`, quantity]));
    return [...new Set([...due.keys(), ...byKey.keys()])]
      .filter((key) => byKey.get(key) !== due.get(key))
      .map((key) => `${node} shows ${byKey.get(key) ?? 0} of ${key}, its fills sum to ${due.get(key) ?? 0}`);
  });
}

function venueAgrees({ orders, venue }: KeptTrading): string[] {
  const there = Map.groupBy(venue, ({ ourId }) => ourId ?? 'none');
  const known = new Set(orders.map(({ id }) => id));
  const foreign = venue
    .filter(({ ourId }) => ourId === null || !known.has(ourId))
    .map(({ ourId }) => `${ourId} is at the broker, and no client placed it`);
  const wrong = orders.flatMap(({ id, status, filled, filledBy, isUnknown }) => {
    const found = there.get(id) ?? [];
    if (found.length > 1) return [`${id} is at the broker ${found.length} times`];
    if (filledBy !== 'broker') return found.length === 0 ? [] : [`${id} of the paper broker is at the broker`];
    if (found.length === 0)
      return Number(filled) === 0 && status !== 'filled' ? [] : [`${id} is ${status} with ${filled}, and the broker does not have it`];
    if (isUnknown) return [`${id} is reported by the broker, and its outcome is still unknown`];
    return found[0]!.filled === Number(filled) ? [] : [`${id} is filled with ${filled}, at the broker with ${found[0]!.filled}`];
  });
  return [...foreign, ...wrong];
}

function shownRight({ orders, orderViews }: KeptTrading): string[] {
  const byId = new Map(orders.map((order) => [order.id, order]));
  return orderViews.flatMap(({ node, id, status, filled }) => {
    const order = byId.get(id);
    const isRight = order !== undefined && order.status === status && Number(order.filled) === filled;
    return isRight ? [] : [`${node} shows ${id} ${status} with ${filled}, it is ${order?.status ?? 'gone'} with ${order?.filled ?? 0}`];
  });
}
