/** Times of events: by hour of the day, by day if the trend is hourly, by day of the week. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent, round, rowList } from '../figure-text.ts';
import { leadingMeasure, unitColumns } from '../plan-figures.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { busyHours } from './busy-hours.ts';
import { durationsOf } from './durations.ts';
import { outlierRows } from './outliers.ts';
import { weekdays } from './weekday.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minRows = 8;
const farNamed = 3;
const hoursNamed = 6;
const maxDays = 14;
const minWeekdays = 14;
const mostOfDay = 0.4;
const minWeekdayRows = 20;
const maxMs = 3 * 366 * dayMs;
/** Durations written as 0:45 are not times of day. */
const lengths = new Set(
  'duration dauer length hours stunden worked spent break pause took elapsed runtime laufzeit zeitaufwand lap result'.split(' '),
);

export function timeFindings(table: ColumnsInMemory, profile: TableProfile): Finding[] {
  if (table.count < minRows) return [];
  const trend = table.plans.find(({ name, reads, dateDoubt }) => name === profile.trend?.date_column && reads === 'date' && !dateDoubt);
  const measure = leadingMeasure(table.plans);
  const durations = durationsOf(table).map(({ plan }) => plan);
  const clock = table.plans.find(
    (plan) => plan.reads === 'text' && !has(nameTokens(plan.name), lengths) && !durations.includes(plan) && isClock(table.texts(plan)),
  );
  const hours = trend?.timed === true ? hoursOf(table.dates(trend)) : clock === undefined ? null : clockHours(table.texts(clock));
  return [
    ...(hours === null ? [] : byHour(table, profile, trend?.timed === true ? trend.name : clock!.name, hours, measure ?? levelled(table))),
    ...(hours === null || trend === undefined || measure === undefined ? [] : busyHours(table, trend, hours, measure)),
    ...(trend === undefined ? [] : [...byDay(table, trend, measure), ...byWeekday(table, trend, measure)]),
  ];
}

/** Hours of the day in UTC; empty if all times are midnight. */
function hoursOf(dates: Float64Array): (number | null)[] | null {
  const hours = Array.from(dates, (ms) => (Number.isNaN(ms) ? null : Math.floor((((ms % dayMs) + dayMs) % dayMs) / hourMs)));
  return hours.every((hour) => hour === null || hour === 0) ? null : hours;
}

function clockHours(texts: readonly string[]): (number | null)[] {
  return texts.map((text) => (clockText(text) ? Number(text.slice(0, text.indexOf(':'))) : null));
}

function byHour(
  table: ColumnsInMemory,
  profile: TableProfile,
  name: string,
  hours: readonly (number | null)[],
  measure: ColumnPlan | undefined,
): Finding[] {
  const counts = new Map<number, { rows: number; known: number; sum: number }>();
  const numbers = measure === undefined ? null : table.numbers(measure);
  for (const [at, hour] of hours.entries()) {
    if (hour === null) continue;
    const own = counts.get(hour) ?? { rows: 0, known: 0, sum: 0 };
    counts.set(hour, own);
    own.rows++;
    if (numbers === null || Number.isNaN(numbers[at]!)) continue;
    own.known++;
    own.sum += numbers[at]!;
  }
  if (counts.size < 3) return [];
  const counted = [...counts.values()].reduce((sum, { rows }) => sum + rows, 0);
  const inOrder = [...counts].toSorted((a, b) => a[0] - b[0]);
  const ranked = inOrder.toSorted((a, b) => b[1].rows - a[1].rows);
  // Readings at fixed times are equally frequent in every hour.
  const even = ranked[0]![1].rows < ranked.at(-1)![1].rows * 1.8;
  const most = ranked.filter(([, { rows }]) => rows === ranked[0]![1].rows);
  const peak =
    most.length > 5
      ? ''
      : ` Most rows fall in the hour from ${most.map(([hour]) => label(hour)).join(' and ')} (${exact(ranked[0]![1].rows)} of ${exact(counted)}, ${percent(ranked[0]![1].rows, counted)}${most.length > 1 ? ' each' : ''}).`;
  const findings: Finding[] = [];
  if (!even)
    findings.push({
      kind: 'hours_of_day',
      text: `By hour of the day (${name}), rows: ${inOrder.map(([hour, { rows }]) => `${label(hour)} ${exact(rows)}`).join(', ')}.${peak}`,
    });
  // An hour whose cells are all missing has no figure.
  const valued = inOrder.filter(([, { known }]) => known > 0);
  if (valued.length < 2) return findings;
  if (measure !== undefined && measure.role !== 'measure') {
    const means = valued.map(([hour, { sum, known }]) => [hour, sum / known] as const);
    const order = means.toSorted((a, b) => b[1] - a[1]);
    const [top, low] = [order[0]!, order.at(-1)!];
    const withMean = (figure: number) => means.flatMap(([hour, mean]) => (mean === figure ? [hour] : []));
    if (top[1] > low[1])
      findings.push({
        kind: 'hours_of_day',
        text: `By hour of the day, mean ${measure.name} is highest from ${hoursText(withMean(top[1]))} (${round(top[1])}) and lowest from ${hoursText(withMean(low[1]))} (${round(low[1])}): ${means.map(([hour, mean]) => `${label(hour)} ${round(mean)}`).join(', ')}.${withoutFar(table, profile, measure, hours, top[0], counts.get(top[0])!)}`,
      });
  } else if (measure !== undefined && measure.values.distinct > 1) {
    const sums = valued.toSorted((a, b) => b[1].sum - a[1].sum);
    const withSum = (figure: number) => valued.flatMap(([hour, { sum }]) => (sum === figure ? [hour] : []));
    if (sums[0]![1].sum > sums.at(-1)![1].sum)
      findings.push({
        kind: 'hours_of_day',
        text: `By hour of the day, ${measure.name} is highest from ${hoursText(withSum(sums[0]![1].sum))} (${exact(clean(sums[0]![1].sum))}) and lowest from ${hoursText(withSum(sums.at(-1)![1].sum))} (${exact(clean(sums.at(-1)![1].sum))}): ${valued.map(([hour, { sum, known }]) => `${label(hour)} ${exact(clean(sum))} (mean ${round(sum / known)})`).join(', ')}.${withoutFar(table, profile, measure, hours, sums[0]![0], sums[0]![1])}`,
      });
  }
  return findings;
}

function label(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}

/** All hours that tie. */
function hoursText(hours: readonly number[]): string {
  return listed(hours.map(label), hoursNamed);
}

/** What the highest hour has without the values that are far from all others. */
function withoutFar(
  table: ColumnsInMemory,
  profile: TableProfile,
  measure: ColumnPlan,
  hours: readonly (number | null)[],
  hour: number,
  { sum, known }: { sum: number; known: number },
): string {
  const far = outlierRows(profile, table, measure).filter((at) => hours[at] === hour);
  if (far.length === 0 || far.length === known) return '';
  const numbers = table.numbers(measure);
  const rest = sum - far.reduce((total, at) => total + numbers[at]!, 0);
  const figure = measure.role === 'measure' ? exact(clean(rest)) : round(rest / (known - far.length));
  return ` Without ${rowList(far.map((at) => table.row(at)))} (${listed(far.slice(0, farNamed).map((at) => exact(numbers[at]!)))}), ${label(hour)} has ${figure}.`;
}

/** Rows of each day if the trend is hourly, and if few days have times. */
function byDay(table: ColumnsInMemory, trend: ColumnPlan, measure: ColumnPlan | undefined): Finding[] {
  const days = new Map<string, { rows: number; sum: number | null }>();
  const numbers = measure === undefined ? null : table.numbers(measure);
  for (const [at, ms] of table.dates(trend).entries()) {
    if (Number.isNaN(ms)) continue;
    const day = new Date(ms).toISOString().slice(0, 10);
    const own = days.get(day) ?? { rows: 0, sum: null };
    days.set(day, own);
    own.rows++;
    if (numbers !== null && !Number.isNaN(numbers[at]!)) own.sum = (own.sum ?? 0) + numbers[at]!;
  }
  if (days.size < 2 || days.size > maxDays || table.count < days.size * 2 || isMonthly(table, trend)) return [];
  const ordered = [...days].toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
  const findings: Finding[] = [];
  if (new Set([...days.values()].map(({ rows }) => rows)).size > 1)
    findings.push({ kind: 'rows_by_day', text: `Rows by day: ${ordered.map(([day, { rows }]) => `${day} ${exact(rows)}`).join(', ')}.` });
  if (measure !== undefined)
    findings.push({
      kind: 'rows_by_day',
      text: `${measure.name} by day: ${ordered.flatMap(([day, { sum }]) => (sum === null ? [] : [`${day} ${exact(clean(sum))}`])).join(', ')}.`,
    });
  return findings;
}

/** Rows, and the sums of two measures, by day of the week, without a claim of significance. */
function byWeekday(table: ColumnsInMemory, trend: ColumnPlan, leading: ColumnPlan | undefined): Finding[] {
  const dates = table.dates(trend);
  const days = new Set(Array.from(dates, (ms) => (Number.isNaN(ms) ? -1 : Math.floor(ms / dayMs))));
  // Months and quarters begin on any day of the week.
  const dense = days.size >= minWeekdays / 2 && table.count >= minWeekdayRows * 2;
  if ((days.size < minWeekdays && !dense) || table.count < minWeekdayRows || isMonthly(table, trend)) return [];
  // The weekday of a birth date is of no interest.
  if (trend.range !== null && trend.range.lastMs - trend.range.firstMs > maxMs) return [];
  const dated = table.plans.filter(({ reads }) => reads === 'date').length;
  const mixed = unitColumns({ columns: table.plans });
  const second = table
    .quantities()
    .find(
      (plan) => plan !== leading && plan.role === 'measure' && plan.units.size < 2 && !mixed.has(plan.index) && plan.values.distinct > 1,
    );
  const counted = leading === undefined ? [undefined] : second === undefined ? [leading] : [leading, second];
  return counted.map((measure) => {
    const numbers = measure === undefined ? null : table.numbers(measure);
    const own = weekdays.map(() => ({ rows: 0, sum: 0, days: new Set<number>(), valued: new Set<number>() }));
    for (const [at, ms] of dates.entries()) {
      if (Number.isNaN(ms)) continue;
      const day = own[new Date(ms).getUTCDay()]!;
      day.rows++;
      day.days.add(Math.floor(ms / dayMs));
      if (numbers === null || Number.isNaN(numbers[at]!)) continue;
      day.valued.add(Math.floor(ms / dayMs));
      day.sum += numbers[at]!;
    }
    const each = [1, 2, 3, 4, 5, 6, 0]
      .filter((day) => own[day]!.rows > 0)
      .map((day) => {
        const { rows, sum, days: on, valued } = own[day]!;
        const figure =
          measure === undefined || valued.size === 0
            ? ''
            : `, ${measure.name} ${exact(clean(sum))}, ${round(sum / valued.size)} a day${valued.size < on.size ? ` over ${countOf(valued.size, 'day')} with a value` : ''}`;
        const carried = measure === undefined ? '' : withoutLargest(table, measure, dates, day, sum);
        return `${weekdays[day]} ${countOf(rows, 'row')} (${countOf(on.size, 'day')}${figure}${carried})`;
      });
    return { kind: 'by_weekday', text: `By day of the week${dated > 1 ? ` of ${trend.name}` : ''}: ${each.join('; ')}.` };
  });
}

/** The sum of a weekday without a value that makes up most of it. */
function withoutLargest(table: ColumnsInMemory, measure: ColumnPlan, dates: Float64Array, day: number, sum: number): string {
  const numbers = table.numbers(measure);
  let largest = -1;
  for (const [at, ms] of dates.entries())
    if (!Number.isNaN(ms) && new Date(ms).getUTCDay() === day && (largest < 0 || numbers[at]! > numbers[largest]!)) largest = at;
  if (largest < 0 || !(numbers[largest]! > sum * mostOfDay)) return '';
  return `, ${exact(clean(sum - numbers[largest]!))} without row ${table.row(largest)}`;
}

/** The value over the hours if no column is additive: a temperature, a price. */
function levelled(table: ColumnsInMemory): ColumnPlan | undefined {
  return table.quantities().find(({ role, units, values }) => role !== 'measure' && units.size < 2 && values.distinct > 3);
}

function isMonthly(table: ColumnsInMemory, trend: ColumnPlan): boolean {
  const span = trend.range === null ? 0 : trend.range.lastMs - trend.range.firstMs;
  return span > 40 * dayMs && new Set(Array.from(table.dates(trend), (ms) => (Number.isNaN(ms) ? 0 : new Date(ms).getUTCDate()))).size <= 2;
}

function isClock(texts: readonly string[]): boolean {
  const filled = texts.filter((text) => text !== '');
  return filled.length >= minRows && filled.filter(clockText).length >= filled.length * 0.9;
}

/** A time of day; a duration may begin with 30 hours, or with 0. */
function clockText(text: string): boolean {
  return /^(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/.test(text);
}
