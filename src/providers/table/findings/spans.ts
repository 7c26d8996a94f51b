/** Two dates in a row: the time between them, in total and by group, and rows whose end is before the start. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, round, rowList } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import type { Finding } from '../table-profile.ts';
import { duplicateRows } from './rows.ts';

const dayMs = 86_400_000;
const shown = 5;
const dueFirst = new Set('due promised deadline planned expected fällig fälligkeit target soll zieltermin frist eta'.split(' '));
const maxGroups = 12;
const maxFindings = 6;
const minForLongest = 5;
/** Share by which the longest raises the mean. */
const minMeanShift = 0.05;
const minTimesMedian = 3;
const beginWords = new Set(
  'start started begin beginn von from ordered order purchased bought kauf kaufdatum borrowed hired hire eintritt signup joined subscribed registered created erstellt opened issued invoice rechnungsdatum admitted arrival checkin bestellt'.split(
    ' ',
  ),
);
const endWords = new Set(
  'end ended ende bis to until disposed cancelled canceled churned terminated gekündigt shipped delivered geliefert returned rückgabe left exit austritt closed resolved finished completed paid bezahlt due discharged departure checkout expires expiry'.split(
    ' ',
  ),
);

/** Two dates in a row: the time between them, and rows whose end is before the start. */
export function spanFindings(table: ColumnsInMemory): Finding[] {
  const dates = table.plans.filter(({ reads, dateDoubt, filled }) => reads === 'date' && !dateDoubt && filled >= 1).slice(0, 4);
  const findings: Finding[] = [];
  const repeated = new Set(duplicateRows(table).map(([again]) => again));
  for (const [a, b] of pairs(dates)) {
    const [from, to] = [table.dates(a), table.dates(b)];
    const rows = [...from.keys()].filter((at) => !Number.isNaN(from[at]!) && !Number.isNaN(to[at]!) && !repeated.has(at));
    const named = has(nameTokens(a.name), beginWords) && has(nameTokens(b.name), endWords);
    if (rows.length < (named ? 1 : 3)) continue;
    const days = (at: number) => (to[at]! - from[at]!) / dayMs;
    const backwards = rows.filter((at) => days(at) < 0);
    if (!named && backwards.length > rows.length * 0.3) continue;
    const forward = rows.filter((at) => days(at) >= 0);
    const mean = meanOf(forward, days);
    // Counted from a due date, the other dates show the delay.
    if (forward.length >= 2 && mean > 0 && mean < 4000 && !has(nameTokens(a.name), dueFirst))
      findings.push(...lengths(table, [a, b], forward, days, { repeated, backwards: backwards.length }));
    const none = rows.filter((at) => days(at) === 0);
    if (none.length > 0 && none.length <= Math.max(1, rows.length * 0.05) && mean >= 1)
      findings.push({
        kind: 'span_none',
        text: `${a.name} and ${b.name} are the same day in ${countOf(none.length, 'row')}: ${listed(
          none.map((at) => table.rowName(at)),
          shown,
        )}.`,
      });
    if (backwards.length > 0 && !has(nameTokens(a.name), dueFirst) && (named || forward.length >= backwards.length * 3))
      findings.push({
        kind: 'span_backwards',
        text: `${b.name} is before ${a.name} in ${countOf(backwards.length, 'row')}: ${listed(
          backwards.map((at) => `${table.rowName(at)} (${table.texts(a)[at]} to ${table.texts(b)[at]})`),
          shown,
        )}.`,
      });
  }
  return findings.slice(0, maxFindings);
}

/** Mean, range and median, also by group; and the longest, if it moves the mean. */
function lengths(
  table: ColumnsInMemory,
  [a, b]: readonly [ColumnPlan, ColumnPlan],
  rows: readonly number[],
  days: (at: number) => number,
  { repeated, backwards }: { repeated: ReadonlySet<number>; backwards: number },
): Finding[] {
  const longest = rows.reduce((best, at) => (days(at) > days(best) ? at : best), rows[0]!);
  const shortest = rows.reduce((best, at) => (days(at) < days(best) ? at : best), rows[0]!);
  const middle = medianOf(rows, days);
  const text = inUnitOf(middle, a.timed || b.timed);
  const groups = groupsOf(table, rows);
  const byGroup = groups.map(({ plan, groups: own }) => {
    const ranked = own
      .map(([key, at]) => ({ key, count: at.length, median: medianOf(at, days), mean: meanOf(at, days) }))
      .toSorted((x, y) => y.median - x.median);
    return `; by ${plan.name}, median (mean): ${ranked.map(({ key, count, median, mean }) => `${key} ${text(median)} (${text(mean)}, ${countOf(count, 'row')})`).join(', ')}`;
  });
  const without = [
    repeated.size === 0 ? '' : `, repeated ${rowList([...repeated].map((at) => table.row(at)))} counted once`,
    backwards === 0 ? '' : `, without ${exact(backwards)} that ${backwards === 1 ? 'ends' : 'end'} before the start`,
  ].join('');
  const findings: Finding[] = [
    {
      kind: 'span',
      text: `From ${a.name} to ${b.name} it takes ${spanText(meanOf(rows, days))} on average (${spanText(days(shortest))} to ${spanText(days(longest))}, ${countOf(rows.length, 'row')}${without}; median ${spanText(middle)})${byGroup.join('')}.`,
    },
  ];
  const others = rows.filter((at) => at !== longest);
  const [all, rest] = [meanOf(rows, days), meanOf(others, days)];
  if (rows.length < minForLongest || all < rest * (1 + minMeanShift) || days(longest) < middle * minTimesMedian) return findings;
  const own = groups.flatMap(({ plan, groups: each }) => {
    const [key, at] = each.find(([, members]) => members.includes(longest)) ?? ['', []];
    const left = at.filter((row) => row !== longest);
    return left.length === 0 ? [] : [`for ${plan.name} ${key} ${text(meanOf(left, days))} instead of ${text(meanOf(at, days))}`];
  });
  findings.push({
    kind: 'span',
    text: `The longest from ${a.name} to ${b.name} is ${table.rowName(longest)} with ${text(days(longest))}; without it the mean is ${[`${text(rest)} instead of ${text(all)}`, ...own].join(', ')}.`,
  });
  return findings;
}

function groupsOf(table: ColumnsInMemory, rows: readonly number[]): { plan: ColumnPlan; groups: [string, number[]][] }[] {
  const plans = table.plans.filter(
    ({ reads, type, values, filled }) =>
      reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= Math.min(maxGroups, filled / 2),
  );
  return plans.slice(0, 3).map((plan) => ({ plan, groups: rowsByValue(table, plan, rows) }));
}

/** The rows of each value of a column; rows without a value are in none. */
export function rowsByValue(table: ColumnsInMemory, plan: ColumnPlan, rows: readonly number[]): [string, number[]][] {
  const groups = new Map<string, number[]>();
  const texts = table.texts(plan);
  for (const at of rows) {
    const key = texts[at]!;
    if (key === '') continue;
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [at]);
    else own.push(at);
  }
  return [...groups];
}

function meanOf(rows: readonly number[], days: (at: number) => number): number {
  return rows.reduce((sum, at) => sum + days(at), 0) / rows.length;
}

function medianOf(rows: readonly number[], days: (at: number) => number): number {
  return quantile(Float64Array.from(rows, days).sort(), 0.5);
}

/** All figures that are compared have one unit. */
function inUnitOf(days: number, timed: boolean): (days: number) => string {
  if (!timed || days >= 4 || Number.isInteger(days)) return (each) => `${round(each)} ${each === 1 ? 'day' : 'days'}`;
  return days >= 1 / 12 ? (each) => `${round(clean(each * 24))} hours` : (each) => `${round(clean(each * 1440))} minutes`;
}

function* pairs<T>(items: readonly T[]): Generator<[T, T]> {
  for (let a = 0; a < items.length; a++) for (let b = a + 1; b < items.length; b++) yield [items[a]!, items[b]!];
}

/** Days, or hours or minutes if they are short. */
function spanText(days: number): string {
  if (days >= 2 || Number.isInteger(days)) return `${round(days)} ${days === 1 ? 'day' : 'days'}`;
  return days >= 1 / 12 ? `${round(days * 24)} hours` : `${round(days * 1440)} minutes`;
}
