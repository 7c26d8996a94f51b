/** What is not added up (prices, balances, readings) in order of time: counters, first and last values, the largest steps. */
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, round } from '../figure-text.ts';
import { untrueReadings } from '../lone-spikes.ts';
import { isAttributeDate } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';
import { signed } from './rank.ts';
import { isRating } from './ratings.ts';
import type { Series } from './series.ts';

const maxSeries = 6;
const counterWords = new Set(
  'meter reading readings zählerstand zähler stand counter cumulative running odometer kumuliert mileage'.split(' '),
);
const minDays = 3;
/** Readings of a day whose mean is compared. */
const minReadings = 4;

/** First, last, change, and the largest steps of what is not added up: prices, balances, readings. */
export function levelFindings(table: ColumnsInMemory, dates: Float64Array, series: Series[]): Finding[] {
  const findings: Finding[] = [];
  const date = table.plans.find((plan) => plan.reads === 'date' && table.dates(plan) === dates)!;
  if (isAttributeDate(date.name, table.plans)) return [];
  for (const plan of table.quantities()) {
    // Answers of different people are not readings of one thing.
    if (plan.units.size > 1 || isRating(plan)) continue;
    const counter = has(nameTokens(plan.name), counterWords) || /(?:stand|reading)$/i.test(plan.name.trim());
    if (plan.role !== 'level' && !(plan.role === 'rate' && series.length <= maxSeries)) continue;
    const numbers = table.numbers(plan);
    const untrue = untrueReadings(plan, table);
    for (const { name, rows } of series.slice(0, maxSeries)) {
      const known = rows.filter((at) => !Number.isNaN(numbers[at]!) && !untrue.has(at));
      if (known.length < 4) continue;
      const whose = name === '' ? plan.name : `${name}: ${plan.name}`;
      const when = (at: number) => table.texts(date)[at]!;
      const [first, last] = [known[0]!, known.at(-1)!];
      const [from, to] = [numbers[first]!, numbers[last]!];
      const steps = known.slice(1).map((at, i) => ({ at, before: known[i]!, change: clean(numbers[at]! - numbers[known[i]!]!) }));
      const falls = steps.filter(({ change }) => change < 0);
      if (counter && falls.length <= Math.max(1, steps.length * 0.1)) {
        // After a mistaken low reading the next step is too large.
        const sound = steps.filter(({ change }, i) => change >= 0 && (steps[i - 1]?.change ?? 0) >= 0);
        const most = (sound.length > 0 ? sound : steps).toSorted((a, b) => b.change - a.change)[0]!;
        const least = sound.toSorted((a, b) => a.change - b.change)[0];
        findings.push({
          kind: 'counter',
          text: `${whose} is a counter: from ${exact(from)} (${when(first)}) to ${exact(to)} (${when(last)}), a difference of ${exact(clean(to - from))}, ${round((to - from) / steps.length)} a step on average; the largest step is ${exact(most.change)} (${when(most.before)} to ${when(most.at)})${least === undefined ? '' : `, the smallest ${exact(least.change)} (${when(least.before)} to ${when(least.at)})`}. Its readings are not added up.`,
        });
        for (const { at, before, change } of falls)
          findings.push({
            kind: 'counter_falls',
            text: `${whose} falls by ${exact(-change)} in ${table.rowName(at)} (${when(before)}: ${exact(numbers[before]!)}, ${when(at)}: ${exact(numbers[at]!)}); a counter does not fall, so this is a reset or a mistake.`,
          });
        continue;
      }
      const high = known.reduce((best, at) => (numbers[at]! > numbers[best]! ? at : best), first);
      const low = known.reduce((best, at) => (numbers[at]! < numbers[best]! ? at : best), first);
      const moved = steps
        .filter(({ before }) => numbers[before]! > 0)
        .map((step) => ({ ...step, share: step.change / numbers[step.before]! }));
      const [rise, fall] = [
        moved.reduce(
          pick((a, b) => a.share > b.share),
          undefined,
        ),
        moved.reduce(
          pick((a, b) => a.share < b.share),
          undefined,
        ),
      ];
      const sharp =
        /price|close|kurs|preis|open|(?<![a-z])rate/i.test(plan.name) &&
        rise !== undefined &&
        fall !== undefined &&
        rise.share > 0 &&
        fall.share < 0
          ? ` The largest rise between neighbours is ${signed(rise.share)} (${when(rise.at)}), the largest fall ${signed(fall.share)} (${when(fall.at)}).`
          : '';
      if (numbers[high] === numbers[low]) continue;
      findings.push({
        kind: 'level',
        text: `${whose} ${dailyMeans(known, dates, numbers) ?? `goes from ${exact(from)} (${when(first)}) to ${exact(to)} (${when(last)})${changed(from, to)}`}; highest ${exact(numbers[high]!)} (${when(high)}), lowest ${exact(numbers[low]!)} (${when(low)}).${sharp}`,
      });
    }
  }
  return findings.slice(0, 14);
}

/** Of several readings a day: the means of the first and the last day, which compare better than two single readings. */
function dailyMeans(rows: readonly number[], dates: Float64Array, numbers: Float64Array): string | null {
  const days = Map.groupBy(rows, (at) => new Date(dates[at]!).toISOString().slice(0, 10));
  const ordered = [...days].toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
  const [first, last] = [ordered[0]!, ordered.at(-1)!];
  if (ordered.length < minDays || first[1].length < minReadings || last[1].length < minReadings) return null;
  const [from, to] = [first, last].map(([, own]) => own.reduce((sum, at) => sum + numbers[at]!, 0) / own.length) as [number, number];
  return `has a mean of ${round(from)} on ${first[0]} and of ${round(to)} on ${last[0]}, the first and the last day${changed(from, to)}`;
}

function changed(from: number, to: number): string {
  return from > 0 ? ` (${signed((to - from) / from)})` : '';
}

function pick<T>(better: (a: T, b: T) => boolean): (best: T | undefined, each: T) => T {
  return (best, each) => (best === undefined || better(each, best) ? each : best);
}
