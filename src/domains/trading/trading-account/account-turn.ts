/**
 * One turn of a trading account: the changing row, the current prices, and the orders that it calls. All parts of the account go through
 * it, so that changes that belong together are committed together: a fill and its entry in the book, an order's end and the orders that
 * depend on it.
 */
import type { TurnContext } from '../../../actors/define-actor.ts';
import { accountModeOf } from '../../../mode.ts';
import { type BookEntry, emptyBook, enter, heldQuantity } from '../book.ts';
import type { BrokerName } from '../brokers/capabilities.ts';
import { nanoText } from '../decimal.ts';
import { resultDayBeganMs, sessionState } from '../market/calendar.ts';
import type { Quote } from '../market/port.ts';
import { type AssetClass, parseSymbol } from '../market/symbol.ts';
import { nanoIn } from '../orders/amounts.ts';
import type { BookedFill } from '../orders/order-fills.ts';
import { isFinal } from '../orders/order-state.ts';
import type { Side } from '../orders/terms.ts';
import type { Content } from '../paper/fill-rules.ts';
import type { TradingOrderRow } from '../trading-order/entity.ts';
import { type PaperMoved, tradingOrder } from '../trading-order/messages.ts';
import { type AccountBook, embeddedBook, type OpenEntry, type OrderMode, type TradingAccountRow, TradingEntry } from './entity.ts';
import type { AccountMarket } from './market.ts';
import { type BookedNow, defaultLimits, type OrderRoute, strategyBookKey, type TradingAccountContract } from './messages.ts';

type Context = TurnContext<TradingAccountContract>;
export type Traded = { brokerKey: string; symbol: string; assetClass: AssetClass; side: Side; strategyId: string | null };

const firstDeposit = { kind: 'deposit', amount: '100000' } as const;

export class AccountTurn {
  row: TradingAccountRow;
  readonly ctx: Context;
  readonly market: AccountMarket;
  readonly marketMs: number;
  /** Orders called so far: a turn calls only a limited number. */
  calls = 0;
  private readonly quotes: Map<string, Quote | null>;
  private ownOpen: TradingAccountRow['open'] | null = null;
  /** The open orders of `ownOpen` that depend on others: legs and replacements. */
  private dependent = new Set<string>();

  constructor(row: TradingAccountRow | null, ctx: Context, market: AccountMarket, quotes: Readonly<Record<string, Quote>> = {}) {
    this.ctx = ctx;
    this.market = market;
    this.marketMs = market.clock.nowMs();
    this.quotes = new Map(Object.entries(quotes).map(([symbol, quote]) => [symbol, this.newerOf(quote)]));
    this.row = row ?? freshAccount(ctx.id, ctx.nowMs, this.marketMs);
    if (row === null) this.journal(embeddedBook, firstDeposit, null, 1);
  }

  /**
   * The quote of this node's market, or the given one; if the last price came from a broker and no quote is given, that price. null: none
   * is known.
   */
  quoteOf(symbol: string): Quote | null {
    const known = this.quotes.get(symbol);
    if (known !== undefined) return known;
    const mark = Object.hasOwn(this.row.marks, symbol) ? this.row.marks[symbol]! : null;
    const isOfBroker = mark?.source === 'broker' && this.market.name !== 'file';
    const quote = (isOfBroker ? null : this.market.quoteNow(symbol)) ?? this.quoteOfMark(symbol);
    this.quotes.set(symbol, quote);
    return quote;
  }

  bookOf(brokerKey: string): AccountBook {
    return this.row.books[brokerKey]!;
  }

  /** The book of an order's route, made where there is none yet. */
  ensureBook({ brokerKey, brokerName, orderMode, filledBy }: OrderRoute): AccountBook {
    if (Object.hasOwn(this.row.books, brokerKey)) return this.row.books[brokerKey]!;
    this.setBook(brokerKey, { ...emptyAccountBook(brokerName, orderMode, this.marketMs), filledBy });
    if (filledBy === 'embedded') this.enter(brokerKey, firstDeposit);
    return this.row.books[brokerKey]!;
  }

  setBook(brokerKey: string, book: AccountBook): void {
    this.row = { ...this.row, books: { ...this.row.books, [brokerKey]: book } };
  }

  /**
   * Books an entry other than a fill, with its journal row. Cash that it pays to or takes from an asset class counts in that class's
   * result.
   */
  enter(brokerKey: string, entry: Exclude<BookEntry, { kind: 'fill' }>, of: { assetClass?: AssetClass; actionId?: string } = {}): void {
    const seq = this.row.entries + 1;
    this.journal(brokerKey, entry, of.actionId ?? null, seq);
    this.row = { ...this.row, entries: seq };
    this.change(brokerKey, entry, of.assetClass ?? null);
  }

  /** Books a fill in the account's book and in its strategy's book. The order keeps its own row. */
  bookFill({ brokerKey, symbol, assetClass, side, strategyId }: Traded, { quantity, price, commission }: BookedFill): BookedNow {
    const seq = this.row.entries + 1;
    this.row = { ...this.row, entries: seq };
    const entry: BookEntry = { kind: 'fill', symbol, side, quantity, price, commission };
    this.change(brokerKey, entry, assetClass);
    if (strategyId !== null) this.changeStrategy(strategyBookKey(strategyId, brokerKey), entry);
    return { seq, positionQuantity: nanoText(heldQuantity(this.bookOf(brokerKey).book, symbol)) };
  }

  /** @param key `strategyBookKey` */
  changeStrategy(key: string, entry: BookEntry): void {
    const { strategyBooks } = this.row;
    const before = Object.hasOwn(strategyBooks, key) ? strategyBooks[key]! : emptyBook();
    this.row = { ...this.row, strategyBooks: { ...strategyBooks, [key]: enter(before, entry) } };
  }

  entryOf(orderId: string): OpenEntry | null {
    return Object.hasOwn(this.row.open, orderId) ? this.row.open[orderId]! : null;
  }

  setEntry(orderId: string, entry: OpenEntry): void {
    this.writableOpen()[orderId] = entry;
    if (isDependent(entry)) this.dependent.add(orderId);
  }

  /** Books fills of an order of the paper broker and ends it, in one commit with the order's change. */
  moveOrder(orderId: string, entry: OpenEntry, fills: BookedFill[], ended: PaperMoved['ended']): void {
    const { brokerKey, strategyId, terms } = entry;
    const traded: Traded = { brokerKey, strategyId, symbol: terms.symbol, assetClass: terms.assetClass, side: terms.side };
    const booked = fills.map((fill) => ({ fill, booked: this.bookFill(traded, fill) }));
    this.calls++;
    const order = this.ctx.callColocated(tradingOrder, orderId, 'moved', { fills: booked, ended });
    this.afterMove(orderId, order);
  }

  /** Ends an order that no broker has; otherwise requests the end from the broker. */
  cancelOrder(orderId: string, replacedBy: string | null = null): TradingOrderRow {
    this.calls++;
    const order = this.ctx.callColocated(tradingOrder, orderId, 'requestCancel', { replacedBy });
    const entry = this.entryOf(orderId);
    if (entry !== null && !entry.cancelRequested) this.setEntry(orderId, { ...entry, cancelRequested: true });
    this.afterMove(orderId, order);
    return order;
  }

  /** Ends an order whose connection is removed: its broker will not report how it ended. */
  abandonOrder(orderId: string, reason: string): void {
    this.calls++;
    this.afterMove(orderId, this.ctx.callColocated(tradingOrder, orderId, 'abandon', { reason }));
  }

  /** Updates the account after an order has changed: an ended order is no longer open, and its legs and replacement follow it. */
  afterMove(orderId: string, { status, state }: Pick<TradingOrderRow, 'status' | 'state'>): void {
    this.updateEntry(orderId, status, state.fills.quantity);
  }

  /** @param filled of the order in all */
  updateEntry(orderId: string, status: TradingOrderRow['status'], filled: string): void {
    const entry = this.entryOf(orderId);
    if (entry === null) return;
    const moved = { isOver: isFinal({ status }), filled, fresh: nanoIn(filled) - nanoIn(entry.filled) };
    const open = this.writableOpen();
    if (moved.isOver) delete open[orderId];
    else open[orderId] = { ...entry, filled };
    const related = entry.leg === null ? this.dependent : [entry.leg.parentId, ...this.dependent];
    for (const id of related) {
      if (id !== orderId && Object.hasOwn(open, id)) open[id] = afterRelated(id, open[id]!, orderId, entry, moved);
    }
  }

  emitEvent(type: string, data: object): void {
    this.ctx.emit({ accountId: this.row.accountId, type, data: { mode: this.row.mode, ...data } });
  }

  /** This turn's copy of the open orders. Made once: a copy at each change would cost the square of their number. */
  private writableOpen(): TradingAccountRow['open'] {
    if (this.ownOpen === null || this.row.open !== this.ownOpen) {
      this.ownOpen = { ...this.row.open };
      this.dependent = new Set(Object.keys(this.ownOpen).filter((id) => isDependent(this.ownOpen![id]!)));
      this.row = { ...this.row, open: this.ownOpen };
    }
    return this.ownOpen;
  }

  private change(brokerKey: string, entry: BookEntry, assetClass: AssetClass | null): void {
    const before = this.bookOf(brokerKey);
    const book = enter(before.book, entry);
    const paid = BigInt(book.cash) - BigInt(before.book.cash);
    if (assetClass === null) return this.setBook(brokerKey, { ...before, book });
    const day = before.days[assetClass];
    const days = { ...before.days, [assetClass]: { ...day, flow: String(BigInt(day.flow) + paid) } };
    this.setBook(brokerKey, { ...before, book, days });
  }

  private journal(brokerKey: string, entry: Exclude<BookEntry, { kind: 'fill' }>, actionId: string | null, seq: number): void {
    this.ctx.append(TradingEntry, { tradingAccountId: this.row.id, seq, brokerKey, entry, actionId, createdAt: this.ctx.nowMs });
  }

  /** A quote fetched for this turn may be older than the one in use: an order is accepted on the newest content. */
  private newerOf(quote: Quote): Quote {
    if (quote.source === 'broker') return quote;
    const now = this.market.quoteNow(quote.symbol);
    return now !== null && (now.source !== quote.source || now.sequence > quote.sequence) ? now : quote;
  }

  private quoteOfMark(symbol: string): Quote | null {
    const mark = Object.hasOwn(this.row.marks, symbol) ? this.row.marks[symbol]! : null;
    const instrument = parseSymbol(symbol);
    if (mark === null || instrument === null) return null;
    // A stored price fills nothing.
    return { ...instrument, ...mark, volume: 0, tick: 0, ...sessionState(instrument.assetClass, this.market.hours, this.marketMs) };
  }
}

/** An account before its first order. */
export function freshAccount(id: string, nowMs: number, marketMs: number): TradingAccountRow {
  const empty = emptyAccountBook('embedded', 'paper', marketMs);
  const books = { [embeddedBook]: { ...empty, book: enter(empty.book, firstDeposit) } };
  const nothing = { strategyBooks: {}, open: {}, marks: {}, shares: {}, actions: {}, haltedAt: null, haltReason: null, haltCancels: [] };
  return { id, ...accountModeOf(id), books, limits: defaultLimits, ...nothing, entries: 1, watched: false, createdAt: nowMs };
}

/** The quote as the paper broker uses it. A quote's own time may be old: orders expire by the market's clock. */
export function contentOf({ bid, ask, last, volume, session, sequence }: Quote, marketMs: number): Content {
  return { bid, ask, last, volume, atMs: marketMs, session, sequence };
}

export function emptyAccountBook(brokerName: BrokerName, orderMode: OrderMode, marketMs: number): AccountBook {
  const newDay = (assetClass: AssetClass) => ({ flow: '0', base: '0', beganMs: resultDayBeganMs(assetClass, marketMs) });
  const days = { equity: newDay('equity'), crypto: newDay('crypto') };
  return { brokerName, orderMode, book: emptyBook(), days, blocked: { equity: null, crypto: null }, cancelling: [] };
}

/** A leg or a replacement: it waits for another order. */
export function isDependent({ leg, replaces }: OpenEntry): boolean {
  return leg !== null || replaces !== null;
}

type Moved = { isOver: boolean; filled: string; fresh: bigint };

/** The changes that one order's move makes to another order. */
function afterRelated(otherId: string, other: OpenEntry, orderId: string, entry: OpenEntry, { isOver, filled, fresh }: Moved): OpenEntry {
  const { leg, replaces } = other;
  const plus = (sum: string) => nanoText(nanoIn(sum) + fresh);
  if (otherId === entry.leg?.parentId && fresh > 0n) return { ...other, exiting: true };
  if (leg?.parentId === orderId) return { ...other, leg: { ...leg, parentFilled: plus(leg.parentFilled), parentOpen: !isOver } };
  if (leg !== null && entry.leg !== null && entry.group === other.group && entry.leg.role !== leg.role)
    return { ...other, leg: { ...leg, exited: plus(leg.exited) } };
  if (replaces?.orderId === orderId && isOver) return { ...other, replaces: { ...replaces, filledAtEnd: filled } };
  return other;
}
