/** Two columns with the same thing before and after: the change, in total and by group. */
import type { ColumnPlan } from '../column-evidence.ts';
import { nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const befores = new Set('before pre vorher vor start initial baseline anfang old alt previous'.split(' '));
const afters = new Set('after post nachher nach end final followup ende new neu current'.split(' '));
const maxPairs = 3;
const maxGroups = 8;
const minRows = 3;
const maxNamed = 6;
/** Largest share of rows with a note. */
const maxNoted = 0.3;

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
  if (rows.length < minRows) return [];
  const changes = (own: readonly number[]) => changeOf(before, after, x, y, own);
  const ranked = rows.toSorted((a, b) => y[a]! - x[a]! - (y[b]! - x[b]!));
  const [low, high] = [ranked[0]!, ranked.at(-1)!];
  const fewer = rows.filter((at) => y[at]! < x[at]!).length;
  const more = rows.filter((at) => y[at]! > x[at]!).length;
  const partial = [...x.keys()].filter((at) => Number.isNaN(x[at]!) !== Number.isNaN(y[at]!));
  const groups = table.plans
    .filter(
      ({ reads, type, values, filled }) =>
        ((reads === 'text' && type === 'text') || reads === 'boolean') &&
        values.distinct >= 2 &&
        values.distinct <= Math.min(maxGroups, filled / 2),
    )
    .slice(0, 3);
  const inAll = changes(rows);
  return [
    {
      kind: 'change',
      text:
        `${after.name} − ${before.name} is ${inAll.mean} on average over ${countOf(rows.length, 'row')} (${inAll.text}): lower in ${exact(fewer)}, higher in ${exact(more)}; from ${exact(clean(y[low]! - x[low]!))} in ${table.rowName(low)} to ${exact(clean(y[high]! - x[high]!))} in ${table.rowName(high)}.` +
        (partial.length === 0
          ? ''
          : ` Left out, because one of the two is missing: ${listed(
              partial.map((at) => table.rowName(at)),
              maxNamed,
            )}.`),
    },
    ...groups.flatMap((group) => byGroup(table, group, before, after, rows)),
  ];
}

/** The change for each value of a column; and again without the few rows that have a note. */
function byGroup(table: ColumnsInMemory, group: ColumnPlan, before: ColumnPlan, after: ColumnPlan, rows: readonly number[]): Finding[] {
  const [x, y] = [table.numbers(before), table.numbers(after)];
  const texts = table.texts(group);
  const say = (own: readonly number[]) =>
    [
      ...Map.groupBy(
        own.filter((at) => texts[at] !== ''),
        (at) => texts[at]!,
      ),
    ]
      .map(([key, members]) => {
        const { text, mean } = changeOf(before, after, x, y, members);
        return `${key} ${text}, ${mean} on average (${countOf(members.length, 'row')})`;
      })
      .join('; ');
  const note = table.plans.find(
    ({ reads, filled, type }) =>
      reads === 'text' && type === 'text' && filled > 0 && filled <= maxNamed && filled <= table.count * maxNoted,
  );
  const noted = note === undefined ? [] : rows.filter((at) => table.texts(note)[at] !== '');
  const without = rows.filter((at) => !noted.includes(at));
  const again =
    noted.length === 0 || without.length < minRows
      ? ''
      : ` Without the rows that have a ${note!.name} (${listed(noted.map((at) => table.rowName(at)))}): ${say(without)}.`;
  return [
    {
      kind: 'change',
      text: `From ${before.name} to ${after.name} by ${group.name}: ${say(rows)}.${again} A difference between groups is no proof of its cause: the groups may differ in other ways too.`,
    },
  ];
}

/** The change of the sums, or of the means where a sum has no meaning; and the mean change of a row. */
function changeOf(before: ColumnPlan, after: ColumnPlan, x: Float64Array, y: Float64Array, rows: readonly number[]) {
  const additive = before.role === 'measure' && after.role === 'measure';
  const total = (numbers: Float64Array) => clean(rows.reduce((sum, at) => sum + numbers[at]!, 0));
  const figure = (numbers: Float64Array) => (additive ? total(numbers) : total(numbers) / rows.length);
  const shown = additive ? exact : round;
  const [from, to] = [figure(x), figure(y)];
  const share = from > 0 ? `, ${to < from ? '−' : '+'}${percent(Math.abs(to - from), from)}` : '';
  const mean = clean((total(y) - total(x)) / rows.length);
  return { text: `${additive ? '' : 'mean '}${shown(from)} to ${shown(to)}${share}`, mean: round(mean) };
}
