/**
 * A second, simple and slow implementation of strategies and backtests, written from docs/trading.md without code of src: one object for
 * each bar, every window summed again, the book as a list of fills. Each symbol has its own bars; the common list of times is computed
 * here.
 */

export type RefBar = { time: number; open: number; high: number; low: number; close: number; volume: number };
export type RefSeries = { symbol: string; bars: RefBar[]; dividends: { timeMs: number; amount: number }[] };
export type RefTerms = { initialCapital: number; commissionBps: number; slippageBps: number };
export type RefFill = { time: number; symbol: string; quantity: number; price: number; commission: number };
export type RefTrade = { symbol: string; side: 'long' | 'short'; entry: number; exit: number | null; profit: number };
export type RefResult = {
  equity: { time: number; equity: number }[];
  fills: RefFill[];
  trades: RefTrade[];
  metrics: Record<string, number>;
};

export type RefStrategy =
  | { type: 'momentum'; lookback: number }
  | { type: 'mean_reversion'; lookback: number; z_entry: number; z_exit: number }
  | { type: 'arbitrage'; lookback: number; z_entry: number; z_exit: number };

function zScore(window: number[]): number {
  if (window.every((value) => value === window[0])) return 0;
  const mean = window.reduce((sum, value) => sum + value, 0) / window.length;
  const s = Math.sqrt(window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (window.length - 1));
  return s === 0 ? 0 : (window.at(-1)! - mean) / s;
}

/** For each symbol the weight after each of its bars, by time. */
export function refWeights(strategy: RefStrategy, series: RefSeries[]): Map<string, Map<number, number>> {
  if (strategy.type === 'arbitrage') {
    const [a, b] = series as [RefSeries, RefSeries];
    const pairs = a.bars.flatMap((bar) => {
      const other = b.bars.find(({ time }) => time === bar.time);
      return other === undefined ? [] : [{ time: bar.time, spread: Math.log(bar.close) - Math.log(other.close) }];
    });
    let side = 0; // the sign of z at entry
    const weightsA = new Map<number, number>();
    pairs.forEach(({ time }, t) => {
      if (t >= strategy.lookback - 1) {
        const z = zScore(pairs.slice(t - strategy.lookback + 1, t + 1).map(({ spread }) => spread));
        if (side !== 0 && (Math.abs(z) <= strategy.z_exit || Math.sign(z) === -side)) side = 0;
        if (side === 0 && z >= strategy.z_entry) side = 1;
        else if (side === 0 && z <= -strategy.z_entry) side = -1;
      }
      weightsA.set(time, -0.5 * side);
    });
    return new Map([
      [a.symbol, weightsA],
      [b.symbol, new Map([...weightsA].map(([time, weight]) => [time, -weight]))],
    ]);
  }
  return new Map(
    series.map(({ symbol, bars }) => {
      let held = 0;
      const weights = bars.map(({ time, close }, t): [number, number] => {
        if (strategy.type === 'momentum') return [time, t >= strategy.lookback && close > bars[t - strategy.lookback]!.close ? 1 : 0];
        if (t < strategy.lookback - 1) return [time, 0];
        const z = zScore(bars.slice(t - strategy.lookback + 1, t + 1).map((bar) => bar.close));
        if (held === 1 && z >= -strategy.z_exit) held = 0;
        if (held === -1 && z <= strategy.z_exit) held = 0;
        if (held === 0 && z <= -strategy.z_entry) held = 1;
        if (held === 0 && z >= strategy.z_entry) held = -1;
        return [time, held];
      });
      return [symbol, new Map(weights)];
    }),
  );
}

export function refBacktest(
  weights: Map<string, Map<number, number>>,
  series: RefSeries[],
  common: boolean,
  divisor: number,
  terms: RefTerms,
): RefResult {
  const every = [...new Set(series.flatMap(({ bars }) => bars.map(({ time }) => time)))].sort((a, b) => a - b);
  const has = (symbol: RefSeries, time: number) => symbol.bars.find((bar) => bar.time === time);
  const times = common ? every.filter((time) => series.every((symbol) => has(symbol, time))) : every;
  const c = terms.commissionBps / 10_000;
  const slip = terms.slippageBps / 10_000;
  const fills: RefFill[] = [];

  type Fill = RefFill & { after: number };
  const book = fills as Fill[];
  const state = new Map(series.map(({ symbol }) => [symbol, { order: null as number | null, last: 0, filled: 0 }]));
  let cash = terms.initialCapital;
  const equity: { time: number; equity: number }[] = [];
  let exposed = 0;
  /** With how many fills there were before each. */
  const paid: { symbol: string; at: number; cash: number }[] = [];

  for (const time of times) {
    // Dividends since the bar before, for what was held over its close.
    const before = equity.at(-1)?.time ?? Number.POSITIVE_INFINITY;
    for (const { symbol, dividends } of series)
      for (const { timeMs, amount } of dividends)
        if (timeMs > before && timeMs <= time) {
          cash += heldOf(book, symbol) * amount;
          paid.push({ symbol, at: book.length, cash: heldOf(book, symbol) * amount });
        }
    // The open: orders of earlier bars, sized by the equity at the open before any of them.
    const atOpen = series.reduce(
      (sum, symbol) => sum + heldOf(book, symbol.symbol) * (has(symbol, time)?.open ?? state.get(symbol.symbol)!.last),
      cash,
    );
    for (const symbol of series) {
      const own = state.get(symbol.symbol)!;
      const bar = has(symbol, time);
      if (bar === undefined || own.order === null) continue;
      const weight = own.order / divisor;
      own.order = null;
      const before = heldOf(book, symbol.symbol);
      const wanted = (price: number) => (weight === 0 || atOpen <= 0 ? 0 : (weight * atOpen) / (price * (1 + c)));
      const buy = wanted(bar.open) > before;
      const price = bar.open * (buy ? 1 + slip : 1 - slip);
      const quantity = wanted(price) - before;
      if (quantity === 0 || quantity > 0 !== buy) continue;
      const commission = Math.abs(quantity) * price * c;
      cash -= quantity * price + commission;
      book.push({ time, symbol: symbol.symbol, quantity, price, commission, after: wanted(price) });
    }
    // The close: marks, then decisions.
    for (const symbol of series) {
      const own = state.get(symbol.symbol)!;
      const bar = has(symbol, time);
      if (bar === undefined) continue;
      own.last = bar.close;
      const weight = weights.get(symbol.symbol)!.get(time) ?? own.filled;
      if (weight !== own.filled) own.order = weight;
      own.filled = weight;
    }
    equity.push({ time, equity: series.reduce((sum, { symbol }) => sum + heldOf(book, symbol) * state.get(symbol)!.last, cash) });
    if (series.some(({ symbol }) => heldOf(book, symbol) !== 0)) exposed++;
  }

  const trades = series.flatMap(({ symbol }) => {
    const own = book.flatMap((fill, i) => (fill.symbol === symbol ? [{ ...fill, i }] : []));
    const cashAt = paid.filter((each) => each.symbol === symbol);
    return roundTrips(symbol, own, state.get(symbol)!.last, cashAt);
  });
  return { equity, fills, trades, metrics: refMetrics(equity, fills, trades, exposed, terms.initialCapital) };
}

const heldOf = (fills: (RefFill & { after: number })[], symbol: string) => fills.findLast((fill) => fill.symbol === symbol)?.after ?? 0;

function roundTrips(
  symbol: string,
  fills: (RefFill & { after: number; i: number })[],
  last: number,
  paid: { at: number; cash: number }[],
): RefTrade[] {
  const trades: RefTrade[] = [];
  let open: RefTrade | null = null;
  let position = 0;
  let taken = 0;
  const takePaid = (until: number) => {
    for (; taken < paid.length && paid[taken]!.at <= until; taken++) if (open !== null) open.profit += paid[taken]!.cash;
  };
  for (const { time, quantity, price, commission, after, i } of fills) {
    takePaid(i);
    const flips = position * after < 0;
    const parts = flips ? [-position, after] : [quantity];
    for (const [n, part] of parts.entries()) {
      open ??= { symbol, side: part > 0 ? 'long' : 'short', entry: time, exit: null, profit: 0 };
      open.profit -= part * price + commission * (Math.abs(part) / Math.abs(flips ? after - position : quantity));
      const ends = flips ? n === 0 : after === 0;
      if (!ends) continue;
      open.exit = time;
      trades.push(open);
      open = null;
    }
    position = after;
  }
  takePaid(Number.POSITIVE_INFINITY);
  if (open !== null) trades.push({ ...(open as RefTrade), profit: (open as RefTrade).profit + position * last });
  return trades;
}

export function refPeriods(times: number[]): number {
  const days = new Map<string, number>();
  for (const time of times) {
    const day = new Date(time).toISOString().slice(0, 10);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  const weekends = [...days.keys()].some((day) => [0, 6].includes(new Date(day).getUTCDay()));
  const counts = [...days.values()].sort((a, b) => a - b);
  const middle = counts.length / 2;
  const median = Number.isInteger(middle) ? (counts[middle - 1]! + counts[middle]!) / 2 : counts[Math.floor(middle)]!;
  return (weekends ? 365 : 252) * median;
}

function refMetrics(
  curve: { time: number; equity: number }[],
  fills: RefFill[],
  trades: RefTrade[],
  exposed: number,
  initial: number,
): Record<string, number> {
  const periods = refPeriods(curve.map(({ time }) => time));
  const values = curve.map(({ equity }) => equity);
  const final = values.at(-1)!;
  const returns = values.slice(1).map((value, i) => value / values[i]! - 1);
  const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
  const deviation = Math.sqrt(returns.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (returns.length - 1));
  const withStart = [initial, ...values];
  const drawdown = Math.max(...withStart.map((value, i) => 1 - value / Math.max(...withStart.slice(0, i + 1))));
  const longest = Math.max(
    ...withStart.map((value, i) => {
      const peak = Math.max(...withStart.slice(0, i + 1));
      return value >= peak ? 0 : i - withStart.slice(0, i + 1).lastIndexOf(peak);
    }),
  );
  const notional = fills.reduce((sum, { quantity, price }) => sum + Math.abs(quantity) * price, 0);
  const wins = trades.filter(({ profit }) => profit > 0).length;
  return {
    cagr_pct: 100 * ((final / initial) ** (periods / values.length) - 1),
    sharpe: returns.length < 2 || deviation < 1e-13 ? 0 : (mean / deviation) * Math.sqrt(periods),
    max_drawdown_pct: 100 * drawdown,
    longest_drawdown_bars: longest,
    trades: trades.length,
    win_rate_pct: trades.length === 0 ? 0 : (100 * wins) / trades.length,
    exposure_pct: (100 * exposed) / values.length,
    turnover: notional / (values.reduce((sum, value) => sum + value, 0) / values.length),
  };
}
