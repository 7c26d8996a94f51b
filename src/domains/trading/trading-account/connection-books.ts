/**
 * Books of connections: each belongs to one account at a broker, and ends with its connection. Only the connection makes its book: orders and
 * reports that arrive after its removal must not make it again.
 */
import { AppError } from '../../../errors.ts';
import { connectionGone } from '../brokers/choose-broker.ts';
import type { AccountTurn } from './account-turn.ts';
import type { OpenEntry } from './entity.ts';
import { maxCalls } from './mark.ts';
import type { OrderRoute } from './messages.ts';

/** @returns the key of another book of the same account at the broker; null: there is none, and this book belongs to the account now */
export function addBook(turn: AccountTurn, { venueAccount, ...route }: OrderRoute & { venueAccount: string | null }): string | null {
  const book = turn.ensureBook(route);
  if (venueAccount === null || book.venueAccount !== undefined) return null;
  const other = bookOfVenueAccount(turn.row.books, { ...route, venueAccount });
  if (other !== null) return other;
  turn.setBook(route.brokerKey, { ...book, venueAccount });
  return null;
}

/** The key of the book that belongs to this account at the broker. Paper orders and orders for real money have separate books. */
export function bookOfVenueAccount(
  books: AccountTurn['row']['books'],
  { brokerName, orderMode, venueAccount }: Pick<OrderRoute, 'brokerName' | 'orderMode'> & { venueAccount: string },
): string | null {
  const found = Object.entries(books).find(
    ([, of]) => of.venueAccount === venueAccount && of.brokerName === brokerName && of.orderMode === orderMode,
  );
  return found?.[0] ?? null;
}

/** Throws `conflict` if the connection was removed. */
export function mustHaveBook({ row }: AccountTurn, brokerKey: string): void {
  if (!Object.hasOwn(row.books, brokerKey)) throw new AppError('conflict', connectionGone);
}

export function removeBook(turn: AccountTurn, brokerKey: string): void {
  const { row } = turn;
  if (!Object.hasOwn(row.books, brokerKey)) return;
  if (openOrdersAt(turn, brokerKey).length > 0)
    throw new AppError('conflict', 'Orders of this broker are open, or their outcome is not known');
  turn.row = { ...row, books: Object.fromEntries(Object.entries(row.books).filter(([key]) => key !== brokerKey)) };
}

/** Ends open orders whose broker will not report how they end, as many as one turn may. Returns the number that is left. */
export function abandonOrders(turn: AccountTurn, { brokerKey, reason }: { brokerKey: string; reason: string }): number {
  // Held ones first: the end of another order must not begin them.
  const open = openOrdersAt(turn, brokerKey).toSorted(([, a], [, b]) => Number(b.held) - Number(a.held));
  for (const [orderId] of open.slice(0, maxCalls)) turn.abandonOrder(orderId, reason);
  return Math.max(0, open.length - maxCalls);
}

function openOrdersAt({ row }: AccountTurn, brokerKey: string): [string, OpenEntry][] {
  return Object.entries(row.open).filter(([, entry]) => entry.brokerKey === brokerKey);
}
