/** An account's trading in one mode: its books, what is open, what keeps it from trading; and the journal that its books are the fold of. */
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

/** What a leg goes by. `exited`: filled of the other leg. */
export type LegFacts = { role: LegRole; parentId: string; parentFilled: string; parentOpen: boolean; exited: string };

/** An order that may still fill, as the account's turn needs it. `filled`, `sequence` and `triggered` of one that a broker fills say what this service knows. */
export type OpenEntry = PaperOrder & {
  brokerKey: string;
  brokerName: BrokerName;
  orderMode: OrderMode;
  /** Who fills it. */
  filledBy: 'embedded' | 'broker';
  strategyId: string | null;
  /** It waits here: a leg until its parent fills (at a broker: until its price is touched), a replacement until the old order has ended. */
  held: boolean;
  /** Of a leg of a bracket. */
  leg: LegFacts | null;
  /** Orders of one group end each other. */
  group: string | null;
  /** Of a replacement that waits: the old order, what was filled of it when it was asked for, and at its end; null: it has not ended. */
  replaces: { orderId: string; filled: string; filledAtEnd: string | null } | null;
  cancelRequested: boolean;
  /** A leg of it was filled: what is left of it is to be cancelled. */
  exiting?: boolean;
  /** The outcome of its post is not known: its symbol takes no further orders at this broker. */
  unknown: boolean;
};

/** The last price known of a symbol that is held or ordered. */
export type Mark = { bid: number; ask: number; last: number; atMs: number; sequence: number; source: 'embedded' | 'file' | 'broker' };

/** Decimal texts in dollars; percents as numbers. */
export type TradingLimits = { maxPositionSize: string; dailyLossLimit: string; priceCollarPct: number; marketCollarPct: number };

/** Cash that flowed by one asset class's fills and dividends, and what that and its positions were worth when its day began. Units of 10^-18. */
export type ClassDay = { flow: string; base: string; beganMs: number };

/** A book with what belongs to it alone. A loss blocks both classes of its book, each until its own time (market clock); null: it does not. */
export type AccountBook = {
  brokerName: BrokerName;
  orderMode: OrderMode;
  /** Who fills its orders; absent: the embedded paper broker. */
  filledBy?: 'embedded' | 'broker';
  book: Book;
  days: Record<AssetClass, ClassDay>;
  blocked: Record<AssetClass, number | null>;
  /** What a breach cancels and has not cancelled yet. */
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
    /** By `embedded` or the id of a connection. */
    books: json<Record<string, AccountBook>>(),
    /** By `strategyBookKey`: what a strategy's own orders at one broker have made of an empty book. */
    strategyBooks: json<Record<string, Book>>(),
    open: json<Record<string, OpenEntry>>(),
    limits: json<TradingLimits>(),
    marks: json<Record<string, Mark>>(),
    /** By symbol: what of a content's share was filled already. */
    shares: json<Record<string, { sequence: number; used: string }>>(),
    /** By symbol: ids of the corporate actions that were applied, or were there before the account had the symbol. */
    actions: json<Record<string, string[]>>(),
    haltedAt: epochMs().strictNullable(),
    haltReason: p.text().strictNullable(),
    /** What a halt cancels and has not cancelled yet. */
    haltCancels: json<string[]>(),
    /** The number of the last entry of its journal. */
    entries: p.integer(),
    /** It has what time changes: `MarketWatch` marks it. */
    watched: p.boolean(),
    createdAt: epochMs(),
  },
});
export type TradingAccountRow = InferEntity<typeof TradingAccount>;

/**
 * What was booked besides fills: deposits, corporate actions, what was taken over from a broker. The books are the fold of these and of `trading_fill`,
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
    /** Of a corporate action. */
    actionId: p.text().strictNullable(),
    createdAt: epochMs(),
  },
});
export type TradingEntryRow = InferEntity<typeof TradingEntry>;
