/** Few numbers of a column that are written in another way than the others: as text in JSON, or with a unit. They are counted as numbers. */

import { cellText } from '../cell.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { readNumber } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const mostNamed = 6;
const maxShare = 0.2;
const shownChars = 30;

export function writtenNumberFindings(table: ColumnsInMemory, own: ReadonlySet<ColumnPlan>): Finding[] {
  return table
    .quantities()
    .filter((plan) => own.has(plan))
    .flatMap((plan): Finding[] => {
      const cells = table.rows.cells.map((row) => row[plan.index] ?? null);
      const isNumber = (at: number) => readNumber(plan, cells[at]!) !== null;
      const texts = [...cells.keys()].filter((at) => typeof cells[at] === 'string' && isNumber(at));
      const known = [...cells.keys()].filter(isNumber).length;
      // In a CSV every cell is a text; there a unit is what differs.
      const odd = texts.length < known ? texts : plan.unit === '' ? [] : texts.filter((at) => (cells[at] as string).includes(plan.unit));
      if (odd.length === 0 || odd.length > known * maxShare) return [];
      const how = texts.length < known ? 'as text' : `with ${plan.unit}`;
      const each = odd.slice(0, mostNamed).map((at) => `'${cellText(cells[at]!, shownChars)}' in ${table.rowName(at)}`);
      const numbers = table.numbers(plan);
      const read = odd.length === 1 ? ` as ${exact(numbers[odd[0]!]!)}` : '';
      return [
        {
          kind: 'unit_cells',
          text: `${plan.name} is written ${how} in ${countOf(odd.length, 'row')}, unlike the others: ${listed(each, mostNamed)}${odd.length > mostNamed ? ' and more' : ''}; ${odd.length === 1 ? 'it is' : 'they are'} counted${read}.`,
        },
      ];
    });
}
