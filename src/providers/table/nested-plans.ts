/** A plan in a record and the figures of its list: the estimate of a task and the hours booked on it. */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { type ColumnsInMemory, clean } from './columns-in-memory.ts';
import { exact, listed } from './figure-text.ts';
import { recordKey } from './nested-totals.ts';
import type { Finding } from './table-profile.ts';

const planWords = new Set(
  'estimate estimated budget planned plan target limit quota allowance soll geplant schätzung kontingent'.split(' '),
);
const shown = 20;

/** @param inherited columns of the lines that come from their record */
export function nestedPlans(records: ColumnsInMemory, lines: ColumnsInMemory, name: string, inherited: readonly string[]): Finding[] {
  const keys = recordKey(records, lines, inherited);
  const plan = records.quantities().filter((column) => has(nameTokens(column.name), planWords));
  const measure = lines
    .quantities()
    .filter((column) => !inherited.includes(column.name) && column.role === 'measure' && column.units.size < 2);
  if (keys === null || plan.length !== 1 || measure.length !== 1) return [];
  const sums = new Map<string, number>();
  const ids = lines.written(keys.own);
  const numbers = lines.numbers(measure[0]!);
  for (let at = 0; at < lines.count; at++) if (!Number.isNaN(numbers[at]!)) sums.set(ids[at]!, (sums.get(ids[at]!) ?? 0) + numbers[at]!);
  const planned = records.numbers(plan[0]!);
  const rows = [...planned.keys()].filter((at) => !Number.isNaN(planned[at]!));
  if (rows.length < 2) return [];
  const each = rows.slice(0, shown).map((at) => differenceText(records, keys.key, at, planned[at]!, sums));
  return [
    {
      kind: 'planned',
      text: `${measure[0]!.name} of ${name} against ${plan[0]!.name}: ${listed(each, shown)}${rows.length > shown ? ' and more' : ''}.`,
    },
  ];
}

/** "pump-3 has no readings": records with an empty list. */
export function emptyLists(records: ColumnsInMemory, name: string): Finding[] {
  const count = records.quantities().find((plan) => plan.name === `number of ${name}`);
  if (count === undefined) return [];
  const numbers = records.numbers(count);
  const empty = [...numbers.keys()].filter((at) => numbers[at] === 0);
  if (empty.length === 0 || empty.length > shown || empty.length > records.count / 2) return [];
  return [
    {
      kind: 'no_entries',
      text: `No ${name} at all: ${listed(
        empty.map((at) => records.rowName(at)),
        shown,
      )}.`,
    },
  ];
}

function differenceText(records: ColumnsInMemory, key: ColumnPlan, at: number, planned: number, sums: ReadonlyMap<string, number>): string {
  const id = records.texts(key)[at]!;
  const label = records.label(at);
  const name = label === '' || label === id ? id : `${id} (${label})`;
  const sum = sums.get(id);
  if (sum === undefined) return `${name} none of ${exact(planned)}`;
  const difference = clean(sum - planned);
  const how = difference === 0 ? 'exactly' : difference > 0 ? `over by ${exact(difference)}` : `under by ${exact(-difference)}`;
  return `${name} ${exact(clean(sum))} of ${exact(planned)} (${how})`;
}
