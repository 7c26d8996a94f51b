/** Columns that are the lower and the upper end of the same thing (tmin and tmax, low and high): rows whose lower value is above the upper. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const ends: readonly (readonly [string, string])[] = [
  ['min', 'max'],
  ['low', 'high'],
  ['lower', 'upper'],
  ['smallest', 'largest'],
  ['diastolic', 'systolic'],
];
const shown = 6;

export function boundFindings(table: ColumnsInMemory): Finding[] {
  const plans = table.quantities();
  return plans.flatMap((lower): Finding[] => {
    const upper = upperOf(lower, plans);
    if (upper === undefined) return [];
    const [low, high] = [table.numbers(lower), table.numbers(upper)];
    const rows = [...low.keys()].filter((at) => low[at]! > high[at]!);
    const known = [...low.keys()].filter((at) => !Number.isNaN(low[at]!) && !Number.isNaN(high[at]!)).length;
    // If it is common, the names have another meaning.
    if (rows.length === 0 || known < 5 || rows.length > known * 0.1) return [];
    const each = rows.slice(0, shown).map((at) => `${table.rowInWords(at)}: ${exact(low[at]!)} and ${exact(high[at]!)}`);
    return [
      {
        kind: 'bounds',
        text: `${lower.name} is above ${upper.name} in ${countOf(rows.length, 'row')}: ${listed(each, shown)}${rows.length > shown ? ' and more' : ''}.`,
      },
    ];
  });
}

function upperOf({ name }: ColumnPlan, plans: readonly ColumnPlan[]): ColumnPlan | undefined {
  const written = name.toLowerCase();
  for (const [low, high] of ends) {
    const at = written.indexOf(low);
    if (at < 0) continue;
    const wanted = written.slice(0, at) + high + written.slice(at + low.length);
    const found = plans.find((plan) => plan.name.toLowerCase() === wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}
