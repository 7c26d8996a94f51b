/** If a column mixes currencies or units, the figures of each: its largest row, and its sums by group and by month. Units are never added. */
import type { ColumnPlan } from '../column-evidence.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, percent } from '../figure-text.ts';
import { unitColumns } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';

const minRows = 2;
const maxUnits = 4;
const maxGroups = 12;

export function currencyFindings(table: ColumnsInMemory): Finding[] {
  return [...unitColumns({ columns: table.plans })].slice(0, 2).flatMap(([index, units]) => {
    const plan = table.plans.find((each) => each.index === index);
    if (plan === undefined || plan.role !== 'measure') return [];
    return units.values.top(maxUnits).flatMap(({ key }) => ofUnit(table, plan, units, key));
  });
}

function ofUnit(table: ColumnsInMemory, plan: ColumnPlan, units: ColumnPlan, unit: string): Finding[] {
  const numbers = table.numbers(plan);
  const rows = [...numbers.keys()].filter((at) => table.texts(units)[at] === unit && !Number.isNaN(numbers[at]!));
  if (rows.length < minRows || rows.length === table.count) return [];
  const whole = rows.reduce((sum, at) => sum + numbers[at]!, 0);
  const ranked = rows.toSorted((a, b) => numbers[b]! - numbers[a]!);
  const findings: Finding[] = [
    {
      kind: 'unit_figures',
      text: `${plan.name} in ${unit} only: largest in ${table.rowInWords(ranked[0]!)}: ${exact(numbers[ranked[0]!]!)}; smallest in ${table.rowInWords(ranked.at(-1)!)}: ${exact(numbers[ranked.at(-1)!]!)}; mean ${exact(clean(Math.round((whole / rows.length) * 100) / 100))}.`,
    },
  ];
  const say = (name: string, keyOf: (at: number) => string, ordered: boolean) => {
    const sums = new Map<string, number>();
    for (const at of rows) if (keyOf(at) !== '') sums.set(keyOf(at), (sums.get(keyOf(at)) ?? 0) + numbers[at]!);
    if (sums.size < 2 || sums.size > (ordered ? 24 : maxGroups)) return;
    const each = [...sums].toSorted((a, b) => (ordered ? (a[0] < b[0] ? -1 : 1) : b[1] - a[1]));
    const share = (sum: number) => (!ordered && whole > 0 && each.every(([, own]) => own >= 0) ? ` (${percent(sum, whole)})` : '');
    findings.push({
      kind: 'unit_figures',
      text: `${plan.name} in ${unit} by ${name}: ${each.map(([key, sum]) => `${key} ${exact(clean(sum))}${share(sum)}`).join(', ')}.`,
    });
  };
  const groups = table.plans.filter(
    (each) =>
      each !== units && each.reads === 'text' && each.type === 'text' && each.values.distinct >= 2 && each.values.distinct <= maxGroups,
  );
  for (const group of groups.slice(0, 3)) say(group.name, (at) => table.texts(group)[at]!, false);
  const date = table.plans.find(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  if (date !== undefined)
    say(
      `month (${date.name})`,
      (at) => (Number.isNaN(table.dates(date)[at]!) ? '' : new Date(table.dates(date)[at]!).toISOString().slice(0, 7)),
      true,
    );
  return findings;
}
