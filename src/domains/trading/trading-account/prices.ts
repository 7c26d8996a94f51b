/** The prices at which an account's holdings count: what closing them would bring or cost. */
import { nanoPrice } from '../orders/amounts.ts';
import type { AccountTurn } from './account-turn.ts';
import { paperStrategyBooks } from './corporate-actions.ts';
import { onDayOf, type PriceOf, withoutOldBlocks } from './day-result.ts';
import type { AccountBook, Mark } from './entity.ts';

/** A mark with only a new price is written if the market's content changes rarely, or if the last one is this old. */
const markEveryMs = 60_000;

/** Longs at the bid, shorts at the ask. */
export function closingPrice({ bid, ask }: Pick<Mark, 'bid' | 'ask'>, quantity: bigint): bigint {
  return nanoPrice(quantity > 0n ? bid : ask);
}

export function priceNow(turn: AccountTurn, of: AccountBook): PriceOf {
  return (symbol, quantity) => {
    const quote = turn.quoteOf(symbol);
    return quote === null || !countsFor(of, quote.source) ? null : closingPrice(quote, quantity);
  };
}

/** Invented prices do not apply to holdings at a broker: without others they count at their cost. */
export function countsFor({ filledBy }: Pick<AccountBook, 'filledBy'>, source: Mark['source']): boolean {
  return filledBy !== 'broker' || source !== 'embedded';
}

/** Begins new days at the last prices of the day before, and removes expired blocks. Call before a current price is used. */
export function beginDays(turn: AccountTurn): void {
  for (const [brokerKey, book] of Object.entries(turn.row.books)) {
    const now = withoutOldBlocks(
      onDayOf(book, turn.marketMs, (beganMs) => priceAt(turn, book, beganMs)),
      turn.marketMs,
    );
    if (now !== book) turn.setBook(brokerKey, now);
  }
}

/** Keeps the last prices of what is held or open, and forgets the others. @param isWritten the turn writes the row in any case */
export function updateMarks(turn: AccountTurn, isWritten: boolean): void {
  const { row } = turn;
  const symbols = watchedSymbols(turn);
  const marks: Record<string, Mark> = {};
  let isChanged = Object.keys(row.marks).some((symbol) => !symbols.has(symbol));
  for (const symbol of symbols) {
    const before = Object.hasOwn(row.marks, symbol) ? row.marks[symbol]! : null;
    const quote = turn.quoteOf(symbol);
    if (quote === null) {
      if (before !== null) marks[symbol] = before;
      continue;
    }
    const { bid, ask, last, atMs, sequence, source } = quote;
    const now: Mark = { bid, ask, last, atMs, sequence, source };
    const isSame = before !== null && before.bid === bid && before.ask === ask && before.last === last && before.source === source;
    const isDue = before === null || before.source !== source || source === 'file' || atMs - before.atMs >= markEveryMs || isWritten;
    marks[symbol] = isDue && !isSame ? now : before!;
    isChanged ||= marks[symbol] !== before;
  }
  if (!isChanged) return;
  const of = <T>(record: Record<string, T>) => Object.fromEntries(Object.entries(record).filter(([symbol]) => symbols.has(symbol)));
  const actions = of(row.actions);
  // Corporate actions from before the account had the symbol do not apply to it.
  for (const symbol of symbols) actions[symbol] ??= turn.market.actionsNow(symbol).map(({ id }) => id);
  turn.row = { ...row, marks, actions, shares: of(row.shares) };
}

/** Symbols that are held or ordered, also if only strategies hold opposite positions in them. */
export function watchedSymbols({ row }: Pick<AccountTurn, 'row'>): Set<string> {
  const symbols = new Set(Object.values(row.open).map(({ terms }) => terms.symbol));
  const books = [...Object.values(row.books).map(({ book }) => book), ...paperStrategyBooks(row)];
  for (const { positions } of books) for (const symbol of Object.keys(positions)) symbols.add(symbol);
  return symbols;
}

function priceAt(turn: AccountTurn, of: AccountBook, beganMs: number): PriceOf {
  return (symbol, quantity) => {
    const mark = Object.hasOwn(turn.row.marks, symbol) ? turn.row.marks[symbol]! : null;
    const then = mark?.source === 'broker' ? null : turn.market.quoteAt(symbol, beganMs);
    const price = then ?? mark ?? turn.quoteOf(symbol);
    return price === null || !countsFor(of, price.source) ? null : closingPrice(price, quantity);
  };
}
