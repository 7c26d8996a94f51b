/** Columns of texts that are periods in an order: months by their names, weeks, quarters without a year. A year in another column counts. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { words } from '../column-words.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { monthOfName } from '../month-names.ts';

/** `names` are the periods in order of time, `of` the period of each row (`''` for none). */
export type NamedPeriods = { plan: ColumnPlan; names: string[]; of: string[] };
/** `order` of periods without a year counts within the year. */
type Period = { kind: 'month' | 'week' | 'quarter'; year: number | null; order: number };

const minPeriods = 3;
const maxPeriods = 120;
/** April, May and June are also names of persons. */
const surePeriods = 4;
const periodWords = words('month months monat monate mon period periods periode zeitraum');
const yearFirst = /^((?:19|20)\d\d)[ /-]?(?:W|KW|CW)[ -]?(\d{1,2})$/i;
const weekFirst = /^(?:W|KW|CW|Week|Woche)[ .-]{0,2}(\d{1,2})(?:[ /-]((?:19|20)\d\d))?$/i;

/** The first such column of a table; `doubt` says why its order is unknown. Null without such a column. */
export function namedPeriods(table: ColumnsInMemory): NamedPeriods | { doubt: string } | null {
  for (const plan of table.plans) {
    if (plan.reads !== 'text' || plan.filled !== table.count || !plan.values.exact) continue;
    if (plan.values.distinct < minPeriods || plan.values.distinct > maxPeriods || plan.meanChars > 12) continue;
    const periods = table.texts(plan).map(periodOf);
    const kinds = new Set(periods.map((period) => period && `${period.kind} ${period.year === null}`));
    if (kinds.size !== 1 || periods[0] == null) continue;
    if (periods[0].kind === 'month' && plan.values.distinct < surePeriods && !has(nameTokens(plan.name), periodWords)) continue;
    return inOrder(table, plan, periods as Period[]);
  }
  return null;
}

/** A number that is larger for later periods; null for a text that is no period. */
export function placeInTime(text: string): number | null {
  const period = periodOf(text);
  return period === null ? null : placeOf(period.year ?? 0, period.order);
}

function placeOf(year: number, order: number): number {
  return year * 100 + order;
}

function inOrder(table: ColumnsInMemory, plan: ColumnPlan, periods: readonly Period[]): NamedPeriods | { doubt: string } | null {
  const years = periods[0]!.year === null ? yearsOf(table) : null;
  const texts = table.texts(plan);
  const places = new Map<string, { name: string; at: number }>();
  const of = periods.map(({ year, order }, row) => {
    const at = placeOf(years?.[row] ?? year ?? 0, order);
    const known = places.get(String(at));
    const name = known?.name ?? (years === null ? texts[row]! : `${years[row]} ${texts[row]}`);
    if (known === undefined) places.set(String(at), { name, at });
    return name;
  });
  const rowOrder = [...places.values()];
  if (rowOrder.length < minPeriods) return null;
  // Week 10 comes before week 9 in rows that are sorted as texts.
  const sorted = periods[0]!.kind === 'week' && rowOrder.every(({ name }, i) => i === 0 || rowOrder[i - 1]!.name < name);
  if (periods[0]!.year === null && years === null && !sorted && turnsOnce(rowOrder.map(({ at }) => at)))
    return {
      doubt: `${plan.name} has ${periods[0]!.kind}s without a year, and its rows go from ${rowOrder[0]!.name} over the end of a year to ${rowOrder.at(-1)!.name}; whether these are two years is unknown, so no change from first to last is given.`,
    };
  return { plan, names: rowOrder.toSorted((a, b) => a.at - b.at).map(({ name }) => name), of };
}

/** The years of the rows, if a column has them. */
function yearsOf(table: ColumnsInMemory): number[] | null {
  const plan = table.plans.find(({ role, filled }) => role === 'year' && filled === table.count);
  return plan === undefined ? null : table.texts(plan).map(Number);
}

/** "Oct, Nov, Dec, Jan": in order but for one fall, after which all are before the first. */
function turnsOnce(order: readonly number[]): boolean {
  const falls = order.filter((at, i) => i > 0 && at < order[i - 1]!).length;
  return falls === 1 && order.at(-1)! < order[0]!;
}

function periodOf(text: string): Period | null {
  const trimmed = text.trim();
  if (trimmed.length > 16) return null;
  const month = monthOfName(trimmed);
  if (month > 0) return { kind: 'month', year: null, order: month };
  const quarter = /^Q([1-4])$/i.exec(trimmed);
  if (quarter !== null) return { kind: 'quarter', year: null, order: Number(quarter[1]) };
  const dated = yearFirst.exec(trimmed);
  const short = weekFirst.exec(trimmed);
  const [week, year] = dated === null ? [short?.[1], short?.[2]] : [dated[2], dated[1]];
  if (week === undefined || Number(week) < 1 || Number(week) > 53) return null;
  return { kind: 'week', year: year === undefined ? null : Number(year), order: Number(week) };
}
