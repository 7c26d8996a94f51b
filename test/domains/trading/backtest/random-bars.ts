/** Seeded random walks of bars, for tests and benches: plausible prices, the same for the same seed. */
import type { BarColumns } from '../../../../src/domains/trading/bars.ts';

export type Walk = { seed: number; bars: number; startMs?: number; stepMs?: number; price?: number; volatility?: number };

const monday = Date.UTC(2024, 0, 1);

export function randomBars({ seed, bars, startMs = monday, stepMs = 86_400_000, price = 100, volatility = 0.02 }: Walk): BarColumns {
  const random = mulberry32(seed);
  const column = () => new Float64Array(bars);
  const columns = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  let last = price;
  for (let i = 0; i < bars; i++) {
    const open = cents(last * (1 + volatility * 0.3 * (random() - 0.5)));
    const close = cents(open * (1 + volatility * (random() - 0.498)));
    columns.time[i] = startMs + i * stepMs;
    columns.open[i] = open;
    columns.close[i] = close;
    columns.high[i] = cents(Math.max(open, close) * (1 + volatility * 0.2 * random()));
    columns.low[i] = cents(Math.min(open, close) * (1 - volatility * 0.2 * random()));
    columns.volume[i] = Math.floor(random() * 1e6);
    last = close;
  }
  return columns;
}

/** Times of a year of New York minutes: 252 days of 390 bars, without weekends. */
export function minuteTimes(days: number): Float64Array {
  const times = new Float64Array(days * 390);
  let day = monday;
  for (let d = 0, at = 0; d < days; d++) {
    while ([0, 6].includes(new Date(day).getUTCDay())) day += 86_400_000;
    for (let minute = 0; minute < 390; minute++) times[at++] = day + (14 * 60 + 30 + minute) * 60_000;
    day += 86_400_000;
  }
  return times;
}

export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const cents = (value: number) => Math.max(0.01, Math.round(value * 100) / 100);
