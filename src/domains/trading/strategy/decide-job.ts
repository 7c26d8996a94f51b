/** Decides for a run of a strategy, outside the event loop. A fault of the strategy is a result, not an error. */
import type { JobContext, JobFunction } from '../../../providers/compute/port.ts';
import { checkCode, customWeights } from '../backtest/custom.ts';
import type { Terms } from '../backtest/engine.ts';
import { BacktestFailed } from '../backtest/failed.ts';
import { loadBars } from '../backtest/load-bars.ts';
import { alignAll } from '../backtest/market.ts';
import { type BarColumns, cutBars, type Series } from '../bars.ts';
import { barEndMs } from '../market/bars.ts';
import { parseSymbol } from '../market/symbol.ts';
import type { Decided, DecideJobInput } from './decide-messages.ts';
import { liveWeights, type Seen } from './live-weights.ts';

type Decide = Extract<DecideJobInput, { task: 'decide' }>;

/** Costs in the book that code sees, the defaults of a backtest. */
const costs = { commissionBps: 0, slippageBps: 1 };
/** Code sees at most this many bars, all symbols together: the newest ones of a longer run. */
const maxBarsOfCode = 100_000;

const job: JobFunction<DecideJobInput, Decided> = async (input, context) => {
  try {
    if (input.task === 'decide') return await decide(input, context);
    await checkCode(input.code, context.openGuest);
    return { kind: 'checked' };
  } catch (error) {
    if (error instanceof BacktestFailed) return { kind: 'failed', error: error.message };
    throw error;
  }
};
export default job;

async function decide(input: Decide, context: JobContext): Promise<Decided> {
  const { strategy, timeframe, startedMs, seen } = input;
  const { series, daily } = await loadBars(input.bars, context.open);
  const isAfterStart = (symbol: string, timeMs: number) => barEndMs(parseSymbol(symbol)!.assetClass, timeframe, timeMs) > startedMs;
  if (strategy.type !== 'custom') {
    const found = liveWeights(strategy, series, seen, isAfterStart);
    return found === null ? { kind: 'no_bar' } : { kind: 'decided', ...found };
  }
  const { capital, warmUp } = input;
  const shown = series.map((each) => ({ ...each, bars: ofRun(each, warmUp, Math.floor(maxBarsOfCode / series.length), isAfterStart) }));
  const fresh = series.filter(({ symbol, bars: { time } }) => isFresh(symbol, time.at(-1), seen, isAfterStart));
  if (fresh.length === 0) return { kind: 'no_bar' };
  const market = alignAll(shown.filter(({ bars }) => bars.time.length > 0));
  const terms: Terms = { ...costs, initialCapital: capital };
  const { weights } = await customWeights({ code: strategy.config.code, market, daily, terms, openGuest: context.openGuest });
  const next: Seen = { ...seen };
  const decided: Record<string, number> = {};
  let barMs = 0;
  for (const { symbol, bars } of fresh) {
    const lastMs = bars.time.at(-1)!;
    next[symbol] = { lastMs, held: 0 };
    decided[symbol] = weights[market.symbols.indexOf(symbol)]!.at(-1)!;
    barMs = Math.max(barMs, lastMs);
  }
  return { kind: 'decided', barMs, weights: decided, seen: next };
}

function isFresh(
  symbol: string,
  lastMs: number | undefined,
  seen: Seen,
  isAfterStart: (symbol: string, timeMs: number) => boolean,
): boolean {
  if (lastMs === undefined) return false;
  const before = seen[symbol];
  return before === undefined ? isAfterStart(symbol, lastMs) : lastMs > before.lastMs;
}

/** The bars of the run, and those before it that the code sees. */
function ofRun(
  { symbol, bars }: Series,
  warmUp: number,
  maxBars: number,
  isAfterStart: (symbol: string, timeMs: number) => boolean,
): BarColumns {
  const { time } = bars;
  let first = time.length;
  while (first > 0 && isAfterStart(symbol, time[first - 1]!)) first--;
  const from = Math.max(0, first - warmUp, time.length - maxBars);
  return cutBars(bars, from, time.length);
}
