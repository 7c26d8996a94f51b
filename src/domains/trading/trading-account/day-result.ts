/**
 * The result of a book's day, and the blocks that follow from a loss: pure rules. The day of equities begins at the exchange's regular close, that of
 * crypto at 00:00 UTC. The worth of a class is the cash from its fills and dividends plus its positions; its result is this worth less the worth at the
 * beginning of the day. So a new account's base is its cash at opening, and deposits are no result.
 */
import { unrealised } from '../book.ts';
import { centsOfNano, centsOfProduct } from '../decimal.ts';
import { blockEndsMs, resultDayBeganMs } from '../market/calendar.ts';
import { type AssetClass, assetClasses, parseSymbol } from '../market/symbol.ts';
import { nanoIn } from '../orders/amounts.ts';
import { isLossBreach } from '../risk.ts';
import type { AccountBook } from './entity.ts';

/** The value of a unit of a holding of this quantity, in billionths; null: unknown, the holding counts at its cost. */
export type PriceOf = (symbol: string, quantity: bigint) => bigint | null;

/** A clock that was set back by more than this also begins a new day. */
const setBackMs = 3_600_000;

/** In units of 10^-18. */
export function dayResult(of: AccountBook, priceOf: PriceOf, classes: readonly AssetClass[] = assetClasses): bigint {
  return classes.reduce((sum, assetClass) => sum + worthOf(of, assetClass, priceOf) - BigInt(of.days[assetClass].base), 0n);
}

/**
 * The book after the beginning of new days.
 *
 * @param priceAt what a holding was worth when that day began
 */
export function onDayOf(of: AccountBook, marketMs: number, priceAt: (beganMs: number) => PriceOf): AccountBook {
  let { days } = of;
  for (const assetClass of assetClasses) {
    const beganMs = resultDayBeganMs(assetClass, marketMs);
    const day = days[assetClass];
    if (beganMs === day.beganMs || (beganMs < day.beganMs && marketMs > day.beganMs - setBackMs)) continue;
    days = { ...days, [assetClass]: { ...day, beganMs, base: String(worthOf(of, assetClass, priceAt(beganMs))) } };
  }
  return days === of.days ? of : { ...of, days };
}

/** The book without expired blocks. */
export function withoutOldBlocks(of: AccountBook, marketMs: number): AccountBook {
  const { equity, crypto } = of.blocked;
  const blocked = { equity: isBlocked(of, 'equity', marketMs) ? equity : null, crypto: isBlocked(of, 'crypto', marketMs) ? crypto : null };
  return blocked.equity === equity && blocked.crypto === crypto ? of : { ...of, blocked };
}

export function isBlocked({ blocked }: AccountBook, assetClass: AssetClass, marketMs: number): boolean {
  const until = blocked[assetClass];
  return until !== null && marketMs < until;
}

/**
 * The result that reaches the limit, in cents, and the blocks that follow; null: none. The whole result counts; while one class is still blocked, that of
 * the free class alone, so that one loss does not block it again.
 */
export function breachOf(
  of: AccountBook,
  dailyLossLimit: string,
  priceOf: PriceOf,
  marketMs: number,
): { cents: bigint; blocked: AccountBook['blocked'] } | null {
  const free = assetClasses.filter((assetClass) => !isBlocked(of, assetClass, marketMs));
  if (free.length === 0) return null;
  const cents = centsOfProduct(dayResult(of, priceOf, free));
  if (!isLossBreach(cents, centsOfNano(nanoIn(dailyLossLimit)))) return null;
  return { cents, blocked: { equity: blockEndsMs('equity', marketMs), crypto: blockEndsMs('crypto', marketMs) } };
}

/** The book with an unchanged worth of the class, though its holdings or their prices were replaced. */
export function keepingResult(before: AccountBook, after: AccountBook, priceOf: PriceOf): AccountBook {
  let { days } = after;
  for (const assetClass of assetClasses) {
    const gained = worthOf({ ...after, days }, assetClass, priceOf) - worthOf(before, assetClass, priceOf);
    const day = days[assetClass];
    if (gained !== 0n) days = { ...days, [assetClass]: { ...day, flow: String(BigInt(day.flow) - gained) } };
  }
  return { ...after, days };
}

function worthOf({ book, days }: AccountBook, assetClass: AssetClass, priceOf: PriceOf): bigint {
  let worth = BigInt(days[assetClass].flow);
  for (const [symbol, held] of Object.entries(book.positions)) {
    if (parseSymbol(symbol)?.assetClass !== assetClass) continue;
    const price = priceOf(symbol, nanoIn(held.quantity));
    worth += BigInt(held.cost) + (price === null ? 0n : unrealised(held, price));
  }
  return worth;
}
