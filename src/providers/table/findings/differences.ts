/** Where a few rows with one key differ: the columns, and the values in the order of the rows. */
import { cellText } from '../cell.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { listed } from '../figure-text.ts';

const maxRows = 3;
const maxColumns = 3;
const shownChars = 30;

/** ": date 2025-04-07 and 2025-04-25, blood_type O- and A+"; empty for equal rows and for more than a few. */
export function differencesOf(table: ColumnsInMemory, rows: readonly number[]): string {
  if (rows.length > maxRows) return '';
  const parts = table.plans.flatMap((plan) => {
    const texts = table.texts(plan);
    const own = rows.map((at) => texts[at]!);
    return new Set(own).size < 2 ? [] : [`${plan.name} ${listed(own.map((text) => (text === '' ? 'empty' : cellText(text, shownChars))))}`];
  });
  return parts.length === 0 ? '' : `: ${parts.slice(0, maxColumns).join(', ')}${parts.length > maxColumns ? ' and more' : ''}`;
}
