/**
 * Few numbers of a column that are written in another way than the others: as text in JSON, with an apostrophe or blanks in CSV (such as '50.00 and
 * 1 250.00, which other programs leave out of sums), or with a unit. They are counted as numbers.
 */

import { type Cell, quoted } from '../cell.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { readNumber } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const mostNamed = 6;
const maxShare = 0.2;
/** So many blanks between digits are no habit of the column. */
const fewSpaced = 3;
const blankBetweenDigits = /\d[ \u00a0\u202f\u2009]\d/;
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
      const numbers = table.numbers(plan);
      // In a CSV every cell is a text; there an apostrophe, blanks or a unit are what differs.
      const dressed = texts.length < known ? texts : textsOfNumbers(cells, texts, numbers);
      const isDressed = dressed.length > 0 || plan.unit === '';
      const odd = isDressed ? dressed : texts.filter((at) => (cells[at] as string).includes(plan.unit));
      if (odd.length === 0 || odd.length > known * maxShare) return [];
      const how = isDressed ? 'as text' : `with ${plan.unit}`;
      const each = odd.slice(0, mostNamed).map((at) => `${quoted(cells[at]!, shownChars)} in ${table.rowInWords(at)}`);
      const read = odd.length === 1 ? ` as ${exact(numbers[odd[0]!]!)}` : '';
      return [
        {
          kind: 'unit_cells',
          text: `${plan.name} is written ${how} in ${countOf(odd.length, 'row')}, unlike the others: ${listed(each, mostNamed)}${odd.length > mostNamed ? ' and more' : ''}; ${odd.length === 1 ? 'it is' : 'they are'} counted${read}.`,
        },
      ];
    });
}

/** The rows with an apostrophe before the digits or blanks around them, and those with blanks between digits unless most large numbers of the column have them. */
function textsOfNumbers(cells: readonly Cell[], rows: readonly number[], numbers: Float64Array): number[] {
  const marked = rows.filter((at) => /^\s?['’]/.test((cells[at] as string).slice(0, 3)) || isPadded(cells[at] as string));
  const spaced = rows.filter((at) => blankBetweenDigits.test(cells[at] as string));
  const large = rows.filter((at) => Math.abs(numbers[at]!) >= 1_000).length;
  return spaced.length <= Math.max(fewSpaced, large * maxShare) ? [...new Set([...marked, ...spaced])].sort((a, b) => a - b) : marked;
}

function isPadded(cell: string): boolean {
  return cell !== cell.trim();
}
