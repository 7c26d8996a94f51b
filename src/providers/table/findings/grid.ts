/** Tables with one row for each thing and time: missing rows, and rows of a thing that differ from its others. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { exact, listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const minTimes = 3;
const minAlike = 4;
const maxGroups = 60;
const shown = 8;
const maxColumns = 4;
const maxFigures = 20;

export function gridFindings(table: ColumnsInMemory): Finding[] {
  const groups = table.plans.filter(
    ({ reads, type, values, filled }) =>
      reads === 'text' &&
      type === 'text' &&
      filled === table.count &&
      values.distinct >= 2 &&
      values.distinct <= Math.min(maxGroups, filled / 3),
  );
  const few = groups.slice(0, maxColumns);
  return [...few.flatMap((group) => holes(table, group)).slice(0, 1), ...oddOnes(table, few)];
}

/** Missing rows, if each thing has a row for nearly every time. */
function holes(table: ColumnsInMemory, group: ColumnPlan): Finding[] {
  const time = table.plans.find(({ reads, dateDoubt, filled }) => reads === 'date' && !dateDoubt && filled === table.count);
  if (time === undefined) return [];
  const [names, times] = [table.texts(group), table.texts(time)];
  const all = [...new Set(times)];
  const things = [...new Set(names)];
  const have = new Set(names.map((name, at) => `${name}\u0000${times[at]}`));
  const missing = all.length * things.length - have.size;
  if (all.length < minTimes || have.size < table.count || missing < 1 || missing > table.count * 0.1 || missing > 40) return [];
  const named = things.flatMap((name) => all.filter((each) => !have.has(`${name}\u0000${each}`)).map((each) => `${name} in ${each}`));
  return [
    {
      kind: 'grid_gaps',
      text: `Every ${group.name} has a row for every ${time.name}, but ${exact(missing)} ${missing === 1 ? 'is' : 'are'} missing: ${listed(named.slice(0, shown), shown)}${named.length > shown ? ' and more' : ''}.`,
    },
  ];
}

/** Rows with a different figure, if a figure is the same in nearly all rows of each thing, e.g. a rent. */
function oddOnes(table: ColumnsInMemory, groups: readonly ColumnPlan[]): Finding[] {
  return table
    .quantities()
    .filter(({ units, values }) => units.size < 2 && values.distinct >= 2)
    .slice(0, maxFigures)
    .flatMap((plan): Finding[] => {
      for (const group of groups) {
        const odd = oddIn(table, plan, group);
        if (odd !== null && odd.length > 0)
          return [
            {
              kind: 'group_odd',
              text: `${plan.name} is the same in the rows of each ${group.name}, but not in ${listed(odd.slice(0, shown), shown)}${odd.length > shown ? ' and more' : ''}.`,
            },
          ];
      }
      return [];
    })
    .slice(0, 3);
}

/** Null if the figure does not depend on the group. */
function oddIn(table: ColumnsInMemory, plan: ColumnPlan, group: ColumnPlan): string[] | null {
  const [numbers, names] = [table.numbers(plan), table.texts(group)];
  const counts = new Map<string, Map<number, number[]>>();
  for (const [at, name] of names.entries()) {
    if (Number.isNaN(numbers[at]!)) continue;
    const own = counts.get(name) ?? new Map<number, number[]>();
    counts.set(name, own);
    const alike = own.get(numbers[at]!);
    if (alike === undefined) own.set(numbers[at]!, [at]);
    else alike.push(at);
  }
  const odd: number[] = [];
  const usual = new Map<number, number>();
  for (const own of counts.values()) {
    const ranked = [...own].toSorted((a, b) => b[1].length - a[1].length);
    const rows = ranked.reduce((sum, [, each]) => sum + each.length, 0);
    if (rows < minAlike || ranked[0]![1].length < rows * 0.75) return null;
    for (const [, each] of ranked.slice(1))
      for (const at of each) {
        odd.push(at);
        usual.set(at, ranked[0]![0]);
      }
  }
  // Groups that all have the same figure do not characterise the group.
  if (new Set([...counts.values()].map((own) => [...own].toSorted((a, b) => b[1].length - a[1].length)[0]![0])).size < 2) return null;
  if (odd.length > Math.max(2, table.count * 0.05)) return null;
  return odd
    .toSorted((a, b) => a - b)
    .map((at) => `${table.rowInWords(at)} of ${names[at]}: ${exact(numbers[at]!)} instead of ${exact(usual.get(at)!)}`);
}
