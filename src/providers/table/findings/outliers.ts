/**
 * Values far from the others: of the whole column, unless they are usual within their group (the visits of a large page), and of their own
 * group only (a price of a product that has another one in all other rows).
 */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { exact, round } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import { unitColumns } from '../plan-figures.ts';
import type { ColumnProfile, Finding, NumberProfile, OutlierProfile, TableProfile } from '../table-profile.ts';
import { closestTo, farRows } from './correlation-without-outliers.ts';
import { isGroup } from './crossed-groups.ts';

/** Multiples of the interquartile range beyond the quartiles. */
const farFences = 3;
const minValues = 8;
const manyValues = 20;
const perColumn = 3;
const contextCells = 4;
const minInGroup = 3;
/** Within a steady group no value is more than so many times another one; an unusual value is farther away. */
const steadyRatio = 2;
const unusualRatio = 2.5;
/** Also in a group that is not steady. */
const farRatio = 5;
const wideRatio = 3;
const minInWideGroup = 9;
const minCount = 9;
/** The ages of a group vary by chance. */
const ageWords = new Set(['age', 'alter']);
const maxInGroups = 4;
const maxRows = 50_000;
/** Largest share of far values; more are a part of the distribution. */
const farShare = 0.1;
type Extreme = OutlierProfile['most_extreme'][number];

/** @param table null if the table is too long for a comparison within groups */
export function outlierFindings(profile: TableProfile, table: ColumnsInMemory | null, inherited: readonly string[] = []): Finding[] {
  const short = table === null || table.count > maxRows ? null : table;
  const whole = profile.columns.flatMap((column) => {
    const plan = short?.plans.find(({ name, reads }) => name === column.name && reads === 'number');
    const far = farValues(column, short, plan).slice(0, perColumn);
    const beside = short === null || far.length === 0 ? null : closestTo(short, column.name);
    return far.map((extreme) => ({ kind: 'outlier', text: describe(column, extreme, inherited, besideText(short, beside, extreme)) }));
  });
  return short === null ? whole : [...whole, ...unusualInGroup(short, profile)];
}

/** The rows of a column with values far from the others, without those that are usual in their group. */
export function outlierRows(profile: TableProfile, table: ColumnsInMemory, plan: ColumnPlan): number[] {
  const column = profile.columns.find(({ name, numbers }) => name === plan.name && numbers !== undefined);
  if (column === undefined) return [];
  return farValues(column, table, plan).map(({ row }) => table.rows.numbers.indexOf(row));
}

/** Values more than three times the interquartile range away; closer ones only if they are few. */
function farValues({ numbers }: ColumnProfile, table: ColumnsInMemory | null, plan: ColumnPlan | undefined): Extreme[] {
  // Quartiles of a few rows are not meaningful.
  if (numbers === undefined || numbers.count < minValues) return [];
  const { outliers, count } = numbers;
  const few = count >= manyValues && outliers.count <= Math.max(2, count * 0.02);
  return outliers.most_extreme.filter(({ row, value }) => {
    const far = few || (outliers.count <= Math.max(1, count * farShare) && isFar(numbers, value));
    return far && !(table !== null && plan !== undefined && isUsualInGroup(table, plan, table.rows.numbers.indexOf(row)));
  });
}

function isFar({ q1, q3 }: NumberProfile, value: number): boolean {
  const reach = farFences * (q3 - q1);
  return value < q1 - reach || value > q3 + reach;
}

/** An entry of a list is told by its record and its own cells. */
function describe(
  { name, numbers }: ColumnProfile,
  { row, value, cells }: Extreme,
  inherited: readonly string[],
  beside: { name: string; text: string } | null,
): string {
  const rest = Object.entries(cells)
    .filter(([column, cell]) => column !== name && column !== beside?.name && cell !== '')
    .toSorted(([a], [b]) => rankOf(a, inherited) - rankOf(b, inherited))
    .slice(0, contextCells)
    .map(([column, cell]) => `${column} ${cell}`)
    .concat(beside === null ? [] : [beside.text]);
  return `Outlier: row ${row} has ${name} ${exact(value)}, far from the usual ${round(numbers!.q1)} to ${round(numbers!.q3)}${rest.length > 0 ? ` (${rest.join(', ')})` : ''}.`;
}

/** What the column that it otherwise correlates with has in that row, unless that is unusual too. */
function besideText(table: ColumnsInMemory | null, plan: ColumnPlan | null, { row }: Extreme): { name: string; text: string } | null {
  if (table === null || plan === null) return null;
  const at = table.rows.numbers.indexOf(row);
  const value = table.numbers(plan)[at] ?? Number.NaN;
  if (Number.isNaN(value) || farRows(table.numbers(plan)).includes(at)) return null;
  return { name: plan.name, text: `${plan.name} ${exact(value)}, with which it otherwise correlates` };
}

function rankOf(column: string, inherited: readonly string[]): number {
  const at = inherited.indexOf(column);
  return at < 0 ? 1 : at === 0 ? 0 : 2;
}

/** Whether a value lies within the range of the other values of its group, or at most half of that range beyond it. */
function isUsualInGroup(table: ColumnsInMemory, plan: ColumnPlan, at: number): boolean {
  return table.plans
    .filter((group) => isGroup(table, group))
    .some((group) => {
      const others = othersInGroup(table, plan, group, at);
      if (others.length < minInGroup) return false;
      const [low, high] = [others[0]!, others.at(-1)!];
      const value = table.numbers(plan)[at]!;
      const slack = (high - low) / 2;
      const all = table
        .numbers(plan)
        .filter((each) => !Number.isNaN(each))
        .sort();
      // A group that itself has a far value does not make another one usual.
      const apart = quantile(others, 0.5) > quantile(all, 0.75) || quantile(others, 0.5) < quantile(all, 0.25);
      return apart && value >= low - slack && value <= high + slack;
    });
}

/** Whether a value lies within the range of the other values of its group. */
function isWithin(table: ColumnsInMemory, plan: ColumnPlan, group: ColumnPlan, at: number): boolean {
  const others = othersInGroup(table, plan, group, at);
  const value = table.numbers(plan)[at]!;
  return others.length >= minInGroup && value >= others[0]! && value <= others.at(-1)! && others.at(-1)! <= others[0]! * steadyRatio;
}

/** The other values of the group of row `at`, ascending. */
function othersInGroup(table: ColumnsInMemory, plan: ColumnPlan, group: ColumnPlan, at: number): Float64Array {
  const [numbers, names] = [table.numbers(plan), table.texts(group)];
  return numbers.filter((value, i) => i !== at && names[i] === names[at] && names[i] !== '' && !Number.isNaN(value)).sort();
}

/** A value far larger or smaller than all others of a steady group, which no other grouping makes usual. */
function unusualInGroup(table: ColumnsInMemory, profile: TableProfile): Finding[] {
  const groups = table.plans.filter((plan) => isGroup(table, plan));
  const mixed = unitColumns({ columns: table.plans });
  return table
    .quantities()
    .filter(({ name, units, role, index }) => units.size < 2 && role !== 'level' && !mixed.has(index) && !has(nameTokens(name), ageWords))
    .flatMap((plan): Finding[] => {
      const known = new Set(outlierRows(profile, table, plan));
      for (const group of groups) {
        const found = unusualRows(table, plan, group);
        if (found.length === 0 || found.length > Math.max(2, table.count * 0.05)) continue;
        return found
          .filter(({ at }) => !known.has(at) && !groups.some((other) => other !== group && isWithin(table, plan, other, at)))
          .slice(0, maxInGroups)
          .map(({ at, low, high }) => ({
            kind: 'outlier',
            text: `Outlier within ${group.name} ${table.texts(group)[at]}: ${table.rowInWords(at)} has ${plan.name} ${exact(table.numbers(plan)[at]!)}; its other rows have ${low === high ? exact(low) : `${exact(low)} to ${exact(high)}`}.`,
          }));
      }
      return [];
    })
    .slice(0, maxInGroups * 2);
}

function unusualRows(table: ColumnsInMemory, plan: ColumnPlan, group: ColumnPlan): { at: number; low: number; high: number }[] {
  const [numbers, names] = [table.numbers(plan), table.texts(group)];
  const rowsOf = new Map<string, number[]>();
  for (const [at, name] of names.entries()) {
    if (name === '' || Number.isNaN(numbers[at]!)) continue;
    const own = rowsOf.get(name);
    if (own === undefined) rowsOf.set(name, [at]);
    else own.push(at);
  }
  return [...rowsOf.values()].flatMap((rows) => {
    if (rows.length <= minInGroup) return [];
    const ranked = rows.toSorted((a, b) => numbers[a]! - numbers[b]!);
    const value = (i: number) => numbers[ranked.at(i)!]!;
    // Counts below ten vary by chance.
    const least = plan.type === 'integer' && plan.role === 'measure' ? minCount : 0;
    // A wider range needs more values, and a larger distance.
    const steady = (low: number, high: number, distance: number) =>
      low > least &&
      ((high <= low * steadyRatio && distance > unusualRatio) ||
        (rows.length >= minInWideGroup && high <= low * wideRatio && distance > (high / low) * steadyRatio));
    if (steady(value(0), value(-2), value(-1) / value(-2))) return [{ at: ranked.at(-1)!, low: value(0), high: value(-2) }];
    if (rows.length >= minValues && value(-2) > 0 && value(-1) >= value(-2) * farRatio)
      return [{ at: ranked.at(-1)!, low: value(0), high: value(-2) }];
    if (value(0) >= 0 && steady(value(1), value(-1), value(1) / value(0))) return [{ at: ranked[0]!, low: value(1), high: value(-1) }];
    return [];
  });
}
