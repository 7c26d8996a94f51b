/** A division of two columns that a task asks for: over all rows, by each group, and by two groups together, without values that are probably wrong. */
import type { ColumnPlan } from '../column-evidence.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { isGroup } from './crossed-groups.ts';
import type { WrongValue } from './factor-errors.ts';
import type { Ratio } from './ratio.ts';

const minRows = 8;
const maxGroups = 3;
const shown = 12;
const rowsNamed = 6;

type Part = { name: string; ratio: number };

/** Empty if the columns do not exist or the table has no groups: then the ratio by row is told (ratio.ts). */
export function askedRatioFindings(table: ColumnsInMemory, asked: Ratio | undefined, wrong: readonly WrongValue[]): Finding[] {
  if (asked === undefined) return [];
  const [of, per] = [asked.of, asked.per].map((name) => table.quantities().find((plan) => plan.name === name));
  const groups = table.plans.filter((plan) => isGroup(table, plan)).slice(0, maxGroups);
  if (of === undefined || per === undefined || of === per || groups.length === 0) return [];
  const [a, b] = [table.numbers(of), table.numbers(per)];
  const known = [...a.keys()].filter((at) => !Number.isNaN(a[at]!) && !Number.isNaN(b[at]!));
  const odd = new Set(wrong.filter(({ column }) => column === of.name || column === per.name).map(({ at }) => at));
  const rows = known.filter((at) => !odd.has(at));
  if (rows.length < minRows) return [];
  const times = asked.times ?? 1;
  const shared = (own: readonly number[]) => {
    const [above, below] = [sum(a, own), sum(b, own)];
    return below > 0 ? (above / below) * times : Number.NaN;
  };
  const whole = shared(rows);
  const name = times === 1 ? `${of.name} ÷ ${per.name}` : `${of.name} per ${exact(times)} ${per.name}`;
  const byOne = groups.map((plan) => ({ title: plan.name, parts: partsOf(table, [plan], rows, shared) }));
  const pairs = groups.flatMap((one, i) => groups.slice(i + 1).map((other) => [one, other]));
  const byTwo = pairs.map((pair) => ({ title: pair.map((plan) => plan.name).join(' and '), parts: partsOf(table, pair, rows, shared) }));
  const isShare = times === 1 && byOne.every(({ parts }) => parts.every(({ ratio }) => ratio >= 0 && ratio <= 1));
  const written = (ratio: number) => (isShare ? `${round(clean(ratio * 100))} %` : round(clean(ratio)));
  const text = ({ title, parts }: { title: string; parts: Part[] }) => {
    const each = parts.slice(0, shown).map(({ name: own, ratio }) => `${own} ${written(ratio)}`);
    const last = parts.length > shown ? `; the lowest is ${parts.at(-1)!.name} ${written(parts.at(-1)!.ratio)}` : '';
    return `${name} by ${title}, the highest first: ${listed(each, shown)}${parts.length > shown ? ` and ${exact(parts.length - shown)} more` : ''}${last}.`;
  };
  return [
    {
      kind: 'asked_ratio',
      text: `${name} is ${written(whole)} over ${countOf(rows.length, 'row')} (${exact(sum(a, rows))} ÷ ${exact(sum(b, rows))}${times === 1 ? '' : ` × ${exact(times)}`}).${withoutText(table, of, per, known, odd, shared, written, groups)}`,
    },
    ...[...byOne, ...byTwo].filter(({ parts }) => parts.length > 1).map((each) => ({ kind: 'asked_ratio', text: text(each) })),
  ];
}

/** The rows left out, and the groups whose figure they would change. */
function withoutText(
  table: ColumnsInMemory,
  of: ColumnPlan,
  per: ColumnPlan,
  known: readonly number[],
  odd: ReadonlySet<number>,
  shared: (rows: readonly number[]) => number,
  written: (ratio: number) => string,
  groups: readonly ColumnPlan[],
): string {
  const out = known.filter((at) => odd.has(at));
  if (out.length === 0) return '';
  const [a, b] = [table.numbers(of), table.numbers(per)];
  const each = out.map((at) => `${table.rowInWords(at)} with ${of.name} ${exact(a[at]!)} and ${per.name} ${exact(b[at]!)}`);
  const changed = groups.slice(0, 1).flatMap((plan) => {
    const names = table.texts(plan);
    return [...new Set(out.map((at) => names[at]!))].map((name) => `${name} ${written(shared(known.filter((at) => names[at] === name)))}`);
  });
  return ` Left out because probably wrong: ${listed(each, rowsNamed)}; with ${out.length === 1 ? 'it' : 'them'} ${written(shared(known))} in all${changed.length === 0 ? '' : `, ${listed(changed, rowsNamed)}`}.`;
}

function partsOf(
  table: ColumnsInMemory,
  plans: readonly ColumnPlan[],
  rows: readonly number[],
  shared: (rows: readonly number[]) => number,
): Part[] {
  const texts = plans.map((plan) => table.texts(plan));
  const named = rows.filter((at) => texts.every((column) => column[at] !== ''));
  return [...Map.groupBy(named, (at) => texts.map((column) => column[at]!).join(' / '))]
    .map(([name, own]) => ({ name, ratio: shared(own) }))
    .filter(({ ratio }) => !Number.isNaN(ratio))
    .toSorted((x, y) => y.ratio - x.ratio);
}

function sum(numbers: Float64Array, rows: readonly number[]): number {
  return clean(rows.reduce((total, at) => total + numbers[at]!, 0));
}
