/** Reads or generates the bars of a backtest, in the process that computes it. */
import type { JobContext } from '../../../providers/compute/port.ts';
import { dataHash, type Series } from '../bars.ts';
import { dividendsOf } from '../market/bars.ts';
import { BarsFileFault, readBarsCsv } from '../market/csv.ts';
import { embeddedActions, embeddedBars } from '../market/embedded-feed.ts';
import type { Timeframe } from '../market/port.ts';
import { BacktestFailed } from './failed.ts';
import type { BarsFrom, DataFacts } from './job-messages.ts';
import { backtestLimits } from './run.ts';

export type LoadedBars = { series: readonly Series[]; daily: boolean; facts: DataFacts };

/** Throws `BacktestFailed` with the reason if bars are not available, and the errors of the source. */
export async function loadBars(from: BarsFrom, open: JobContext['open']): Promise<LoadedBars> {
  const { series, timeframe, daily } = await seriesOf(from, open);
  return { series, daily, facts: { data_source: from.kind, data_hash: dataHash(series), timeframe } };
}

type Found = { series: readonly Series[]; timeframe: Timeframe | null; daily: boolean };

async function seriesOf(from: BarsFrom, open: JobContext['open']): Promise<Found> {
  if (from.kind === 'columns') return { series: from.series, timeframe: from.daily ? '1d' : null, daily: from.daily };
  if (from.kind === 'embedded') return embeddedSeries(from);
  const series: Series[] = [];
  let timeframe: Timeframe | null = null;
  for (const { symbol, assetClass } of from.files) {
    const { start, end } = from;
    try {
      const bars = await readBarsCsv(await open(), { symbol, assetClass, start, end, timeframe: from.timeframe });
      if (timeframe !== null && (timeframe === '1d') !== (bars.timeframe === '1d'))
        throw new BacktestFailed('one file has bars of days, and the other shorter ones');
      timeframe = bars.timeframe;
      series.push({ symbol, bars: bars.bars });
    } catch (error) {
      if (!(error instanceof BarsFileFault)) throw error;
      throw new BacktestFailed(from.files.length === 1 ? error.message : `${symbol}: ${error.message}`);
    }
  }
  return { series, timeframe, daily: timeframe === '1d' };
}

function embeddedSeries({ symbols, timeframe, start, end, nowMs }: Extract<BarsFrom, { kind: 'embedded' }>): Found {
  const daily = timeframe === '1d';
  let remainingBars: number = backtestLimits.bars;
  const series = symbols.map((symbol): Series => {
    const found = embeddedBars({ symbol, timeframe, start, end, adjusted: true }, nowMs);
    if (found === null) throw new BacktestFailed(`the market data has no symbol ${symbol}`);
    remainingBars -= found.bars.time.length;
    if (remainingBars < 0) throw new BacktestFailed(`the symbols have more than ${backtestLimits.bars} bars in the period`);
    const actions = embeddedActions(symbol, start, end) ?? [];
    return { symbol, bars: found.bars, dividends: dividendsOf(actions, { daily, adjusted: true, nowMs }) };
  });
  return { series, timeframe, daily };
}
