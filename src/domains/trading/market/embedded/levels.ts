/**
 * The logarithm of each listing's price at the end of each day, before splits: a random walk that is built from the outside in. Between two points that
 * are known the middle one is their mean and a displacement hashed from its place, so any day of the century is found in some fifteen steps, and no
 * day depends on which others were asked for. Displacements over more than four years are damped, so that a century stays in sight of its beginning.
 *
 * Places are weekdays of equities and days of crypto, counted from the anchor, 2026-01-02. Holidays are places too: a closure that is added to the
 * calendar later moves no other day.
 */
import { type DayNumber, dayNumber } from '../calendar-rules.ts';
import type { AssetClass } from '../symbol.ts';
import { gaussian, hash, seedOf, uniform } from './random.ts';
import { feedVersion, type Listing } from './universe.ts';

const depth = 15;
const reach = 2 ** depth;
const blockDepth = 8;
const blockLength = 2 ** blockDepth;
const dampedFrom = 1000;
const maxBlocks = 2_048;

const anchor: Readonly<Record<AssetClass, number>> = { equity: weekdayPlace(dayNumber(2026, 1, 2)), crypto: dayNumber(2026, 1, 2) };
const common: Readonly<Record<AssetClass, { seed: number; sigma: number; drift: number }>> = {
  equity: { seed: seedOf(`${feedVersion}/common/equity`), sigma: 0.0085, drift: 0.00016 },
  crypto: { seed: seedOf(`${feedVersion}/common/crypto`), sigma: 0.02, drift: 0.00012 },
};

/** The logarithm of the price at the end of a day; for equities of a weekday. */
export function logLevel(listing: Listing, day: DayNumber): number {
  return level(listing, day, walk);
}

/** The same number for a single day: takes fifteen steps, where `logLevel` computes the 256 days around it. */
export function loneLogLevel(listing: Listing, day: DayNumber): number {
  return level(listing, day, loneWalk);
}

/** The deviation of the logarithm of a day's return, with the own and the common part. */
export function daySigma({ assetClass, sigma, beta }: Listing): number {
  return Math.sqrt(sigma * sigma + beta * beta * common[assetClass].sigma * common[assetClass].sigma);
}

/** Counts Mondays to Fridays; a weekend counts as the Monday after. */
function weekdayPlace(day: DayNumber): number {
  const week = Math.floor((day + 3) / 7);
  return week * 5 + Math.min(day + 3 - week * 7, 5);
}

type Walk = (seed: number, sigma: number, side: number, distance: number) => number;

function level({ seed, assetClass, sigma, beta, logPrice }: Listing, day: DayNumber, of: Walk): number {
  const place = (assetClass === 'equity' ? weekdayPlace(day) : day) - anchor[assetClass];
  const { seed: commonSeed, sigma: commonSigma, drift } = common[assetClass];
  const side = place < 0 ? 1 : 0;
  const distance = Math.abs(place);
  return logPrice + drift * place + beta * of(commonSeed, commonSigma, side, distance) + of(seed, sigma, side, distance);
}

/** By seed, side and number. */
const blocks = new Map<number, Float64Array>();

function walk(seed: number, sigma: number, side: number, distance: number): number {
  const block = Math.floor(distance / blockLength);
  return blockOf(seed, sigma, side, block)[distance - block * blockLength]!;
}

function loneWalk(seed: number, sigma: number, side: number, distance: number): number {
  const { low, high, node } = around(seed, sigma, side, distance, blockLength);
  let [from, to, left, right, at] = [distance - (distance % blockLength), 0, low, high, node];
  to = from + blockLength;
  while (to - from > 1) {
    const middle = (left + right) / 2 + displacement(seed, sigma, side, at, to - from);
    const isUpper = distance >= (from + to) / 2;
    if (isUpper) [from, left] = [(from + to) / 2, middle];
    else [to, right] = [(from + to) / 2, middle];
    at = at * 2 + (isUpper ? 1 : 0);
  }
  return left;
}

/** The points of 256 days and the first of the next ones. */
function blockOf(seed: number, sigma: number, side: number, block: number): Float64Array {
  const key = (seed * 2 + side) * 256 + block;
  let points = blocks.get(key);
  if (points === undefined) {
    points = makeBlock(seed, sigma, side, block);
    if (blocks.size >= maxBlocks) blocks.delete(blocks.keys().next().value!);
    blocks.set(key, points);
  }
  return points;
}

/** The two known ends of an interval of that length that contains a day, and the number of the interval among those of its length. */
function around(
  seed: number,
  sigma: number,
  side: number,
  distance: number,
  shortest: number,
): { low: number; high: number; node: number } {
  let low = 0;
  let high = sigma * Math.sqrt(reach / (1 + reach / dampedFrom)) * gaussian(seed, side);
  let node = 1;
  for (let length = reach; length > shortest; length /= 2) {
    const middle = (low + high) / 2 + displacement(seed, sigma, side, node, length);
    const isUpper = Math.floor(distance / (length / 2)) % 2 === 1;
    if (isUpper) low = middle;
    else high = middle;
    node = node * 2 + (isUpper ? 1 : 0);
  }
  return { low, high, node };
}

function makeBlock(seed: number, sigma: number, side: number, block: number): Float64Array {
  const { low, high, node } = around(seed, sigma, side, block * blockLength, blockLength);
  const points = new Float64Array(blockLength + 1);
  points[0] = low;
  points[blockLength] = high;
  for (let length = blockLength, first = node; length > 1; length /= 2, first *= 2) {
    for (let from = 0, n = first; from < blockLength; from += length, n++) {
      points[from + length / 2] = (points[from]! + points[from + length]!) / 2 + displacement(seed, sigma, side, n, length);
    }
  }
  return points;
}

/** Calm and volatile quarters, and rare jumps: the tails are fatter than those of a walk with one deviation. */
function displacement(seed: number, sigma: number, side: number, node: number, length: number): number {
  const place = hash(seed, node * 2 + side);
  const damping = Math.sqrt(1 + length / dampedFrom);
  const jump = uniform(place, 1) < 0.05 ? 2.4 : 0.85;
  const quarter = length > 64 ? 1 : 0.6 + uniform(hash(seed, 77), Math.floor((node * length) / 64) * 2 + side) * 0.8;
  return ((sigma * Math.sqrt(length)) / 2 / damping) * jump * quarter * gaussian(place, 2);
}
