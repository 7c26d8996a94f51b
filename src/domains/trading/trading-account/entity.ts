/** An account's trading in one mode: its books, open orders, halts and blocks; and the journal from which its books are computed. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { Book, BookEntry } from '../book.ts';
import type { BrokerName } from '../brokers/capabilities.ts';
import type { AssetClass } from '../market/symbol.ts';
import type { PaperOrder } from '../paper/fill-rules.ts';

/** The key of the book of the embedded paper broker; other books have the id of their connection, `brk_…`. */
export const embeddedBook = 'embedded';

export type OrderMode = 'paper' | 'live';
export type LegRole = 'stop_loss' | 'take_profit';

/** The prices and state of a leg. `exited`: the quantity filled by the other leg. */
export type LegFacts = { role: LegRole; parentId: string; parentFilled: string; parentOpen: boolean; exited: string };

/**
 * An order that may still fill, with the fields that the account's turn needs. For an order at a broker, `filled`, `sequence` and
 * `triggered` are what this service knows.
 */
export type OpenEntry = PaperOrder & {
  brokerKey: string;
  brokerName: BrokerName;
  orderMode: OrderMode;
  /** Who fills it. */
  filledBy: 'embedded' | 'broker';
  strategyId: string | null;
  /**
   * Held by this service: a leg until its parent fills (at a broker: until its price is reached), a replacement until the old order has
   * ended.
   */
  held: boolean;
  /** For a leg of a bracket. */
  leg: LegFacts | null;
  /** Orders of one group cancel each other. */
  group: string | null;
  /** For a waiting replacement: the old order, and its filled quantity at the request and at its end; null: it has not ended. */
  replaces: { orderId: string; filled: string; filledAtEnd: string | null } | null;
  cancelRequested: boolean;
  /** A leg was filled: the remaining quantity is to be cancelled. */
  exiting?: boolean;
  /** The outcome of its post is unknown: no further orders of its symbol at this broker. */
  unknown: boolean;
};

/** The last known price of a symbol that is held or ordered. */
export type Mark = { bid: number; ask: number; last: number; atMs: number; sequence: number; source: 'embedded' | 'file' | 'broker' };

/** Decimal texts in dollars; percents as numbers. */
export type TradingLimits = { maxPositionSize: string; dailyLossLimit: string; priceCollarPct: number; marketCollarPct: number };

/** Cash flow of one asset class from fills and dividends, and the worth of that and its positions when the day began. Units of 10^-18. */
export type ClassDay = { flow: string; base: string; beganMs: number };

/** A book and its own limits. A loss blocks both classes of the book, each until its own time (market clock); null: not blocked. */
export type AccountBook = {
  brokerName: BrokerName;
  orderMode: OrderMode;
  /** Who fills its orders; absent: the embedded paper broker. */
  filledBy?: 'embedded' | 'broker';
  /** Which account at the broker it belongs to (`venueAccountKey`); absent: not known. Two connections of one account would book everything twice. */
  venueAccount?: string;
  book: Book;
  days: Record<AssetClass, ClassDay>;
  blocked: Record<AssetClass, number | null>;
  /** Orders that a breach must still cancel. */
  cancelling: string[];
};

/** The id is `idInMode` of the account and the mode of its principals. */
export const TradingAccount = defineEntity({
  name: 'TradingAccount',
  tableName: 'trading_account',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    /** Keys are `embedded` or the id of a connection. */
    books: json<Record<string, AccountBook>>(),
    /** Keys by `strategyBookKey`: the holdings that a strategy's own orders at one broker have produced. */
    strategyBooks: json<Record<string, Book>>(),
    open: json<Record<string, OpenEntry>>(),
    limits: json<TradingLimits>(),
    marks: json<Record<string, Mark>>(),
    /** By symbol: the part of a content's share that is already filled. */
    shares: json<Record<string, { sequence: number; used: string }>>(),
    /** By symbol: ids of the corporate actions that were applied, or that happened before the account had the symbol. */
    actions: json<Record<string, string[]>>(),
    haltedAt: epochMs().strictNullable(),
    haltReason: p.text().strictNullable(),
    /** Orders that a halt must still cancel. */
    haltCancels: json<string[]>(),
    /** The number of the last journal entry. */
    entries: p.integer(),
    /** Time or prices can change it: `MarketWatch` marks it. */
    watched: p.boolean(),
    createdAt: epochMs(),
  },
});
export type TradingAccountRow = InferEntity<typeof TradingAccount>;

/**
 * Entries other than fills: deposits, corporate actions, adopted figures of a broker. The books are computed from these and `trading_fill`,
 * in the order of `seq`. Never changed.
 */
export const TradingEntry = defineEntity({
  name: 'TradingEntry',
  tableName: 'trading_entry',
  readonly: true,
  properties: {
    tradingAccountId: p.text().primary(),
    seq: p.integer().primary(),
    brokerKey: p.text(),
    entry: json<Exclude<BookEntry, { kind: 'fill' }>>(),
    /** For a corporate action. */
    actionId: p.text().strictNullable(),
    createdAt: epochMs(),
  },
});
export type TradingEntryRow = InferEntity<typeof TradingEntry>;
