/**
 * An account's spending on its local day and in its local month, and whether it may spend more. Pure rules over the wallet's row.
 *
 * A day never begins twice: neither a clock that goes back nor a time zone further west resets what was spent, and with a time zone further
 * east, today's spending counts for the day there.
 */
import type { WalletRow } from './entity.ts';
import { localDay, monthOf } from './local-day.ts';
import type { PaymentRefusal } from './messages.ts';

/** The wallet on the local day of `nowMs`: a new day begins with no spending. */
export function onDayOf(wallet: WalletRow, nowMs: number): WalletRow {
  const day = localDay(nowMs, wallet.timezone);
  if (day <= wallet.spendDay) return wallet;
  const isSameMonth = monthOf(day) === monthOf(wallet.spendDay);
  return { ...wallet, spendDay: day, daySpentMinor: 0, monthSpentMinor: isSameMonth ? wallet.monthSpentMinor : 0 };
}

/** null: within the limits. `wallet` is as of today. */
export function limitReached(wallet: WalletRow, amountMinor: number): PaymentRefusal | null {
  if (amountMinor > wallet.perTransactionMinor) return 'per_transaction_limit';
  if (wallet.daySpentMinor + amountMinor > wallet.dailyMinor) return 'daily_limit';
  return wallet.monthSpentMinor + amountMinor > wallet.monthlyMinor ? 'monthly_limit' : null;
}

export function spend(wallet: WalletRow, amountMinor: number): WalletRow {
  return { ...wallet, daySpentMinor: wallet.daySpentMinor + amountMinor, monthSpentMinor: wallet.monthSpentMinor + amountMinor };
}

/**
 * Subtracts an amount that was counted on `day` (or in a month, if its day no longer counts), as far as the sums contain it: after a change
 * of the time zone, it may have been counted on another day.
 */
export function unspend(wallet: WalletRow, amountMinor: number, day: string): WalletRow {
  if (monthOf(day) !== monthOf(wallet.spendDay)) return wallet;
  const daySpentMinor = Math.max(0, wallet.daySpentMinor - (day === wallet.spendDay ? amountMinor : 0));
  return { ...wallet, daySpentMinor, monthSpentMinor: Math.max(daySpentMinor, wallet.monthSpentMinor - amountMinor) };
}

/** The wallet with another time zone. */
export function inTimezone(wallet: WalletRow, timezone: string, nowMs: number): WalletRow {
  const before = { ...onDayOf(wallet, nowMs), timezone };
  const day = localDay(nowMs, timezone);
  if (day <= before.spendDay) return before;
  const isSameMonth = monthOf(day) === monthOf(before.spendDay);
  const renamed = (counted: string) =>
    counted === before.spendDay ? day : isSameMonth && monthOf(counted) === monthOf(day) ? monthOf(day) : '';
  const holds = Object.fromEntries(Object.entries(before.holds).map(([id, hold]) => [id, { ...hold, day: renamed(hold.day) }]));
  return { ...before, spendDay: day, monthSpentMinor: isSameMonth ? before.monthSpentMinor : before.daySpentMinor, holds };
}
