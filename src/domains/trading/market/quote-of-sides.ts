/** Makes a quote from the two sides that a broker reports for a symbol. */
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { fromNano, roundedToNano } from '../decimal.ts';
import { type MarketHours, sessionState } from './calendar.ts';
import type { Quote } from './port.ts';
import { type Instrument, onTick, tickOf } from './symbol.ts';

/** The best price of each side; 0: there is no offer. `atMs` is NaN if the broker gives no time. */
export type Sides = { bid: number; ask: number; bidSize: number; askSize: number; atMs: number };

/**
 * `last` is the middle, rounded to the tick; `volume` is the sum of both sizes. A side without an offer takes the price of the other, and
 * nothing can trade. Throws `unavailable` if there is no price or no time.
 */
export function quoteOfSides(instrument: Instrument, sides: Sides, { clock, hours }: { clock: Clock; hours: MarketHours }): Quote {
  const { bidSize, askSize, atMs } = sides;
  const hasBoth = sides.bid > 0 && sides.ask > 0;
  const [bid, ask] = [sides.bid || sides.ask, sides.ask || sides.bid];
  if (!Number.isFinite(atMs) || bid === 0) throw new AppError('unavailable', 'The broker gave a quote without price or time');
  const middle = onTick(instrument, (roundedToNano(bid) + roundedToNano(ask)) / 2n);
  return {
    ...instrument,
    bid,
    ask,
    last: fromNano(middle),
    volume: hasBoth ? fromNano(roundedToNano(bidSize + askSize)) : 0,
    atMs,
    ...sessionState(instrument.assetClass, hours, clock.nowMs()),
    tick: fromNano(tickOf(instrument, middle)),
    source: 'broker',
    sequence: atMs * 1_000,
  };
}
