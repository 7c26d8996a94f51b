/** The target weights of the built-in strategies after each bar: the deciders' results for the bars in order of time. */
import type { BuiltInStrategy } from '../strategy/config.ts';
import { Arbitrage, type Decider, MeanReversion, Momentum } from '../strategy/deciders.ts';
import type { Market } from './market.ts';

/** One column for each symbol. At a time without a bar of the symbol the weight stays. */
export function targetWeights(strategy: BuiltInStrategy, market: Market): Float64Array[] {
  if (strategy.type === 'arbitrage') return weightsOfPair(new Arbitrage(strategy.config), market);
  if (strategy.type === 'momentum') {
    const { config } = strategy;
    return market.columns.map(({ close }) =>
      market.complete ? momentumWeights(config.lookback, close) : weightsOf(new Momentum(config), close),
    );
  }
  return market.columns.map(({ close }) => weightsOf(new MeanReversion(strategy.config), close));
}

/** What `Momentum` decides if there is a bar at every time; it needs no window of its own then. */
function momentumWeights(lookback: number, close: Float64Array): Float64Array {
  const weights = new Float64Array(close.length);
  for (let t = lookback; t < close.length; t++) weights[t] = close[t]! > close[t - lookback]! ? 1 : 0;
  return weights;
}

function weightsOf(decider: Decider, close: Float64Array): Float64Array {
  const weights = new Float64Array(close.length);
  let weight = 0;
  for (let t = 0; t < close.length; t++) {
    const price = close[t]!;
    // NaN: no bar.
    if (price > 0) weight = decider.decide(price);
    weights[t] = weight;
  }
  return weights;
}

function weightsOfPair(decider: Arbitrage, { columns }: Market): Float64Array[] {
  const [a, b] = [columns[0]!.close, columns[1]!.close];
  const weights = [new Float64Array(a.length), new Float64Array(a.length)] as const;
  for (let t = 0; t < a.length; t++) {
    const weight = decider.decide(a[t]!, b[t]!);
    weights[0][t] = weight;
    weights[1][t] = weight === 0 ? 0 : -weight;
  }
  return [...weights];
}
