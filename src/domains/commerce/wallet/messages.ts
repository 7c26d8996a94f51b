/** Commands and queries of an account's wallet of one mode. Its id is `walletIdOf`; amounts are minor units (cents) of its currency. */

import { type ActorRef, actorRef, type Contract } from '../../../actors/define-actor.ts';
import { accountModeOf, idInMode } from '../../../mode.ts';
import type { TimezonePort } from '../../accounts/contract.ts';
import type { Payment, WalletRow } from './entity.ts';

export type { Payment };

/** Why a payment is not made. The first three are the account's spending limits. */
export type PaymentRefusal = 'per_transaction_limit' | 'daily_limit' | 'monthly_limit' | 'insufficient_funds';

/** `waiting`: within the limits, but money is missing; another decision follows when it arrives. */
export type PaymentDecision = { kind: 'paid' } | { kind: 'waiting' } | { kind: 'declined'; reason: PaymentRefusal };

/** A payment that is decided in the turn that asks for it. */
export type PaymentNow = Pick<Payment, 'transferId' | 'amountMinor' | 'to' | 'reference' | 'description'>;
export type DecidedNow = Exclude<PaymentDecision, { kind: 'waiting' }>;

/** The commands of every actor that pays by message. A payment is decided once, except that `waiting` is followed by `paid`. */
export type PayerContract = {
  commands: {
    /** Sent in the turn that books the payment: `paid` is sent exactly when its ledger entries exist. */
    paymentDecided(input: { payment: Payment; decision: PaymentDecision }): void;
  };
  queries: Contract['queries'];
};

export type Hold = { id: string; amountMinor: number; expiresAtMs: number };
export type HoldResult = { kind: 'held' } | { kind: 'declined'; reason: PaymentRefusal };

export type SpendingLimits = { perTransactionMinor: number; dailyMinor: number; monthlyMinor: number };

/** `spent` counts against the limits: paid and held amounts, and approved payments that wait for money. */
export type Spending = SpendingLimits & { currency: string; dailySpentMinor: number; monthlySpentMinor: number };

export type Balance = { balanceMinor: number; heldMinor: number; currency: string; updatedAtMs: number | null };

/** `paidAtMs`: when it was paid; it no longer counts on that day. */
export type GivenBack = Pick<Payment, 'transferId' | 'amountMinor' | 'reference' | 'description'> & {
  from: Payment['to'];
  paidAtMs: number;
};

export type Deposit = { transferId: string; amountMinor: number; source: 'card' | 'bank_transfer' };
export type Deposited = Deposit & { balanceMinor: number; createdAtMs: number };

export type WalletContract = {
  commands: {
    /** Refuses (`conflict`) a deposit that would exceed the wallet's maximum. */
    deposit(input: Deposit): Deposited;
    /** Answered by a message, `paymentDecided`. If it is within the limits but money is missing, it waits. */
    pay(input: Payment): void;
    /** For co-located transactions of other actors. */
    payNow(input: PaymentNow): DecidedNow;
    /** For co-located transactions, once for each transfer: a payment is refunded. */
    giveBack(input: GivenBack): void;
    /** Sets money aside until it is captured, released, or the hold expires; counts against the limits meanwhile. */
    hold(input: Hold): HoldResult;
    /** Books the held amount. False: the hold was resolved before, and stays as it was. */
    capture(input: { holdId: string; transferId: string; to: Payment['to']; reference: string; description: string }): boolean;
    /** Releases the held amount. False: the hold was resolved before. */
    release(input: { holdId: string }): boolean;
    /** By timer. */
    expireHolds(input: Record<string, never>): void;
    changeLimits(input: Partial<SpendingLimits>): Spending;
    /** Sent by the account's settings: from now on days begin there. */
    timezoneChanged(input: { timezone: string }): void;
  };
  queries: {
    balance(input: null): Balance;
    /** The wallet's limits and sums on the local day of `nowMs`. */
    spending(input: { nowMs: number }): Spending;
    get(input: null): WalletRow | null;
  };
};

export const wallet = actorRef<WalletContract>('wallet') satisfies ActorRef<TimezonePort>;

/** The id of the wallet that an account has in a mode. */
export const walletIdOf = idInMode;
/** The account and mode of a wallet's id. */
export const walletOwner = accountModeOf;

export function payerRef(kind: string): ActorRef<PayerContract> {
  return actorRef<PayerContract>(kind);
}

/** The only transfer that pays for an authorization or order: `txn_` and the rest of its id. */
export function transferOf(id: string): string {
  return `txn_${id.slice(id.indexOf('_') + 1)}`;
}
