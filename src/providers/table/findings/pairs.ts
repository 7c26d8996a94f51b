/** Two columns with the same thing before and after: the change, in total and by group. */
import type { ColumnPlan } from '../column-evidence.ts';
import { nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const befores = new Set('before pre vorher vor start initial baseline anfang old alt previous'.split(' '));
const afters = new Set('after post nachher nach end final followup ende new neu current'.split(' '));
const maxPairs = 3;
const maxGroups = 8;

export function pairFindings(table: ColumnsInMemory): Finding[] {
  const plans = table.quantities().filter(({ units }) => units.size < 2);
  // Equal names except for the word that gives the time.
  const marked = (words: ReadonlySet<string>) =>
    plans.flatMap((plan) => {
      const tokens = nameTokens(plan.name);
      const rest = tokens.filter((token) => !words.has(token));
      return rest.length < tokens.length ? [{ plan, rest: rest.join(' ') }] : [];
    });
  const later = new Map(marked(afters).map(({ plan, rest }) => [rest, plan]));
  const found = marked(befores).flatMap(({ plan, rest }): [ColumnPlan, ColumnPlan][] => {
    const after = later.get(rest);
    return after === undefined || after === plan ? [] : [[plan, after]];
  });
  return found.slice(0, maxPairs).flatMap(([before, after]) => change(table, before, after));
}

function change(table: ColumnsInMemory, before: ColumnPlan, after: ColumnPlan): Finding[] {
  const [x, y] = [table.numbers(before), table.numbers(after)];
  const rows = [...x.keys()].filter((at) => !Number.isNaN(x[at]!) && !Number.isNaN(y[at]!));
  if (rows.length < 3) return [];
  const mean = (own: readonly number[]) => own.reduce((sum, at) => sum + y[at]! - x[at]!, 0) / own.length;
  const ranked = rows.toSorted((a, b) => y[a]! - x[a]! - (y[b]! - x[b]!));
  const [low, high] = [ranked[0]!, ranked.at(-1)!];
  const fewer = rows.filter((at) => y[at]! < x[at]!).length;
  const more = rows.filter((at) => y[at]! > x[at]!).length;
  const groups = table.plans
    .filter(
      ({ reads, type, values, filled }) =>
        reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= Math.min(maxGroups, filled / 2),
    )
    .slice(0, 3)
    .map((group) => {
      const of = new Map<string, number[]>();
      for (const at of rows) {
        const key = table.texts(group)[at]!;
        if (key === '') continue;
        const own = of.get(key);
        if (own === undefined) of.set(key, [at]);
        else own.push(at);
      }
      return `; by ${group.name}: ${[...of].map(([key, own]) => `${key} ${round(mean(own))} (${countOf(own.length, 'row')})`).join(', ')}`;
    })
    .join('');
  return [
    {
      kind: 'change',
      text: `${after.name} − ${before.name} is ${round(mean(rows))} on average over ${countOf(rows.length, 'row')}: lower in ${exact(fewer)}, higher in ${exact(more)}; from ${exact(clean(y[low]! - x[low]!))} in ${table.rowName(low)} to ${exact(clean(y[high]! - x[high]!))} in ${table.rowName(high)}${groups}.`,
    },
  ];
}
