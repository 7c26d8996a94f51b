/** The difference of a measured value from its set point, two columns of one unit: on average in each group, and where it is largest. */
import type { ColumnPlan } from '../column-evidence.ts';
import { nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { wordSet } from '../word-set.ts';
import { groupColumns } from './group-columns.ts';
import { rowsByValue } from './spans.ts';

const setWords = wordSet('set setpoint sp soll sollwert setting nominal nominale consigne consigna specified');
const minRows = 8;
const maxGroups = 12;
const maxGroupings = 3;
const shown = 5;
/** A set point and its value differ by less than this share of the set point in the middle. */
const maxUsual = 0.5;

export function deviationFindings(table: ColumnsInMemory): Finding[] {
  const numbers = table.quantities().filter(({ units }) => units.size < 2);
  const set = numbers.find(({ name }) => nameTokens(name).some((token) => setWords.has(token)));
  if (set === undefined) return [];
  const measured = measuredOf(table, set, numbers);
  if (measured === undefined) return [];
  const [target, actual] = [table.numbers(set), table.numbers(measured)];
  const by = actual.map((value, at) => clean(value - target[at]!));
  const rows = [...by.keys()].filter((at) => !Number.isNaN(by[at]!));
  const ranked = rows.toSorted((a, b) => Math.abs(by[b]!) - Math.abs(by[a]!));
  const far = ranked
    .slice(0, shown)
    .map((at) => `${table.rowInWords(at)} by ${signedValue(by[at]!)} (${exact(actual[at]!)} beside ${exact(target[at]!)})`);
  const outside = new Set(ranked.slice(0, Math.min(shown, Math.floor(rows.length / 10))));
  const groups = groupColumns(table, { except: [set, measured], mostValues: maxGroups, most: maxGroupings });
  const byGroup = groups.map((plan) => {
    const each = rowsByValue(table, plan, rows)
      .filter(([, own]) => own.length >= 3)
      .map(([key, own]) => ({ key, own, mean: meanOf(by, own) }))
      .toSorted((a, b) => b.mean - a.mean);
    const named = each.map(({ key, own, mean }) => {
      const rest = own.filter((at) => !outside.has(at));
      const without = rest.length === own.length || rest.length === 0 ? '' : `, ${signedValue(meanOf(by, rest))} without the largest`;
      const most = Math.max(...own.map((at) => by[at]!));
      return `${key} ${signedValue(mean)} (${countOf(own.length, 'row')}, at most ${signedValue(most)}${without})`;
    });
    return named.length < 2 ? '' : ` By ${plan.name}: ${named.join(', ')}.`;
  });
  return [
    {
      kind: 'deviation',
      text: `${measured.name} less ${set.name} is ${signedValue(meanOf(by, rows))} on average over ${countOf(rows.length, 'row')} with both.${byGroup.join('')} Farthest from it: ${listed(far, shown)}.`,
    },
  ];
}

/** The column with the same other words, or of the same unit and size. */
function measuredOf(table: ColumnsInMemory, set: ColumnPlan, numbers: readonly ColumnPlan[]): ColumnPlan | undefined {
  const rest = nameTokens(set.name).filter((token) => !setWords.has(token));
  const target = table.numbers(set);
  const found = numbers
    .filter((plan) => plan !== set && !nameTokens(plan.name).some((token) => setWords.has(token)))
    .map((plan) => ({ plan, shared: nameTokens(plan.name).filter((token) => rest.includes(token)).length }))
    .filter(({ plan, shared }) => shared > 0 && isNear(table.numbers(plan), target));
  return found.toSorted((a, b) => b.shared - a.shared)[0]?.plan;
}

function isNear(actual: Float64Array, target: Float64Array): boolean {
  const shares = [...actual.keys()]
    .filter((at) => !Number.isNaN(actual[at]!) && target[at]! !== 0 && !Number.isNaN(target[at]!))
    .map((at) => Math.abs(actual[at]! - target[at]!) / Math.abs(target[at]!))
    .sort((a, b) => a - b);
  return shares.length >= minRows && shares[shares.length >> 1]! <= maxUsual;
}

function meanOf(values: Float64Array, rows: readonly number[]): number {
  return rows.reduce((sum, at) => sum + values[at]!, 0) / rows.length;
}

function signedValue(value: number): string {
  return `${value < 0 ? '−' : '+'}${round(Math.abs(value))}`;
}
