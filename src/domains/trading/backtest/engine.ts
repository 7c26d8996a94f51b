/**
 * Simulates an account that follows target weights. The weights after a bar are orders for the open of the symbol's next bar:
 *
 * E1 A holding changes only where the target weight differs from the one before. Prices that drift are not corrected.
 * E2 Orders of one bar are sized together by the equity at its open, E = cash + Σ quantity · open (a symbol without a bar there counts at its last
 *    close), before any of them is filled. At most `divisor` symbols share the equity: a weight w is w/divisor of it.
 * E3 A fill is at open · (1 ± slippage), against the trader; the target quantity is w·E / (price · (1 + commission)). The traded quantity is
 *    the difference between the target and the quantity held. The commission on its notional is paid from cash.
 * E4 An order whose direction depends on slippage alone trades nothing; while E is not above 0, the target quantity is 0.
 * E5 Dividends are booked before the orders of their bar are sized: quantity held · amount, negative for a short position.
 * E6 The last bar's weights are ignored; positions that are open at the end are not sold.
 * E7 Equity after a bar is cash + Σ quantity · last close.
 *
 * Nothing that is computed for a bar reads a later one. The book of the sandbox (`guest-program.ts`) does the same operations in the same order, so
 * that equal weights give equal bits.
 */
import type { Market } from './market.ts';
import { type TradeColumns, TradeLog } from './trade-log.ts';

/** Part of every result; changes with every change of the arithmetic. */
export const engineVersion = '1';

export type Terms = {
  readonly initialCapital: number;
  readonly commissionBps: number;
  readonly slippageBps: number;
};

export type Simulation = {
  /** After each bar. */
  readonly equity: Float64Array;
  readonly trades: TradeColumns;
  /** Bars with a holding at their close. */
  readonly heldBars: number;
  /** Of all fills, buys and sells. */
  readonly tradedNotional: number;
  readonly commission: number;
};

const basisPoint = 10_000;

/**
 * @param weights one column for each symbol, from -1 to 1
 * @param divisor how many symbols share the equity
 */
export function simulate(market: Market, weights: readonly Float64Array[], divisor: number, terms: Terms): Simulation {
  const commission = terms.commissionBps / basisPoint;
  const slippage = terms.slippageBps / basisPoint;
  const symbols = market.columns.length;
  const bars = market.time.length;
  const opens = market.columns.map(({ open }) => open);
  const closes = market.columns.map(({ close }) => close);
  const { dividends } = market;
  const paysDividends = dividends.some((column) => column !== null);
  const log = new TradeLog(symbols);
  const equity = new Float64Array(bars);
  const quantities = new Float64Array(symbols);
  const lastCloses = new Float64Array(symbols);
  /** The weight that the holding was last sized for. */
  const sized = new Float64Array(symbols);
  let cash = terms.initialCapital;
  let heldBars = 0;
  let tradedNotional = 0;
  let commissions = 0;

  const [onlyWeights, onlyCloses] = symbols === 1 && !paysDividends ? [weights[0]!, closes[0]!] : [null, null];

  for (let t = 0; t < bars; t++) {
    if (t > 0) {
      for (let s = 0; paysDividends && s < symbols; s++) {
        const amount = dividends[s]?.[t] ?? 0;
        if (amount === 0 || quantities[s] === 0) continue;
        const paid = quantities[s]! * amount;
        cash += paid;
        log.receive(s, paid);
      }
      let equityAtOpen = Number.NaN;
      for (let s = 0; s < symbols; s++) {
        const weight = weights[s]![t - 1]!;
        if (weight === sized[s]) continue;
        const open = opens[s]![t]!;
        // NaN: no bar, the order waits.
        if (!(open > 0)) continue;
        if (Number.isNaN(equityAtOpen)) {
          equityAtOpen = cash;
          for (let o = 0; o < symbols; o++) {
            const price = opens[o]![t]!;
            equityAtOpen += quantities[o]! * (price > 0 ? price : lastCloses[o]!);
          }
        }
        sized[s] = weight;
        const held = quantities[s]!;
        const value = equityAtOpen > 0 ? (weight / divisor) * equityAtOpen : 0;
        const buys = value / (open * (1 + commission)) > held;
        const price = buys ? open * (1 + slippage) : open * (1 - slippage);
        const target = value === 0 ? 0 : value / (price * (1 + commission));
        const traded = target - held;
        if (buys ? !(traded > 0) : !(traded < 0)) continue;
        const notional = Math.abs(traded) * price;
        cash -= traded * price;
        cash -= notional * commission;
        tradedNotional += notional;
        commissions += notional * commission;
        quantities[s] = target;
        log.fill(s, t, held, target, price, commission);
      }
    }
    if (onlyWeights !== null) {
      // One symbol: from here to the next order nothing but the price changes.
      const weight = sized[0]!;
      const quantity = quantities[0]!;
      const from = t;
      do equity[t] = quantity === 0 ? cash : cash + quantity * onlyCloses[t]!;
      while (onlyWeights[t] === weight && ++t < bars);
      if (t === bars) t--;
      if (quantity !== 0) heldBars += t - from + 1;
      lastCloses[0] = onlyCloses[t]!;
      continue;
    }
    let value = cash;
    let holds = false;
    for (let s = 0; s < symbols; s++) {
      const close = closes[s]![t]!;
      if (close > 0) lastCloses[s] = close;
      const quantity = quantities[s]!;
      if (quantity === 0) continue;
      holds = true;
      value += quantity * lastCloses[s]!;
    }
    equity[t] = value;
    if (holds) heldBars++;
  }
  return { equity, trades: log.close(quantities, lastCloses), heldBars, tradedNotional, commission: commissions };
}
