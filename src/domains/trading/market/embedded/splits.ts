/**
 * Splits and dividends of the embedded feed's equities. As in reality, splits follow the price: at most one a year, reverse splits below a
 * few dollars and splits above many hundreds.
 */

import { firstDay, isoDate, lastDay, newYorkMidnightMs, parseDate, sessionAfter, sessionBefore } from '../calendar.ts';
import { type DayNumber, dayNumber, msPerDay } from '../calendar-rules.ts';
import type { CorporateAction } from '../port.ts';
import { loneLogLevel } from './levels.ts';
import { exp, hash, uniform } from './random.ts';
import type { Listing } from './universe.ts';

type Split = { day: DayNumber; ratio: number };
/** Shares that one share of the year 2000 has become, from `day` on, in units of those at the anchor: raw price = level / factor. */
type Step = { day: DayNumber; factor: number };

const anchorYear = 2026;
const lowestPrice = 5;
const usualPrice = 60;
const highestPrice = 600;
/** A reverse split. */
const tenForOne = 0.1;

const stepsOf = new Map<string, { splits: Split[]; steps: Step[] }>();

/** The divisor of the level on a day. */
export function splitFactor(listing: Listing, day: DayNumber): number {
  let factor = 1;
  for (const step of historyOf(listing).steps) {
    if (step.day > day) break;
    factor = step.factor;
  }
  return factor;
}

/** New shares for each old one between two days: the first day excluded, the last included. */
export function splitRatio(listing: Listing, after: DayNumber, until: DayNumber): number {
  return splitFactor(listing, until) / splitFactor(listing, after);
}

/** The ratio of the split that takes effect on that day; 1 if there is none. */
export function splitOn(listing: Listing, day: DayNumber): number {
  return historyOf(listing).splits.find((split) => split.day === day)?.ratio ?? 1;
}

/** Whether that day, a session, is an ex-dividend day. Never the day of a split. */
export function paysDividendOn(listing: Listing, day: DayNumber): boolean {
  if (listing.dividendYield === 0) return false;
  const date = new Date(day * msPerDay);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth() + 1;
  return month % 3 === hash(listing.seed, 301) % 3 && dividendDay(listing, year, month) === day && splitOn(listing, day) === 1;
}

/** In ticks, from the close of the previous session. */
export function dividendTicks({ dividendYield }: Listing, previousCloseTicks: number): number {
  return Math.max(1, Math.round((previousCloseTicks * dividendYield) / 4));
}

/** Effective from one day to the other, inclusive. @param closeTicksOf the raw close of a session */
export function actionsBetween(
  listing: Listing,
  first: DayNumber,
  last: DayNumber,
  closeTicksOf: (day: DayNumber) => number,
): CorporateAction[] {
  const { symbol, formerName } = listing;
  if (listing.assetClass === 'crypto') return [];
  const found: {
    day: DayNumber;
    rest: { type: 'split'; ratio: number } | { type: 'dividend'; amount: number } | { type: 'symbol_change'; from: string };
  }[] = [];
  for (const { day, ratio } of historyOf(listing).splits) found.push({ day, rest: { type: 'split', ratio } });
  const from = Math.max(first, firstDay);
  const to = Math.min(last, lastDay);
  for (let year = new Date(from * msPerDay).getUTCFullYear(); listing.dividendYield > 0 && dayNumber(year, 1, 1) <= to; year++) {
    for (let month = 1; month <= 12; month++) {
      const day = dividendDay(listing, year, month);
      if (!paysDividendOn(listing, day)) continue;
      const amount = dividendTicks(listing, closeTicksOf(sessionBefore(day).day)) / listing.ticksPerUnit;
      found.push({ day, rest: { type: 'dividend', amount } });
    }
  }
  if (formerName !== null) found.push({ day: parseDate(formerName.date)!, rest: { type: 'symbol_change', from: formerName.from } });
  return found
    .filter(({ day }) => day >= first && day <= last)
    .sort((a, b) => a.day - b.day)
    .map(({ day, rest }) => {
      const date = isoDate(day);
      return { id: `${rest.type}:${symbol}:${date}`, symbol, date, effectiveMs: newYorkMidnightMs(day), ...rest };
    });
}

/** The first session on or after a day of the month that the listing's seed determines. */
function dividendDay({ seed }: Listing, year: number, month: number): DayNumber {
  return sessionAfter(dayNumber(year, month, 4 + (hash(seed, 302) % 15))).day;
}

function historyOf(listing: Listing): { splits: Split[]; steps: Step[] } {
  let history = stepsOf.get(listing.symbol);
  if (history === undefined) {
    history = listing.assetClass === 'crypto' ? { splits: [], steps: [] } : makeHistory(listing);
    stepsOf.set(listing.symbol, history);
  }
  return history;
}

function makeHistory(listing: Listing): { splits: Split[]; steps: Step[] } {
  const dayIn = (year: number) => sessionAfter(dayNumber(year, 3 + (hash(listing.seed, 303) % 8), 20 + (hash(listing.seed, 304) % 7))).day;
  const priceOn = (day: DayNumber) => exp(loneLogLevel(listing, day));
  const highest = Math.max(highestPrice, 3 * exp(listing.logPrice));
  const lowest = Math.min(lowestPrice, exp(listing.logPrice) / 4);
  const ahead: Split[] = [];
  let factor = 1;
  for (let year = anchorYear; year <= 2100; year++) {
    const day = dayIn(year);
    const price = priceOn(day) / factor;
    const ratio = price > highest ? (ratios.find((each) => price / each < highest / 3) ?? 20) : price < lowest ? tenForOne : 1;
    if (ratio === 1) continue;
    ahead.push({ day, ratio });
    factor *= ratio;
  }
  const behind: Split[] = [];
  factor = 1;
  // Backwards in time: at a price that would be very low, the split had not happened yet.
  for (let year = anchorYear - 1; year >= 2000; year--) {
    const day = dayIn(year);
    const price = priceOn(day) / factor;
    const isSplit = price < 15 || (price < usualPrice * 3 && uniform(listing.seed, year) < 0.06);
    const allowed = ratios.filter((each) => price * each < highest);
    const ratio =
      price > 4 * highest
        ? tenForOne
        : isSplit && allowed.length > 0 && price > lowest
          ? allowed[hash(listing.seed, 3000 + year) % Math.min(3, allowed.length)]!
          : 1;
    if (ratio === 1) continue;
    behind.unshift({ day, ratio });
    factor /= ratio;
  }
  const splits = [...behind, ...ahead];
  const steps: Step[] = [{ day: Number.NEGATIVE_INFINITY, factor }];
  for (const { day, ratio } of splits) {
    factor *= ratio;
    steps.push({ day, factor });
  }
  return { splits, steps };
}

const ratios = [2, 3, 4, 5, 10, 20];
