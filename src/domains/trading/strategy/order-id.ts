/** Ids of the orders of runs. */
import { encodeTime } from 'ulid';
import { derivedId } from '../../../ids.ts';
import { tradingIds } from '../ids.ts';
import { barEndMs } from '../market/bars.ts';
import type { Timeframe } from '../market/port.ts';
import { parseSymbol } from '../market/symbol.ts';

/**
 * Deterministic for a bar of a strategy: after a crash or a repetition no bar leads to a second order. It contains the time of the
 * decision, so that lists show it in the right place.
 *
 * @param leg how many orders the symbol had on this bar before
 */
export function runOrderId(
  of: { accountId: string; strategyId: string; barMs: number; symbol: string; leg: number },
  decidedMs: number,
): string {
  const { accountId, strategyId, barMs, symbol, leg } = of;
  const derived = derivedId(tradingIds.order, accountId, strategyId, String(barMs), symbol, String(leg));
  const time = encodeTime(decidedMs).toLowerCase();
  const from = tradingIds.order.length;
  return derived.slice(0, from) + time + derived.slice(from + time.length);
}

/** When the bar that begins at `barMs` is complete. */
export function barEndOf(symbol: string, timeframe: Timeframe, barMs: number): number {
  return barEndMs(parseSymbol(symbol)!.assetClass, timeframe, barMs);
}
