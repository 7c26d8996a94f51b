/** The few rows that have the rarer of two values, and the items of which nothing is in stock. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const stockWords = new Set('stock bestand lagerbestand inventory on_hand hand onhand'.split(' '));
const minRows = 10;
const fewRows = 3;
const maxZeros = 6;
const maxColumns = 4;

export function fewRowsFindings(table: ColumnsInMemory): Finding[] {
  if (table.count < minRows) return [];
  const twofold = table.plans.filter(({ type, values }) => type === 'boolean' && values.exact && values.distinct === 2);
  return [
    ...twofold.slice(0, maxColumns).flatMap((plan) => rarerValue(table, plan)),
    ...table
      .quantities()
      .filter(({ name }) => has(nameTokens(name), stockWords))
      .slice(0, maxColumns)
      .flatMap((plan) => zeros(table, plan)),
  ];
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

function zeros(table: ColumnsInMemory, plan: ColumnPlan): Finding[] {
  const numbers = table.numbers(plan);
  const rows = [...numbers.keys()].filter((at) => numbers[at] === 0);
  if (rows.length === 0 || rows.length > maxZeros) return [];
  return [
    {
      kind: 'few_rows',
      text: `${plan.name} is 0 in ${countOf(rows.length, 'row')}: ${listed(
        rows.map((at) => table.rowInWords(at)),
        maxZeros,
      )}.`,
    },
  ];
}
