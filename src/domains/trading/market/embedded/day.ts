/**
 * A day of a listing, from the outside in: first its open, high, low, close and volume, then minutes that lie within them and reach them, then seconds that
 * lie within their minute. So a longer bar is the fold of its shorter ones by construction, and a daily bar costs no minutes. All in whole ticks.
 */

import { sessionBefore, sessionOn } from '../calendar.ts';
import { type DayNumber, msPerDay } from '../calendar-rules.ts';
import { daySigma, logLevel } from './levels.ts';
import { exp, gaussian, hash, uniform } from './random.ts';
import { dividendTicks, paysDividendOn, splitFactor } from './splits.ts';
import type { Listing } from './universe.ts';

export type Range = { open: number; high: number; low: number; close: number; volume: number };
export type Day = Range & { day: DayNumber; openMs: number; minutes: number };

/** Minutes as columns; large enough for a day of crypto. */
export type Minutes = { open: Float64Array; high: Float64Array; low: Float64Array; close: Float64Array; volume: Float64Array };

const msPerMinute = 60_000;
const minutesOfUtcDay = 1_440;

/** Unadjusted, in the shares of that day. */
export function closeTicks(listing: Listing, day: DayNumber): number {
  return ticksAt(listing, day, splitFactor(listing, day));
}

/** null if the listing does not trade on that day. */
export function dayOf(listing: Listing, day: DayNumber): Day | null {
  const isCrypto = listing.assetClass === 'crypto';
  const session = isCrypto ? null : sessionOn(day);
  if (!isCrypto && session === null) return null;
  const before = isCrypto ? day - 1 : sessionBefore(day).day;
  const factor = splitFactor(listing, day);
  const from = ticksAt(listing, before, factor);
  const close = ticksAt(listing, day, factor);
  const seed = hash(listing.seed, day);
  const sigma = daySigma(listing);
  const open = isCrypto ? from : openingTicks(listing, day, before, from, close, seed);
  const [up, down] = [uniform(seed, 2), uniform(seed, 3)];
  const swing = Math.max(open, close) * sigma;
  const high = Math.max(open, close) + Math.floor(swing * (0.05 + 0.9 * up * up));
  const low = Math.max(listing.minTicks, Math.min(open, close) - Math.floor(swing * (0.05 + 0.9 * down * down)));
  const move = Math.min(4, Math.abs(close - from) / (from * sigma));
  const busy = (0.55 + 0.5 * uniform(seed, 4) + 0.3 * move) * factor * (session?.half ? 0.5 : 1);
  const volume = Math.max(1, Math.floor(listing.dayVolume * busy));
  const openMs = session?.openMs ?? day * msPerDay;
  const minutes = session === null ? minutesOfUtcDay : (session.closeMs - session.openMs) / msPerMinute;
  return { day, openMs, minutes, open, high, low, close, volume };
}

/** The close of a session in the shares of a later day; prices outside sessions begin with it. */
export function closeTicksIn(listing: Listing, session: DayNumber, sharesOf: DayNumber): number {
  return ticksAt(listing, session, splitFactor(listing, sharesOf));
}

/** Writes the day's minutes from `at` on. */
export function writeMinutes(listing: Listing, day: Day, out: Minutes, at: number): void {
  const { minutes, high, low, volume } = day;
  const seed = hash(hash(listing.seed, day.day), 5);
  writePath(seed, minutes + 1, day, points);
  const wick = ((high - low) * 0.9) / Math.sqrt(minutes);
  let weights = 0;
  for (let n = 0; n < minutes; n++) {
    weights += weightOf(listing, seed, n, minutes);
    weight[n] = weights;
  }
  let traded = 0;
  for (let n = 0; n < minutes; n++) {
    const from = points[n]!;
    const to = points[n + 1]!;
    const wicks = hash(seed, 10_000 + n);
    out.open[at + n] = from;
    out.close[at + n] = to;
    out.high[at + n] = Math.min(high, (from > to ? from : to) + Math.floor((wick * (wicks & 0xffff)) / 65_536));
    out.low[at + n] = Math.max(low, (from < to ? from : to) - Math.floor((wick * (wicks >>> 16)) / 65_536));
    const until = n === minutes - 1 ? volume : Math.floor((volume * weight[n]!) / weights);
    out.volume[at + n] = until - traded;
    traded = until;
  }
}

/** The last price in second `second` of minute `minute`, and what was traded in it. */
export function secondOf(listing: Listing, day: DayNumber, minute: number, range: Range, second: number): { last: number; volume: number } {
  writePath(hash(hash(hash(listing.seed, day), 6), minute), 60, range, points);
  const part = (n: number) => Math.floor((range.volume * n) / 60);
  return { last: points[second]!, volume: part(second + 1) - part(second) };
}

/** The point `at` of a walk of `length` steps from one price to the other, found from the outside in. */
export function betweenCloses(seed: number, length: number, at: number, from: number, to: number, swing: number): number {
  let [low, high, left, right, node] = [0, length, from, to, 1];
  while (high - low > 1 && at !== low) {
    const middle = (low + high) >> 1;
    const value = (left + right) / 2 + swing * Math.sqrt((high - low) / length) * 0.5 * gaussian(seed, node);
    const isUpper = at >= middle;
    if (isUpper) [low, left] = [middle, value];
    else [high, right] = [middle, value];
    node = Math.imul(node, 2) + (isUpper ? 1 : 0);
  }
  return left;
}

function ticksAt(listing: Listing, day: DayNumber, factor: number): number {
  return Math.max(listing.minTicks, Math.round((exp(logLevel(listing, day)) * listing.ticksPerUnit) / factor));
}

/** The gap between two sessions: a part of the day's move, a random part, and the dividend that is deducted from the price. */
function openingTicks(listing: Listing, day: DayNumber, before: DayNumber, from: number, close: number, seed: number): number {
  const surprise = 0.25 * daySigma(listing) * Math.sqrt(Math.min(4, day - before)) * gaussian(seed, 1);
  const gap = Math.round(from * (exp(surprise) - 1) + 0.3 * (close - from));
  const dividend = paysDividendOn(listing, day) ? dividendTicks(listing, from) : 0;
  return Math.max(listing.minTicks, from + gap - dividend);
}

const points = new Float64Array(minutesOfUtcDay + 1);
const weight = new Float64Array(minutesOfUtcDay);

/**
 * Volume is larger at the opening and before the close, with a random part in each minute; without that curve where trading never closes.
 */
function weightOf({ assetClass }: Listing, seed: number, minute: number, minutes: number): number {
  const chance = 0.4 + (hash(seed, 20_000 + minute) >>> 8) / 13_981_013;
  if (assetClass === 'crypto') return chance;
  const x = (2 * minute + 1) / minutes - 1;
  const opening = minute < 15 ? 2.5 / (1 + minute / 3) : 0;
  const closing = minutes - minute <= 5 ? 2 : 0;
  return chance * (0.55 + 1.35 * x * x + opening + closing);
}

/** Writes a random walk of `count` points from the open to the close, which stays within low and high and reaches both. */
function writePath(seed: number, count: number, { open, high, low, close }: Range, out: Float64Array): void {
  const last = count - 1;
  out[0] = open;
  out[last] = close;
  const needsHigh = high > open && high > close;
  const needsLow = low < open && low < close;
  // On a rising day the low tends to come first.
  const lowFirst = uniform(seed, 1) < (close >= open ? 0.75 : 0.25);
  const early = 1 + Math.floor(uniform(seed, 2) * (last - 2) * 0.6);
  const late = early + 1 + Math.floor(uniform(seed, 3) * (last - 1 - early));
  const highAt = needsHigh ? (lowFirst && needsLow ? late : early) : -1;
  const lowAt = needsLow ? (lowFirst || !needsHigh ? early : late) : -1;
  if (highAt !== -1) out[highAt] = high;
  if (lowAt !== -1) out[lowAt] = low;
  const swing = ((high - low) * 0.45) / Math.sqrt(last);
  let from = 0;
  for (const knot of [Math.min(highAt, lowAt), Math.max(highAt, lowAt), last]) {
    if (knot <= from) continue;
    fill(seed, from, knot, swing, low, high, out);
    from = knot;
  }
}

/** Displaces the middle, then both halves. Points outside the range are reflected at its edge. */
function fill(seed: number, from: number, to: number, swing: number, low: number, high: number, out: Float64Array): void {
  if (to - from < 2) return;
  const middle = (from + to) >> 1;
  let value = Math.round((out[from]! + out[to]!) / 2 + swing * Math.sqrt(to - from) * gaussian(seed, 100 + middle));
  if (value > high) value = Math.max(low, 2 * high - value);
  if (value < low) value = Math.min(high, 2 * low - value);
  out[middle] = value;
  fill(seed, from, middle, swing, low, high, out);
  fill(seed, middle, to, swing, low, high, out);
}
