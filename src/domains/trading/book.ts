/**
 * A book: cash and positions as the fold of what happened, in the order in which it was booked. Exact: quantities and prices are billionths, their
 * products and with them cash and cost are units of 10^-18, so that folding the same entries again gives the same bytes.
 *
 * K1 cash = deposits − Σ buys + Σ sells − commissions + dividends, without rounding.
 * K2 cash + Σ value − deposits = realised + Σ (value − cost) − commissions: no cent is lost between the columns.
 * K3 A position of quantity 0 is not kept, and costs 0.
 * K4 A fill against a position first reduces it; any remaining quantity opens a position on the other side at the fill's price.
 */
import Type, { type Static } from 'typebox';
import { divideHalfEven, nanoText, one } from './decimal.ts';
import { nanoIn, sizeOf, smaller } from './orders/amounts.ts';
import { type Side, signOf } from './orders/terms.ts';

/**
 * `quantity` is negative for a short position; `cost` is what was paid for it (negative: received), in units of 10^-18. `external`: a part of it was taken over
 * from the broker's figures; absent otherwise.
 */
export const Position = Type.Object({ quantity: Type.String(), cost: Type.String(), external: Type.Optional(Type.Literal(true)) });
export type Position = Static<typeof Position>;

/** Sums are texts of digits in units of 10^-18; positions by symbol. */
export const Book = Type.Object({
  cash: Type.String(),
  realised: Type.String(),
  commissions: Type.String(),
  positions: Type.Record(Type.String(), Position),
});
export type Book = Static<typeof Book>;

export type BookEntry =
  | { kind: 'deposit'; amount: string }
  | { kind: 'fill'; symbol: string; side: Side; quantity: string; price: string; commission: string }
  | { kind: 'split'; symbol: string; ratio: string }
  /** In dollars per share; a short position pays them. */
  | { kind: 'dividend'; symbol: string; amount: string }
  | { kind: 'symbol_change'; from: string; to: string }
  /** The broker's own figures, adopted when connecting or by a person's decision. */
  | { kind: 'adopted_position'; symbol: string; quantity: string; averagePrice: string }
  | { kind: 'adopted_cash'; amount: string };

export function emptyBook(): Book {
  return { cash: '0', realised: '0', commissions: '0', positions: {} };
}

export function foldBook(entries: Iterable<BookEntry>, from: Book = emptyBook()): Book {
  let book = from;
  for (const entry of entries) book = enter(book, entry);
  return book;
}

export function enter(book: Book, entry: BookEntry): Book {
  switch (entry.kind) {
    case 'deposit':
      return { ...book, cash: plus(book.cash, nanoIn(entry.amount) * one) };
    case 'fill':
      return fill(book, entry);
    case 'split': {
      const held = book.positions[entry.symbol];
      if (held === undefined) return book;
      const quantity = divideHalfEven(nanoIn(held.quantity) * nanoIn(entry.ratio), one);
      return withPosition(book, entry.symbol, quantity, BigInt(held.cost), held.external);
    }
    case 'dividend': {
      const held = book.positions[entry.symbol];
      if (held === undefined) return book;
      const paid = nanoIn(held.quantity) * nanoIn(entry.amount);
      return { ...book, cash: plus(book.cash, paid), realised: plus(book.realised, paid) };
    }
    case 'symbol_change': {
      const held = book.positions[entry.from];
      if (held === undefined || entry.from === entry.to) return book;
      const there: Position = book.positions[entry.to] ?? { quantity: '0', cost: '0' };
      const without = withPosition(book, entry.from, 0n, 0n);
      const quantity = nanoIn(held.quantity) + nanoIn(there.quantity);
      return withPosition(without, entry.to, quantity, BigInt(held.cost) + BigInt(there.cost), held.external ?? there.external);
    }
    case 'adopted_position': {
      const quantity = nanoIn(entry.quantity);
      return withPosition(book, entry.symbol, quantity, quantity * nanoIn(entry.averagePrice), true);
    }
    case 'adopted_cash':
      return { ...book, cash: String(nanoIn(entry.amount) * one) };
  }
}

/** 0 for a symbol that is not held. */
export function heldQuantity(book: Book, symbol: string): bigint {
  const held = Object.hasOwn(book.positions, symbol) ? book.positions[symbol] : undefined;
  return held === undefined ? 0n : nanoIn(held.quantity);
}

/** In billionths, half-even to nine places. */
export function averageEntryPrice({ quantity, cost }: Position): bigint {
  return divideHalfEven(BigInt(cost), nanoIn(quantity));
}

/** The gain of closing a position at this price: its value less its cost, in units of 10^-18. */
export function unrealised({ quantity, cost }: Position, price: bigint): bigint {
  return nanoIn(quantity) * price - BigInt(cost);
}

/** Cash and positions at these prices, in units of 10^-18. `priceOf` in billionths; null: unknown, the position counts at its cost. */
export function equityOf(book: Book, priceOf: (symbol: string, quantity: bigint) => bigint | null): bigint {
  let equity = BigInt(book.cash);
  for (const [symbol, held] of Object.entries(book.positions)) {
    const quantity = nanoIn(held.quantity);
    const price = priceOf(symbol, quantity);
    equity += price === null ? BigInt(held.cost) : quantity * price;
  }
  return equity;
}

function fill(book: Book, { symbol, side, quantity, price, commission }: Extract<BookEntry, { kind: 'fill' }>): Book {
  const sign = signOf(side);
  const traded = nanoIn(quantity);
  const at = nanoIn(price);
  const held: Position = book.positions[symbol] ?? { quantity: '0', cost: '0' };
  const before = nanoIn(held.quantity);
  const costBefore = BigInt(held.cost);
  const reduces = before !== 0n && before > 0n !== sign > 0n;
  const reduced = reduces ? smaller(traded, sizeOf(before)) : 0n;
  // Closing the last of a position removes its whole cost, so rounding leaves no remainder.
  const costOut = reduced === 0n ? 0n : reduced === sizeOf(before) ? costBefore : divideHalfEven(costBefore * reduced, sizeOf(before));
  const realised = reduced === 0n ? 0n : -sign * reduced * at - costOut;
  const opened = traded - reduced;
  const fee = nanoIn(commission) * one;
  const paid: Book = {
    ...book,
    cash: plus(book.cash, -sign * traded * at - fee),
    realised: plus(book.realised, realised),
    commissions: plus(book.commissions, fee),
  };
  // A position that a fill turned round is no longer taken over from the broker.
  const external = reduced > 0n && reduced === sizeOf(before) ? undefined : held.external;
  return withPosition(paid, symbol, before + sign * traded, costBefore - costOut + sign * opened * at, external);
}

/** Symbols are sorted by name, so that equal books give equal bytes. */
function withPosition(book: Book, symbol: string, quantity: bigint, cost: bigint, external?: true): Book {
  const others = Object.entries(book.positions).filter(([name]) => name !== symbol);
  if (quantity === 0n) {
    // A split may round a holding to zero: its cost is then a loss.
    return { ...book, realised: plus(book.realised, -cost), positions: Object.fromEntries(others) };
  }
  const position: Position = { quantity: nanoText(quantity), cost: String(cost), ...(external && { external }) };
  const entries: [string, Position][] = [...others, [symbol, position]];
  return { ...book, positions: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function plus(sum: string, amount: bigint): string {
  return String(BigInt(sum) + amount);
}
