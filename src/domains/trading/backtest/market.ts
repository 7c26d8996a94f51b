/**
 * The bars of a backtest, aligned to one list of times. If all symbols have the same times, which is usual, their columns are used
 * unchanged; otherwise a symbol's columns have NaN at times without a bar of this symbol.
 */
import { type BarColumns, barFields, firstAtOrAfter, type Series } from '../bars.ts';

export type Market = {
  readonly symbols: readonly string[];
  readonly time: Float64Array;
  readonly columns: readonly BarColumns[];
  /** For each symbol the cash per share at each time, 0 where there is none; null: no dividend at any time. */
  readonly dividends: readonly (Float64Array | null)[];
  /** Whether every symbol has a bar at every time. */
  readonly complete: boolean;
};

/** All times that any symbol has. */
export function alignAll(series: readonly Series[]): Market {
  return sameTimes(series) ? unadjusted(series) : aligned(series, union(series.map(({ bars }) => bars.time)), false);
}

/** The times that all symbols have. */
export function alignCommon(series: readonly Series[]): Market {
  return sameTimes(series) ? unadjusted(series) : aligned(series, intersection(series.map(({ bars }) => bars.time)), true);
}

/** Rows `from` up to but not including `to`. */
export function cutMarket(market: Market, from: number, to: number): Market {
  const cut = (column: Float64Array) => column.subarray(from, to);
  const columns = market.columns.map((bars) => mapColumns(bars, cut));
  return { ...market, time: cut(market.time), columns, dividends: market.dividends.map((paid) => (paid === null ? null : cut(paid))) };
}

/** Bars in the market, all symbols together. */
export function countBars({ complete, time, columns }: Market): number {
  if (complete) return time.length * columns.length;
  let count = 0;
  for (const { close } of columns) for (let t = 0; t < close.length; t++) if (!Number.isNaN(close[t])) count++;
  return count;
}

function unadjusted(series: readonly Series[]): Market {
  const time = series[0]?.bars.time ?? new Float64Array(0);
  return { ...namesAndCash(series, time), time, columns: series.map(({ bars }) => bars), complete: true };
}

function aligned(series: readonly Series[], time: Float64Array, complete: boolean): Market {
  const columns = series.map(({ bars }) => {
    const rows = rowsAt(bars.time, time);
    return mapColumns(bars, (column) => Float64Array.from(rows, (row) => (row < 0 ? Number.NaN : column[row]!)));
  });
  return { ...namesAndCash(series, time), time, columns, complete };
}

/** A dividend is paid at its time, or at the next time in the list; dividends before the first or after the last time are ignored. */
function namesAndCash(series: readonly Series[], time: Float64Array): Pick<Market, 'symbols' | 'dividends'> {
  const dividends = series.map(({ dividends: paid = [] }) => {
    const column = new Float64Array(time.length);
    for (const { timeMs, amount } of paid) {
      const row = firstAtOrAfter(time, timeMs);
      if (row > 0 && row < time.length) column[row]! += amount;
    }
    return column.some((amount) => amount !== 0) ? column : null;
  });
  return { symbols: series.map(({ symbol }) => symbol), dividends };
}

function mapColumns(bars: BarColumns, change: (column: Float64Array) => Float64Array): BarColumns {
  return Object.fromEntries(barFields.map((field) => [field, change(bars[field])])) as BarColumns;
}

function sameTimes(series: readonly Series[]): boolean {
  const first = series[0]?.bars.time;
  return series.every(({ bars: { time } }) => time === first || (time.length === first!.length && time.every((ms, t) => ms === first![t])));
}

/** For each time its row, or -1. Both lists are in ascending order. */
function rowsAt(own: Float64Array, time: Float64Array): Int32Array {
  const rows = new Int32Array(time.length);
  let row = 0;
  for (let t = 0; t < time.length; t++) {
    while (row < own.length && own[row]! < time[t]!) row++;
    rows[t] = own[row] === time[t] ? row : -1;
  }
  return rows;
}

function union(times: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(times.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const time of times) {
    all.set(time, at);
    at += time.length;
  }
  all.sort();
  let kept = 0;
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[kept++] = all[i]!;
  return all.slice(0, kept);
}

function intersection(times: readonly Float64Array[]): Float64Array {
  const [first = new Float64Array(0), ...others] = times;
  return others.reduce((common, time) => {
    const rows = rowsAt(time, common);
    return common.filter((_, t) => rows[t]! >= 0);
  }, first);
}
