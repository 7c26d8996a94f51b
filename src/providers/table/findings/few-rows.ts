/** The few rows that have the rarer of two values. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const minRows = 10;
const fewRows = 3;
const maxColumns = 4;

export function fewRowsFindings(table: ColumnsInMemory): Finding[] {
  if (table.count < minRows) return [];
  const twofold = table.plans.filter(({ type, values }) => type === 'boolean' && values.exact && values.distinct === 2);
  return twofold.slice(0, maxColumns).flatMap((plan) => rarerValue(table, plan));
}

function rarerValue(table: ColumnsInMemory, plan: ColumnPlan): Finding[] {
  const [, rarer] = plan.values.top(2);
  if (rarer === undefined || rarer.count > fewRows) return [];
  const texts = table.texts(plan);
  const rows = [...texts.keys()].filter((at) => texts[at] === rarer.key);
  if (rows.length !== rarer.count) return [];
  const named = listed(rows.map((at) => table.rowInWords(at)));
  return [{ kind: 'few_rows', text: `${plan.name} is ${rarer.key} in ${countOf(rows.length, 'row')} of ${exact(plan.filled)}: ${named}.` }];
}
