/** Cells of one column beside the others: texts among numbers by their rows, and numbers that a group always has. */
import { cellText } from '../cell.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { exact, listed } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { isGroup } from './crossed-groups.ts';

const cellsNamed = 6;
const maxFindings = 4;
const minRowsPerGroup = 3;
const maxGroups = 12;

export function cellFindings(table: ColumnsInMemory): Finding[] {
  return [...notNumbers(table), ...sameInGroup(table)];
}

/** "'ERR' in row 141 (2024-07-02, F2)": the rows whose cell is left out of the figures of its column. */
function notNumbers(table: ColumnsInMemory): Finding[] {
  return table
    .quantities()
    .flatMap((plan): Finding[] => {
      const [texts, numbers] = [table.texts(plan), table.numbers(plan)];
      const rows = [...texts.keys()].filter((at) => texts[at] !== '' && Number.isNaN(numbers[at]!));
      if (rows.length === 0 || rows.length > cellsNamed) return [];
      const each = rows.map((at) => `'${cellText(texts[at]!, 40)}' in ${table.rowInWords(at)}`);
      return [{ kind: 'not_numbers', text: `Not a number in ${plan.name}: ${listed(each, cellsNamed)}.` }];
    })
    .slice(0, maxFindings);
}

/** "price is the same in all rows of a plan: Basic 9.90, Pro 29". */
function sameInGroup(table: ColumnsInMemory): Finding[] {
  const groups = table.plans.filter((plan) => isGroup(table, plan) && plan.values.distinct <= maxGroups);
  return table
    .quantities()
    .filter(({ values, units }) => values.distinct >= 2 && units.size < 2)
    .flatMap((plan): Finding[] => {
      for (const group of groups) {
        const each = constants(table, plan, group);
        if (each !== null)
          return [{ kind: 'relation', text: `${plan.name} is the same in all rows of a ${group.name}: ${listed(each, maxGroups)}.` }];
      }
      return [];
    })
    .slice(0, maxFindings);
}

function constants(table: ColumnsInMemory, plan: ColumnPlan, group: ColumnPlan): string[] | null {
  const [texts, numbers] = [table.texts(group), table.numbers(plan)];
  const found = new Map<string, number>();
  let rows = 0;
  for (let at = 0; at < table.count; at++) {
    if (texts[at] === '' || Number.isNaN(numbers[at]!)) continue;
    rows++;
    const known = found.get(texts[at]!);
    if (known === undefined) found.set(texts[at]!, numbers[at]!);
    else if (known !== numbers[at]!) return null;
  }
  if (found.size < 2 || rows < found.size * minRowsPerGroup) return null;
  return [...found].map(([text, value]) => `${text} ${exact(value)}`);
}
