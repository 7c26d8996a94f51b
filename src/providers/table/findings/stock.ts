/** Stock compared with its minimum: items below their reorder level. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import { isPrice, isQuantity } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';

const leastWords = new Set(
  'reorder reorderlevel reorder_level min minimum mindest mindestbestand meldebestand mindestmenge safety threshold sicherheitsbestand'.split(
    ' ',
  ),
);
const shown = 12;

export function stockFindings(table: ColumnsInMemory): Finding[] {
  const plans = table.quantities().filter(({ units, name }) => units.size < 2 && !isPrice(name));
  const least = plans.filter(({ name }) => isLeast(name));
  const stock = plans.filter(({ name }) => !isLeast(name) && isQuantity(name));
  if (least.length !== 1 || stock.length !== 1) return [];
  return [below(table, stock[0]!, least[0]!)];
}

function isLeast(name: string): boolean {
  const tokens = nameTokens(name);
  return has(tokens, leastWords) || /^(?:mindest|melde|sicherheits)/.test(tokens.at(-1) ?? '');
}

function below(table: ColumnsInMemory, stock: ColumnPlan, least: ColumnPlan): Finding {
  const [s, l] = [table.numbers(stock), table.numbers(least)];
  const rows = [...s.keys()].filter((at) => !Number.isNaN(s[at]!) && !Number.isNaN(l[at]!));
  const short = rows.filter((at) => s[at]! < l[at]!).toSorted((a, b) => l[b]! - s[b]! - (l[a]! - s[a]!));
  const equal = rows.filter((at) => s[at]! === l[at]!);
  const named = short
    .slice(0, shown)
    .map((at) => `${table.rowName(at)} ${exact(s[at]!)} of ${exact(l[at]!)} (${exact(clean(l[at]! - s[at]!))} short)`);
  const level =
    equal.length === 0
      ? ''
      : ` Exactly at it: ${listed(
          equal.map((at) => table.rowName(at)),
          shown,
        )}.`;
  return {
    kind: 'stock',
    text:
      short.length === 0
        ? `${stock.name} is not below ${least.name} in any of ${countOf(rows.length, 'row')}.${level}`
        : `${stock.name} is below ${least.name} in ${exact(short.length)} of ${countOf(rows.length, 'row')}: ${listed(named, shown)}${short.length > shown ? ' and more' : ''}.${level}`,
  };
}
