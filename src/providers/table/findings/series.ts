/** Rows in time: gaps between the first and the last, their order, constant values, days of the week. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { exact, listed, round, rowList } from '../figure-text.ts';
import { isGroupLimit, trendPlan } from '../plan-figures.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { differencesOf } from './differences.ts';
import { levelFindings } from './levels.ts';
import { stuckFindings } from './stuck.ts';
import { weekdayFindings, weekdays } from './weekday.ts';

const maxRepeated = 4;
const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minTimes = 6;
const regularShare = 0.6;
const gapsNamed = 6;
const maxSeries = 50;
const maxSeriesReported = 6;

/** Rows of one thing (a sensor, a share) in order of time. */
export type Series = { name: string; rows: number[] };

/** @param counted the rows that figures rest on; gaps and repeated times are those of all rows */
export function seriesFindings(table: ColumnsInMemory, counted: ColumnsInMemory, profile: TableProfile): Finding[] {
  const trend = trendPlan({ columns: [...table.plans], rows: table.count, columnCount: 0, ragged: { count: 0, first: [] }, warnings: [] });
  if (trend === null || table.count < 4) return stuckFindings(table, wholeTable(table));
  const dates = table.dates(trend.plan);
  const series = seriesOf(table, dates);
  return [
    ...gapFindings(table, trend.plan, dates, series, profile),
    ...orderFindings(table, trend.plan, dates, series ?? []),
    ...stuckFindings(table, series ?? []),
    ...levelFindings(table, dates, series ?? []),
    ...weekdayFindings(counted, counted.dates(trend.plan)),
  ];
}

/** The series of the table; the whole table as one if it has no times. */
export function seriesIn(table: ColumnsInMemory): Series[] {
  const trend = trendPlan({ columns: [...table.plans], rows: table.count, columnCount: 0, ragged: { count: 0, first: [] }, warnings: [] });
  return trend === null || table.count < 4 ? wholeTable(table) : (seriesOf(table, table.dates(trend.plan)) ?? []);
}

function wholeTable(table: ColumnsInMemory): Series[] {
  return [{ name: '', rows: [...table.rows.cells.keys()] }];
}

/** One series if times are (nearly) unique; one per group if they are unique within the groups; null if rows share times at random. */
function seriesOf(table: ColumnsInMemory, dates: Float64Array): Series[] | null {
  const rows = [...dates.keys()].filter((at) => !Number.isNaN(dates[at]!)).sort((a, b) => dates[a]! - dates[b]! || a - b);
  const distinct = new Set(rows.map((at) => dates[at]!)).size;
  if (rows.length < 4) return null;
  if (distinct >= rows.length * 0.9) return [{ name: '', rows }];
  const groups = table.plans.filter(
    ({ reads, type, values, filled }) =>
      reads === 'text' &&
      type !== 'empty' &&
      filled === table.count &&
      values.distinct >= 2 &&
      values.distinct <= Math.min(maxSeries, filled / 3) &&
      isGroupLimit(values.distinct),
  );
  for (const plan of groups) {
    const texts = table.texts(plan);
    const pairs = new Set(rows.map((at) => `${texts[at]}\u0000${dates[at]}`)).size;
    if (pairs < rows.length * 0.95) continue;
    const byName = new Map<string, number[]>();
    for (const at of rows) {
      const own = byName.get(texts[at]!);
      if (own === undefined) byName.set(texts[at]!, [at]);
      else own.push(at);
    }
    // A few rows that share a day are not a series: each series must cover most of the times.
    if ([...byName.values()].some((own) => own.length < distinct * 0.5)) continue;
    return [...byName].map(([name, own]) => ({ name, rows: own }));
  }
  return null;
}

function gapFindings(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  dates: Float64Array,
  series: Series[] | null,
  profile: TableProfile,
): Finding[] {
  const findings: Finding[] = [];
  let reported = 0;
  for (const { name, rows } of series ?? [{ name: '', rows: [...dates.keys()].filter((at) => !Number.isNaN(dates[at]!)) }]) {
    const times = [...new Set(rows.map((at) => (series === null ? Math.floor(dates[at]! / dayMs) * dayMs : dates[at]!)))].sort(
      (a, b) => a - b,
    );
    const whose = name === '' ? '' : `${name}: `;
    const gaps = times.length < minTimes ? null : missingTimes(times);
    if (gaps !== null && reported++ < maxSeriesReported) {
      if (series === null && isByChance(rows.length, times.length, gaps.missing))
        findings.push({
          kind: 'no_gaps',
          text: `${plan.name} is on ${exact(times.length)} of ${exact(times.length + gaps.missing)} days.`,
        });
      else if (gaps.missing > 0)
        findings.push({
          kind: 'gaps',
          text: `${whose}${plan.name} goes on ${gaps.step}, but ${exact(gaps.missing)} of ${exact(times.length + gaps.missing)} ${gaps.missing === 1 ? 'is' : 'are'} missing: ${listed(gaps.spans, gapsNamed)}.`,
        });
      else if (
        series !== null &&
        series.length > 1 &&
        name === series.at(-1)!.name &&
        isFull(series, dates) &&
        !findings.some(({ kind }) => kind === 'gaps')
      )
        findings.push({ kind: 'no_gaps', text: `${plan.name} goes on ${gaps.step} without a gap.` });
      else if (name === '' && series !== null) findings.push({ kind: 'no_gaps', text: `${plan.name} goes on ${gaps.step} without a gap.` });
    }
    const twice = series === null ? [] : repeatedTimes(rows, dates);
    if (twice.length > 0 && twice.length <= rows.length * 0.1)
      findings.push({
        kind: 'repeated_times',
        text: `${whose}${plan.name} comes more than once for ${listed(twice.slice(0, maxRepeated).map((repeated) => `${table.texts(plan)[repeated[0]!]} (${rowList(repeated.map((at) => table.row(at)))}${differencesOf(table, repeated)})`))}${twice.length > maxRepeated ? ' and more' : ''}.`,
      });
  }
  if (findings.some(({ kind }) => kind === 'gaps')) return findings;
  const months = profile.trend?.period === 'month' ? missingMonths(profile.trend.points.map(({ period }) => period)) : [];
  if (months.length > 0) findings.push({ kind: 'gaps', text: `No row has a ${plan.name} in ${listed(months, 12)}.` });
  return findings;
}

/** Events that fall on their days by chance leave about this many days without one, so that no row is missing. */
function isByChance(rows: number, days: number, missing: number): boolean {
  const all = days + missing;
  const expected = all * Math.exp(-rows / all);
  return missing > 0 && missing <= expected + 2 * Math.sqrt(expected);
}

/** The steps that are missing in times that mostly keep one step; null where they keep none. */
function missingTimes(times: number[]): { step: string; missing: number; spans: string[] } | null {
  const monthly =
    times.every((ms) => new Date(ms).getUTCDate() === new Date(times[0]!).getUTCDate()) && times.at(-1)! - times[0]! > 80 * dayMs;
  if (monthly) {
    const numbers = times.map((ms) => new Date(ms).getUTCFullYear() * 12 + new Date(ms).getUTCMonth());
    const step = modeOf(differences(numbers));
    if (step === null || (step.value !== 1 && step.value !== 3 && step.value !== 12)) return null;
    const have = new Set(numbers);
    const missing: string[] = [];
    for (let n = numbers[0]!; n < numbers.at(-1)!; n += step.value)
      if (!have.has(n)) missing.push(`${Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}`);
    return missing.length > numbers.length
      ? null
      : {
          step: step.value === 1 ? 'month by month' : step.value === 3 ? 'quarter by quarter' : 'year by year',
          missing: missing.length,
          spans: missing,
        };
  }
  const step = modeOf(differences(times));
  if (step === null || step.share < regularShare) return null;
  // Steps that differ a little, such as 12 and 13 days, are no rhythm.
  if (differences(times).some((each) => Math.abs(each / step.value - Math.round(each / step.value)) > 0.02)) return null;
  const idle = step.value === dayMs ? idleWeekdays(times) : new Set<number>();
  const night = step.value <= hourMs ? idleHours(times) : new Set<number>();
  const spans: string[] = [];
  let missing = 0;
  for (let i = 1; i < times.length; i++) {
    const count = Math.round((times[i]! - times[i - 1]!) / step.value) - 1;
    if (count < 1) continue;
    const lost: number[] = [];
    for (let n = 1; n <= Math.min(count, 10_000); n++) {
      const ms = times[i - 1]! + n * step.value;
      if (!idle.has(new Date(ms).getUTCDay()) && !night.has(new Date(ms).getUTCHours())) lost.push(ms);
    }
    if (lost.length === 0) continue;
    missing += lost.length;
    const [first, last] = [timeText(lost[0]!, step.value), timeText(lost.at(-1)!, step.value)];
    spans.push(lost.length === 1 ? first : `${first} to ${last} (${lost.length})`);
  }
  if (missing > times.length) return null;
  const days =
    idle.size > 0
      ? ` (never on ${listed([...idle].map((each) => weekdays[each]!))})`
      : night.size > 0
        ? ' (but for hours that no day has)'
        : '';
  return { step: `${stepText(step.value)}${days}`, missing, spans };
}

/** Every series has every time. */
function isFull(series: readonly Series[], dates: Float64Array): boolean {
  const all = new Set(series.flatMap(({ rows }) => rows.map((at) => dates[at]!)));
  return series.every(({ rows }) => new Set(rows.map((at) => dates[at]!)).size === all.size);
}

/** Hours of the day in which nothing is ever written, over three days or more: a plant that makes nothing at night. */
function idleHours(times: number[]): Set<number> {
  if (times.at(-1)! - times[0]! < 2 * dayMs) return new Set();
  const seen = new Set(times.map((ms) => new Date(ms).getUTCHours()));
  return new Set(Array.from({ length: 24 }, (_, hour) => hour).filter((hour) => !seen.has(hour)));
}

/** Days of the week on which nothing ever happens, in two weeks or more. */
function idleWeekdays(times: number[]): Set<number> {
  if (times.at(-1)! - times[0]! < 13 * dayMs) return new Set();
  const seen = new Set(times.map((ms) => new Date(ms).getUTCDay()));
  return new Set([0, 1, 2, 3, 4, 5, 6].filter((each) => !seen.has(each)));
}

function missingMonths(periods: string[]): string[] {
  if (periods.length < 3) return [];
  const numbers = periods.map((period) => Number(period.slice(0, 4)) * 12 + Number(period.slice(5, 7)) - 1);
  const have = new Set(numbers);
  const missing: string[] = [];
  for (let n = numbers[0]!; n < numbers.at(-1)!; n++)
    if (!have.has(n)) missing.push(`${Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}`);
  return missing.length > numbers.length ? [] : missing;
}

function repeatedTimes(rows: number[], dates: Float64Array): number[][] {
  const found: number[][] = [];
  for (const [i, at] of rows.entries()) {
    if (i === 0 || dates[at] !== dates[rows[i - 1]!]) continue;
    const last = found.at(-1);
    if (last !== undefined && last.at(-1) === rows[i - 1]) last.push(at);
    else found.push([rows[i - 1]!, at]);
  }
  return found;
}

function orderFindings(table: ColumnsInMemory, plan: ColumnPlan, dates: Float64Array, series: readonly Series[]): Finding[] {
  const seriesOfRow = new Map(series.flatMap(({ name, rows }) => rows.map((at) => [at, name])));
  const dated = [...dates.keys()].filter((at) => !Number.isNaN(dates[at]!));
  const seriesAt = (i: number) => seriesOfRow.get(dated[i]!);
  const falls: number[] = [];
  let rises = 0;
  for (let i = 1; i < dated.length; i++) {
    const change = dates[dated[i]!]! - dates[dated[i - 1]!]!;
    // Each series may have a block of rows of its own, or several.
    const beginsBlock = seriesAt(i) !== seriesAt(i - 1) && seriesAt(i) === seriesAt(i + 1);
    if (change < 0 && !beginsBlock) falls.push(dated[i]!);
    if (change > 0) rises++;
  }
  if (falls.length === 0 || falls.length > Math.max(1, rises * 0.1)) return [];
  return [
    {
      kind: 'order',
      text: `The rows are in order of ${plan.name} but for ${rowList(
        falls.map((at) => table.row(at)),
        5,
      )}, which ${falls.length === 1 ? 'goes' : 'go'} back in time.`,
    },
  ];
}

function differences(numbers: number[]): number[] {
  return numbers.slice(1).map((each, i) => each - numbers[i]!);
}

function modeOf(values: number[]): { value: number; share: number } | null {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let best: { value: number; share: number } | null = null;
  for (const [value, count] of counts)
    if (best === null || count / values.length > best.share) best = { value, share: count / values.length };
  return best;
}

function stepText(ms: number): string {
  if (ms === dayMs) return 'day by day';
  if (ms === 7 * dayMs) return 'week by week';
  if (ms % dayMs === 0) return `every ${ms / dayMs} days`;
  if (ms === 3_600_000) return 'hour by hour';
  if (ms % 3_600_000 === 0) return `every ${ms / 3_600_000} hours`;
  return ms % 60_000 === 0 ? `every ${ms / 60_000 === 1 ? 'minute' : `${ms / 60_000} minutes`}` : `every ${round(ms / 1000)} seconds`;
}

function timeText(ms: number, step: number): string {
  const text = new Date(ms).toISOString();
  return step % dayMs === 0 && ms % dayMs === 0
    ? text.slice(0, 10)
    : `${text.slice(0, 10)} ${text.slice(11, step % 60_000 === 0 ? 16 : 19)}`;
}
