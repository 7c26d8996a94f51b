/**
 * The benchmark: the same money buys every symbol in equal shares with the first possible order, and holds them. The result equals that of
 * `simulate` for a weight of 1 after every bar, without reading the bars between.
 */
import type { Terms } from './engine.ts';
import type { Market } from './market.ts';

/** Equity after the last bar. */
export function buyAndHold({ time, columns, dividends }: Market, terms: Terms): number {
  const commission = terms.commissionBps / 10_000;
  const slippage = terms.slippageBps / 10_000;
  const quantities = columns.map(() => 0);
  let cash = terms.initialCapital;
  // An order is placed at a symbol's first bar and filled at its second.
  const second = columns.map(({ open }) => nextBar(open, nextBar(open, 0) + 1));
  let paidUntil = 0;
  /** Pays the dividends of the bars up to and including `last`. */
  const takeDividends = (last: number) => {
    dividends.forEach((column, s) => {
      if (column === null || quantities[s] === 0) return;
      for (let t = paidUntil + 1; t <= last; t++) cash += quantities[s]! * column[t]!;
    });
    paidUntil = last;
  };
  for (const t of [...new Set(second)].sort((a, b) => a - b)) {
    if (t >= time.length) continue;
    takeDividends(t);
    let equity = cash;
    columns.forEach((bars, o) => {
      if (quantities[o] !== 0) equity += quantities[o]! * (bars.open[t]! > 0 ? bars.open[t]! : lastBefore(bars.close, t));
    });
    columns.forEach(({ open }, s) => {
      if (second[s] !== t || !(equity > 0)) return;
      const price = open[t]! * (1 + slippage);
      const quantity = ((1 / columns.length) * equity) / (price * (1 + commission));
      quantities[s] = quantity;
      cash -= quantity * price;
      cash -= quantity * price * commission;
    });
  }
  takeDividends(time.length - 1);
  return columns.reduce(
    (value, { close }, s) => (quantities[s] === 0 ? value : value + quantities[s]! * lastBefore(close, close.length)),
    cash,
  );
}

function nextBar(open: Float64Array, from: number): number {
  let t = from;
  while (t < open.length && !(open[t]! > 0)) t++;
  return t;
}

function lastBefore(close: Float64Array, end: number): number {
  let t = end - 1;
  while (t >= 0 && !(close[t]! > 0)) t--;
  return t < 0 ? 0 : close[t]!;
}
