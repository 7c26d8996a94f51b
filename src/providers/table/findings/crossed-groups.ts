/** Two grouping columns crossed: the leader within each group, and the distribution of outcomes over the groups. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { withoutEqualGroups } from '../equal-groups.ts';
import { exact, percent, round } from '../figure-text.ts';
import { leadingMeasure, personalCodes } from '../plan-figures.ts';
import { differentValues } from '../spellings.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { stateWords } from './rare-statuses.ts';

const maxValues = 12;
const maxGroups = 6;
const maxPairs = 4;
const minRows = 8;
const maxRows = 200_000;
const maxOutcomes = 4;
const maxOverYears = 2;

export function crossFindings(table: ColumnsInMemory, profile: TableProfile): Finding[] {
  if (table.count > maxRows) return [];
  const groups = groupsOf(table, profile);
  return table.count < minRows ? overYears(table, groups) : [...leaders(table, profile, groups), ...overYears(table, groups)];
}

/** The distribution of outcomes over the groups. */
/** @param distinct the rows whose status says that they do not count are in these only: for figures by the status itself */
export function outcomeFindings(
  table: ColumnsInMemory,
  distinct: ColumnsInMemory,
  status: string | null,
  profile: TableProfile,
): Finding[] {
  if (distinct.count > maxRows || distinct.count < minRows) return [];
  return outcomes(distinct, groupsOf(distinct, profile), (plans) => (plans.some(({ name }) => name === status) ? distinct : table));
}

/** Without columns that group the rows as another column does. */
function groupsOf(table: ColumnsInMemory, { groups }: TableProfile): ColumnPlan[] {
  const kept = withoutEqualGroups(groups);
  const repeated = new Set(groups.filter((group) => !kept.includes(group)).map(({ by }) => by));
  return table.plans.filter((plan) => !repeated.has(plan.name) && isGroup(table, plan)).slice(0, maxGroups);
}

/** Each group from the first year to the last, where the years are a column. */
function overYears(table: ColumnsInMemory, groups: readonly ColumnPlan[]): Finding[] {
  const years = groups.find(({ role }) => role === 'year');
  const measures = table.quantities().filter(({ role, units }) => role === 'measure' && units.size < 2);
  const others = groups.filter((plan) => plan !== years && plan.role !== 'year' && plan.type === 'text');
  if (years === undefined || measures.length === 0) return [];
  return others.slice(0, maxOverYears).flatMap((group) =>
    measures.slice(0, maxOverYears).flatMap((measure): Finding[] => {
      const cells = crossed(table, group, years, measure);
      if (cells === null) return [];
      const each = [...cells].flatMap(([key, own]) => {
        const ordered = [...own].toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
        const [first, last] = [ordered[0]!, ordered.at(-1)!];
        if (ordered.length < 2) return [];
        const [from, to] = [clean(first[1].sum), clean(last[1].sum)];
        const change = from > 0 ? ` (${to >= from ? '+' : '−'}${percent(Math.abs(to - from), from)})` : '';
        return [`${key} ${exact(from)} in ${first[0]} to ${exact(to)} in ${last[0]}${change}`];
      });
      return each.length < 2 ? [] : [{ kind: 'leaders', text: `${measure.name} by ${group.name} over the years: ${each.join('; ')}.` }];
    }),
  );
}

/** A column of a few values, each in several rows. */
export function isGroup(table: ColumnsInMemory, plan: ColumnPlan): boolean {
  const { name, reads, type, role, values, filled, meanChars } = plan;
  return (
    reads === 'text' &&
    (type === 'text' || role === 'code' || role === 'year') &&
    values.exact &&
    values.distinct >= 2 &&
    differentValues(plan) <= Math.min(maxValues, table.count / 2) &&
    filled >= table.count * 0.6 &&
    meanChars <= 24 &&
    !has(nameTokens(name), personalCodes)
  );
}

/** "Largest votes within each district: North: Ann 123 of 300; South: Bo 99 of 120". */
function leaders(table: ColumnsInMemory, profile: TableProfile, groups: readonly ColumnPlan[]): Finding[] {
  const main = leadingMeasure(table.plans);
  const measure =
    main !== undefined && isBrokenDown(profile, main.name)
      ? main
      : table.quantities().find(({ name, units }) => units.size < 2 && isBrokenDown(profile, name));
  const findings: Finding[] = [];
  for (const [i, one] of groups.entries()) {
    for (const [j, other] of groups.entries()) {
      if (i === j || findings.length >= maxPairs || isOutcome(other)) continue;
      const cells = crossed(table, one, other, measure);
      // If each value belongs to one value of the other column, there is nothing to compare.
      if (cells === null || [...cells.values()].filter((own) => own.size > 1).length < cells.size * 0.5) continue;
      const additive = measure === undefined || measure.role === 'measure';
      const figure = ({ count, sum }: Tally) => (measure === undefined ? count : additive ? sum : sum / count);
      // An equal figure for all is not useful, e.g. a price that belongs to the group.
      const alike = [...cells.values()].filter(
        (own) => new Set([...own.values()].map((tally) => write(figure(tally), additive))).size === 1,
      );
      if (alike.length >= cells.size * 0.5) continue;
      const each = [...cells].map(([key, own]) => {
        const ranked = [...own].toSorted((a, b) => figure(b[1]) - figure(a[1]));
        const all = [...own.values()].reduce((sum, tally) => sum + figure(tally), 0);
        const named = ranked.slice(0, 3).map(([value, tally]) => `${value} ${write(figure(tally), additive)}`);
        const positive = additive && ranked.every(([, tally]) => figure(tally) >= 0) && all > 0;
        const share = positive ? ` (${percent(figure(ranked[0]![1]), all)} of ${exact(clean(all))})` : '';
        return `${key}: ${named[0]}${share}${named.length > 1 ? `, then ${named.slice(1).join(', ')}` : ''}`;
      });
      const what = measure === undefined ? 'Most rows' : `Largest ${additive ? '' : 'mean '}${measure.name}`;
      findings.push({ kind: 'leaders', text: `${what} by ${other.name} within each ${one.name}: ${each.join('; ')}.` });
    }
  }
  return findings;
}

type Tally = { count: number; sum: number };

function crossed(
  table: ColumnsInMemory,
  one: ColumnPlan,
  other: ColumnPlan,
  measure: ColumnPlan | undefined,
): Map<string, Map<string, Tally>> | null {
  const [a, b] = [table.texts(one), table.texts(other)];
  const numbers = measure === undefined ? null : table.numbers(measure);
  const cells = new Map<string, Map<string, Tally>>();
  for (let at = 0; at < table.count; at++) {
    const value = numbers === null ? 1 : numbers[at]!;
    if (a[at] === '' || b[at] === '' || Number.isNaN(value)) continue;
    const own = cells.get(a[at]!) ?? new Map<string, Tally>();
    cells.set(a[at]!, own);
    const tally = own.get(b[at]!) ?? { count: 0, sum: 0 };
    own.set(b[at]!, tally);
    tally.count++;
    tally.sum += value;
  }
  return cells.size < 2 ? null : cells;
}

/** Booleans, and states of two to four values, counted in each group with their shares. */
function outcomes(
  table: ColumnsInMemory,
  groups: readonly ColumnPlan[],
  rowsFor: (plans: readonly ColumnPlan[]) => ColumnsInMemory,
): Finding[] {
  const found = table.plans.filter(
    (plan) =>
      plan.filled >= table.count * 0.6 &&
      (plan.type === 'boolean' || (plan.reads === 'text' && plan.type === 'text' && plan.values.distinct <= 3 && plan.meanChars <= 20)) &&
      plan.values.distinct >= 2 &&
      // States are counted elsewhere.
      !has(nameTokens(plan.name), stateWords),
  );
  const findings: Finding[] = [];
  // Booleans first: the usual question is how many of each group did something.
  const yesNo = ({ type, values }: ColumnPlan) => (type === 'boolean' ? 0 : values.distinct === 2 ? 1 : 2);
  for (const outcome of found.sort((a, b) => yesNo(a) - yesNo(b)).slice(0, maxGroups)) {
    for (const group of groups) {
      // Of two outcomes the second implies the first.
      if (group === outcome || (found.includes(group) && found.indexOf(group) < found.indexOf(outcome)) || findings.length >= maxOutcomes)
        continue;
      const cells = crossed(rowsFor([group, outcome]), group, outcome, undefined);
      if (cells === null || [...cells.values()].every((own) => own.size === 1) || isEven(cells)) continue;
      const values = outcome.values.top(4).map(({ key }) => key);
      const each = [...cells].map(([key, own]) => {
        const all = [...own.values()].reduce((sum, { count }) => sum + count, 0);
        const parts = [...own]
          .toSorted((x, y) => values.indexOf(x[0]) - values.indexOf(y[0]))
          .map(([value, { count }]) => `${value} ${exact(count)} (${percent(count, all)})`);
        return `${key}: ${parts.join(', ')}`;
      });
      findings.push({ kind: 'outcomes', text: `${outcome.name} by ${group.name}: ${each.join('; ')}.` });
    }
  }
  return findings;
}

/** Every value equally often in every group: a full grid. */
function isEven(cells: Map<string, Map<string, Tally>>): boolean {
  return new Set([...cells.values()].flatMap((own) => [...own.values()].map(({ count }) => count))).size === 1;
}

function isOutcome({ name }: ColumnPlan): boolean {
  return has(nameTokens(name), stateWords);
}

function isBrokenDown(profile: TableProfile, name: string): boolean {
  return profile.columns.some((column) => column.name === name && column.numbers !== undefined && column.by_unit === undefined);
}

function write(value: number, additive: boolean): string {
  return additive ? exact(clean(value)) : round(value);
}
