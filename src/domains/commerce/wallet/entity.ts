/** An account's money: its wallet, its holds, and the ledger. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';

/** The owner, source or destination of money. `wallet` is the account's own; the others sum up the money that passed through them. */
export type Book = 'wallet' | 'deposits' | 'cards' | 'orders';

/** An account's money in one mode. The id is the account's; of a test wallet `test_` and the account's. */
export const Wallet = defineEntity({
  name: 'Wallet',
  tableName: 'wallet',
  properties: {
    id: p.text().primary(),
    mode: p.text().$type<Mode>(),
    currency: p.text(),
    balanceMinor: p.bigint('number'),
    /** Part of the balance that holds have set aside. */
    heldMinor: p.bigint('number'),
    perTransactionMinor: p.bigint('number'),
    dailyMinor: p.bigint('number'),
    monthlyMinor: p.bigint('number'),
    timezone: p.text(),
    /** The local date, `2026-11-21`, of the sums; earlier spending no longer counts. */
    spendDay: p.text(),
    daySpentMinor: p.bigint('number'),
    monthSpentMinor: p.bigint('number'),
    /** Open holds, by id; `day` is the day in whose sums they count. */
    holds: json<Record<string, { amountMinor: number; day: string; expiresAtMs: number; createdAtMs: number }>>(),
    /** Payments that are within the limits and wait for money, in order. */
    waiting: json<Payment[]>(),
    updatedAt: epochMs(),
  },
});
export type WalletRow = InferEntity<typeof Wallet>;

export type Payment = {
  /** The transfer it is booked under, once; see the wallet's `transferOf`. */
  transferId: string;
  amountMinor: number;
  /** The book that receives the money. */
  to: 'cards' | 'orders';
  /** What is paid: an authorization's or an order's id. */
  reference: string;
  /** For people: the merchant or the vendor. */
  description: string;
  /** The actor that is notified, by `paymentDecided`. */
  payer: { kind: string; id: string };
  /** Returned with the decision. */
  memo: unknown;
};

/** One side of a transfer. Never changed and never deleted; the two sides sum to zero: the database refuses anything else. */
export const LedgerEntry = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger_entry',
  readonly: true,
  properties: {
    transferId: p.text().primary(),
    side: p.text().primary().$type<'debit' | 'credit'>(),
    book: p.text().$type<Book>(),
    accountId: p.text(),
    mode: p.text().$type<Mode>(),
    /** What it adds to its book: a debit is negative, a credit positive. */
    amountMinor: p.bigint('number'),
    /** The paid thing: an authorization's or an order's id; for a deposit, its source. */
    reference: p.text(),
    description: p.text(),
    createdAt: epochMs(),
  },
});
export type LedgerEntryRow = InferEntity<typeof LedgerEntry>;

/** The state of a hold; it leaves `open` once. */
export const WalletHold = defineEntity({
  name: 'WalletHold',
  tableName: 'wallet_hold',
  properties: {
    accountId: p.text().primary(),
    id: p.text().primary(),
    mode: p.text().$type<Mode>(),
    amountMinor: p.bigint('number'),
    status: p.text().$type<'open' | 'captured' | 'released' | 'expired'>(),
    /** Of a captured hold. */
    transferId: p.text().strictNullable(),
    createdAt: epochMs(),
    resolvedAt: epochMs().strictNullable(),
  },
});
