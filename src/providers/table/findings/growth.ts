/** Groups over time: the change of each from the first period of the table to the last, and its figure in every period. */
import type { ColumnPlan } from '../column-evidence.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { asValue, exact, listed, percent, round } from '../figure-text.ts';
import { isAttributeDate, leadingMeasure, trendPlan, unitColumns } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';
import { isGroup } from './crossed-groups.ts';
import { namedPeriods } from './named-periods.ts';

const maxColumns = 3;
const maxMeasures = 2;
const maxRows = 200_000;
/** Larger tables of groups and periods are not told in full. */
const maxCells = 84;
/** Figures of more periods are not listed one by one. */
const maxTotals = 24;
const minRows = 4;
/** A value so many times larger than the next one of its group and period may be wrong. */
const minTimesNext = 4;
const minDays = 10;
const dayMs = 86_400_000;

/** `largest` is the largest value, in the row at `at`; `next` is the one after it. */
type Tally = { rows: number; sum: number; largest: number; next: number; at: number };
/** What is compared: the sum of a column, its mean, or the number of rows. */
type Compared = { name: string; numbers: Float64Array | null; additive: boolean };
type Periods = { names: string[]; of: string[] };
type Change = { key: string; own: ReadonlyMap<string, Tally>; from: number | null; to: number | null };
type FullChange = Change & { from: number; to: number };

/** The months between which groups are compared, as `2024-01`, or `01` for the last year that has both. */
export type Months = { from: string; to: string };

export function growthFindings(table: ColumnsInMemory, months?: Months): Finding[] {
  if (table.count < minRows || table.count > maxRows) return [];
  const trend = trendPlan({ columns: [...table.plans], rows: table.count, columnCount: 0, ragged: { count: 0, first: [] }, warnings: [] });
  if (trend === null) return growthOverNames(table);
  if (isAttributeDate(trend.plan.name, table.plans)) return [];
  const periods =
    (months === undefined ? null : windowOf(table.dates(trend.plan), months)) ??
    periodsOf(table.dates(trend.plan)) ??
    halvesOf(table.dates(trend.plan));
  if (periods === null) return [];
  return growthOfGroups(table, trend.plan, periods);
}

function growthOfGroups(table: ColumnsInMemory, date: ColumnPlan, periods: Periods): Finding[] {
  return table.plans
    .filter((plan) => plan !== date && isGroup(table, plan) && plan.role !== 'year')
    .slice(0, maxColumns)
    .flatMap((group) => comparedIn(table).flatMap((compared) => growth(table, group, compared, date, periods)));
}

/** The same where the periods are names, with the figures of all rows together, which the trend has for dates only. */
function growthOverNames(table: ColumnsInMemory): Finding[] {
  const periods = namedPeriods(table);
  if (periods === null) return [];
  if ('doubt' in periods) return [{ kind: 'growth', text: periods.doubt }];
  const { plan, names, of } = periods;
  const totals = comparedIn(table).flatMap((compared) => total(table, compared, plan, { names, of }));
  return [...totals, ...growthOfGroups(table, plan, { names, of })];
}

function total(table: ColumnsInMemory, { name, numbers, additive }: Compared, date: ColumnPlan, { names, of }: Periods): Finding[] {
  const tallies = new Map<string, Tally>();
  for (let at = 0; at < table.count; at++) {
    const value = numbers === null ? 1 : numbers[at]!;
    if (Number.isNaN(value)) continue;
    const tally = tallies.get(of[at]!) ?? emptyTally();
    tallies.set(of[at]!, tally);
    count(tally, value, at);
  }
  const points = names.flatMap((period) => {
    const tally = tallies.get(period);
    return tally === undefined ? [] : [{ period, figure: clean(additive ? tally.sum : tally.sum / tally.rows) }];
  });
  const ranked = points.toSorted((a, b) => b.figure - a.figure);
  const [first, last, top, low] = [points[0], points.at(-1), ranked[0], ranked.at(-1)];
  if (points.length < 2 || top!.figure === low!.figure) return [];
  const written = additive ? exact : round;
  const each =
    points.length <= maxTotals
      ? ` In order of time: ${points.map(({ period, figure }) => `${period} ${written(figure)}`).join(', ')}.`
      : '';
  const change = clean(last!.figure - first!.figure);
  return [
    {
      kind: 'growth',
      text: `${additive ? '' : 'Mean '}${name}, from ${first!.period} to ${last!.period} (${date.name}): ${sign(change)}${written(Math.abs(change))} (${written(first!.figure)} to ${written(last!.figure)}${shareOf(first!.figure, last!.figure)}); highest in ${top!.period} (${written(top!.figure)}), lowest in ${low!.period} (${written(low!.figure)}).${each}`,
    },
  ];
}

/** The month of each row, or its year in a table of more than three years; null for less than two complete periods. */
function periodsOf(dates: Float64Array): Periods | null {
  const all = monthsOf(dates);
  const partial = partialMonths(dates);
  const months = all.map((month) => (partial.has(month) ? '' : month));
  const known = [...new Set(months)].filter((month) => month !== '').sort();
  if (known.length < 2) return null;
  if (known.length <= 36) return { names: known, of: months };
  const years = months.map((month) => month.slice(0, 4));
  return { names: [...new Set(known.map((month) => month.slice(0, 4)))], of: years };
}

/** The first and the last month if the rows cover a part of it only: the rest is longer than the usual pauses between dates. */
function partialMonths(dates: Float64Array): Set<string> {
  const days = [...new Set(Array.from(dates, (ms) => Math.floor(ms / dayMs)))].filter((day) => !Number.isNaN(day)).sort((a, b) => a - b);
  if (days.length < minDays) return new Set();
  const pauses = days
    .slice(1)
    .map((day, i) => day - days[i]!)
    .sort((a, b) => a - b);
  const usual = Math.max(5, pauses[Math.floor(pauses.length * 0.9)]! * 1.5);
  const [first, last] = [new Date(days[0]! * dayMs), new Date(days.at(-1)! * dayMs)];
  const left = Date.UTC(last.getUTCFullYear(), last.getUTCMonth() + 1, 0) / dayMs - days.at(-1)!;
  const partial = new Set<string>();
  if (first.getUTCDate() - 1 > usual) partial.add(first.toISOString().slice(0, 7));
  if (left > usual) partial.add(last.toISOString().slice(0, 7));
  return partial;
}

/** For tables without two complete months: the first and the second half of the days, of the same length. */
function halvesOf(dates: Float64Array): Periods | null {
  const days = Array.from(dates, (ms) => Math.floor(ms / dayMs));
  const known = [...new Set(days)].filter((day) => !Number.isNaN(day)).sort((a, b) => a - b);
  const [first, last] = [known[0]!, known.at(-1)!];
  // Days without rows would make halves of different weight.
  if (known.length < minDays || known.length < (last - first + 1) * 0.8) return null;
  const half = Math.floor((last - first + 1) / 2);
  const dayOf = (day: number) => new Date(day * dayMs).toISOString().slice(0, 10);
  const names = [`${dayOf(first)} to ${dayOf(first + half - 1)}`, `${dayOf(last - half + 1)} to ${dayOf(last)}`];
  return { names, of: days.map((day) => (day < first + half ? names[0]! : day > last - half ? names[1]! : '')) };
}

function monthsOf(dates: Float64Array): string[] {
  return Array.from(dates, (ms) => (Number.isNaN(ms) ? '' : new Date(ms).toISOString().slice(0, 7)));
}

/** The months asked for; null if the table does not have both. */
function windowOf(dates: Float64Array, { from, to }: Months): Periods | null {
  const months = monthsOf(dates);
  const known = [...new Set(months)].filter((month) => month !== '').sort();
  const last = known.findLast((month) => month.endsWith(to) && firstBefore(known, month, from) !== undefined);
  if (last === undefined) return null;
  const first = firstBefore(known, last, from)!;
  const names = known.filter((month) => month >= first && month <= last);
  return { names, of: months.map((month) => (month >= first && month <= last ? month : '')) };
}

/** The latest month before `last` that is called so. */
function firstBefore(known: readonly string[], last: string, from: string): string | undefined {
  return known.findLast((month) => month < last && month.endsWith(from));
}

/** The leading columns that are added up, else rates, else the number of rows. */
function comparedIn(table: ColumnsInMemory): Compared[] {
  const leading = leadingMeasure(table.plans);
  const mixed = unitColumns({ columns: table.plans });
  const plans = table.quantities().filter(({ units, values, index }) => units.size < 2 && values.distinct > 1 && !mixed.has(index));
  const additive = [
    ...new Set([
      ...(leading === undefined || mixed.has(leading.index) ? [] : [leading]),
      ...plans.filter(({ role }) => role === 'measure'),
    ]),
  ];
  const chosen = additive.length > 0 ? additive : plans.filter(({ role }) => role === 'rate');
  if (chosen.length === 0) return [{ name: 'rows', numbers: null, additive: true }];
  return chosen.slice(0, maxMeasures).map((plan) => ({ name: plan.name, numbers: table.numbers(plan), additive: plan.role === 'measure' }));
}

function growth(table: ColumnsInMemory, group: ColumnPlan, compared: Compared, date: ColumnPlan, { names, of }: Periods): Finding[] {
  const cells = tallies(table, group, compared, of);
  if (cells.size < 2) return [];
  const figure = (tally: Tally | undefined) => (tally === undefined ? null : clean(compared.additive ? tally.sum : tally.sum / tally.rows));
  const [first, last] = [names[0]!, names.at(-1)!];
  const changes = [...cells].map(([key, own]) => ({ key: asValue(key), own, from: figure(own.get(first)), to: figure(own.get(last)) }));
  const full = changes.filter(({ from, to }) => from !== null && to !== null) as FullChange[];
  // Groups that rarely have rows at both ends are no series.
  if (full.length < 2 || full.length < cells.size / 2) return [];
  if (compared.numbers === null && changes.every(({ from, to }) => from === to)) return [];
  const what = `${compared.additive ? '' : 'Mean '}${compared.name} by ${group.name}`;
  const written = compared.additive ? exact : round;
  const ranked = full.toSorted((a, b) => b.to - b.from - (a.to - a.from));
  const each = ranked.map(
    ({ key, from, to }) =>
      `${key} ${sign(to - from)}${written(clean(Math.abs(to - from)))} (${written(from)} to ${written(to)}${shareOf(from, to)})`,
  );
  const other = changes
    .filter(({ from, to }) => from === null || to === null)
    .map((change) => oneEnd(change, first, last, written, compared.numbers === null));
  const turned = compared.additive && compared.numbers !== null ? turnedByOneValue(table, full, [first, last]) : [];
  const findings: Finding[] = [
    {
      kind: 'growth',
      text: `${what}, ${first.includes(' to ') ? `${first} beside ${last}` : `from ${first} to ${last}`} (${date.name}): ${[...each, ...other].join('; ')}.${turned.length > 0 ? ` But ${turned.join('; ')}.` : verdict(ranked)}`,
    },
  ];
  if (names.length > 2 && names.length * cells.size <= maxCells) {
    const rows = [...cells].map(
      ([key, own]) =>
        `${asValue(key)}: ${names.map((name) => `${name} ${own.has(name) ? written(figure(own.get(name))!) : 'none'}`).join(', ')}`,
    );
    findings.push({
      kind: 'growth_each',
      text: `${what} and ${date.reads === 'text' ? date.name : names[0]!.length === 4 ? 'year' : 'month'}: ${rows.join('; ')}.`,
    });
  }
  return findings;
}

function tallies(table: ColumnsInMemory, group: ColumnPlan, { numbers }: Compared, periods: string[]): Map<string, Map<string, Tally>> {
  const texts = table.texts(group);
  const cells = new Map<string, Map<string, Tally>>();
  for (let at = 0; at < table.count; at++) {
    const value = numbers === null ? 1 : numbers[at]!;
    if (texts[at] === '' || periods[at] === '' || Number.isNaN(value)) continue;
    const key = texts[at]!;
    const own = cells.get(key) ?? new Map<string, Tally>();
    cells.set(key, own);
    const tally = own.get(periods[at]!) ?? emptyTally();
    own.set(periods[at]!, tally);
    count(tally, value, at);
  }
  return cells;
}

function emptyTally(): Tally {
  return { rows: 0, sum: 0, largest: Number.NEGATIVE_INFINITY, next: Number.NEGATIVE_INFINITY, at: -1 };
}

function count(tally: Tally, value: number, at: number): void {
  tally.rows++;
  tally.sum += value;
  if (value > tally.largest) {
    tally.next = tally.largest;
    tally.largest = value;
    tally.at = at;
  } else if (value > tally.next) tally.next = value;
}

/** Changes that one value, far above the others of its group and period, turns from a fall to a rise or the reverse. */
function turnedByOneValue(table: ColumnsInMemory, full: readonly FullChange[], [first, last]: readonly [string, string]): string[] {
  return full.flatMap(({ key, own, from, to }) =>
    [last, first].flatMap((period) => {
      const { rows, largest, next, at } = own.get(period)!;
      if (rows < minRows || !(largest > next * minTimesNext)) return [];
      const [start, end] = period === first ? [clean(from - largest), to] : [from, clean(to - largest)];
      if (to > from === end > start) return [];
      return [
        `without ${table.rowName(at)} (${exact(largest)}) ${key} ${end < start ? 'falls' : 'rises'}: ${exact(start)} to ${exact(end)}`,
      ];
    }),
  );
}

/** Who rose and who fell most; the largest rise by share too, if that is another group. */
function verdict(ranked: readonly { key: string; from: number; to: number }[]): string {
  const rise = (change: { from: number; to: number }) => clean(change.to - change.from);
  const leaders = (amount: number, verb: string) => {
    const names = ranked.filter((change) => rise(change) === amount).map(({ key }) => key);
    return `${listed(names, 3)} ${verb}${names.length === 1 ? 's' : ''} most`;
  };
  const [most, least] = [rise(ranked[0]!), rise(ranked.at(-1)!)];
  if (most === least) return '';
  const parts: string[] = [];
  if (most > 0) parts.push(leaders(most, 'rise'));
  else parts.push('none rises');
  if (least < 0) parts.push(leaders(least, 'fall'));
  else parts.push('none falls');
  const shares = ranked.filter(({ from, to }) => from > 0 && to > from).toSorted((a, b) => b.to / b.from - a.to / a.from);
  const byShare =
    most > 0 && shares.length > 0 && rise(shares[0]!) !== most
      ? ` By share, ${shares[0]!.key} rises most (${percent(rise(shares[0]!), shares[0]!.from)}).`
      : '';
  return ` ${parts.join('; ')}.`.replace(/^ ./, (start) => start.toUpperCase()) + byShare;
}

/** A group without a value may have rows; without a measure the rows themselves are counted. */
function oneEnd({ key, from, to }: Change, first: string, last: string, written: (value: number) => string, isOfRows: boolean): string {
  const none = isOfRows ? 'no row' : 'no value';
  if (from !== null) return `${key} ${written(from)} in ${first}, ${none} in ${last}`;
  return to === null ? `${key} ${none} in either` : `${key} ${none} in ${first}, ${written(to)} in ${last}`;
}

function shareOf(from: number, to: number): string {
  return from > 0 ? `, ${sign(to - from)}${percent(Math.abs(to - from), from)}` : '';
}

function sign(change: number): string {
  return change < 0 ? '−' : '+';
}
