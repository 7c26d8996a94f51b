/** One of two joined tables: its key, its rows by key, and its figures. */
import { cellText } from './cell.ts';
import { type ColumnPlan, readNumber } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { words } from './column-words.ts';
import { ExactSum } from './exact-sum.ts';
import { leftOutText } from './figure-text.ts';
import { type JoinKey, type JoinSide, uniqueness } from './join-key.ts';
import { isMoney } from './plan-figures.ts';

export const maxKeyChars = 60;
/** Keys for each row of a table that is a list of them. */
const minUnique = 0.6;

export type Side = JoinSide & { plans: ColumnPlan[]; rows: JoinKey['leftRows'] };

const mainWords = words(
  'amount revenue sales budget plan planned target spent cost costs kosten betrag umsatz total actual ist soll value wert',
);
const mainEnding = /(?:betrag|umsatz|kosten|budget|amount|value|total)$/i;

/** The main column of a table: one that the task names, else money, then additive ones. */
export function mainOf(side: Side): ColumnPlan | undefined {
  const plans = quantities(side).filter(({ role }) => role === 'measure');
  return (
    plans.find(({ name }) => side.named?.includes(name) === true) ??
    plans.find(({ name }) => has(nameTokens(name), mainWords) || mainEnding.test(name)) ??
    plans.find(isMoney) ??
    plans[0]
  );
}

export function quantities(side: Side): ColumnPlan[] {
  return table(side)
    .quantities()
    .filter(({ units }) => units.size < 2);
}

export function sums(side: Side, plan: ColumnPlan): Map<string, number> {
  const numbers = table(side).numbers(plan);
  const found = new Map<string, number>();
  for (const [key, rows] of side.rows) {
    const sum = new ExactSum();
    let known = false;
    for (const at of rows) {
      if (Number.isNaN(numbers[at]!)) continue;
      known = true;
      sum.add(numbers[at]!, readNumber(plan, table(side).rows.cells[at]![plan.index] ?? null)?.decimals ?? 0);
    }
    if (known) found.set(key, sum.total());
  }
  return found;
}

/** The side with the rows that other figures of its table count. */
export function countedOf(side: Side): Side {
  const { counted } = side;
  if (counted === undefined) return side;
  const rows = [...side.rows].map(([key, own]): [string, number[]] => [key, own.filter((at) => counted.has(at))]);
  return { ...side, rows: new Map(rows.filter(([, own]) => own.length > 0)) };
}

/** What counted rows without a key hold of a column. */
export function keyless(side: Side, plan: ColumnPlan): { sum: number; rows: number[] } {
  const numbers = table(side).numbers(plan);
  const keyed = new Set([...side.rows.values()].flat());
  const rows: number[] = [];
  for (let at = 0; at < table(side).count; at++)
    if (!keyed.has(at) && (side.counted?.has(at) ?? true) && !Number.isNaN(numbers[at]!)) rows.push(at);
  return { sum: rows.reduce((sum, at) => sum + numbers[at]!, 0), rows };
}

/** Only the rows that count are in the figures of such a side. */
export function withoutText({ counted, leftOut, rows }: Side): string {
  if (counted === undefined || leftOut === undefined) return '';
  const all = [...rows.values()].every((own) => own.every((at) => counted.has(at)));
  return all ? `, without ${leftOutText(leftOut)}` : '';
}

export function written(side: Side, at: number): string {
  return side.plans.map((plan) => cellText(table(side).texts(plan)[at]!, maxKeyChars)).join(' / ');
}

/** " (Bolt M4)", from the table that has a name for the key. */
export function labelOf(a: Side, at: number, b: Side, other: number): string {
  for (const [side, row] of [
    [a, at],
    [b, other],
  ] as const) {
    const name = nameBeside(side, row);
    if (name !== '') return ` (${name})`;
  }
  return '';
}

/** A name tells a row apart, so it is none of a key that has several rows. */
function nameBeside(side: Side, at: number): string {
  const plan = uniqueness(side.rows) < minUnique ? undefined : table(side).nameBeside(side.plans);
  return plan === undefined || at < 0 ? '' : cellText(table(side).texts(plan)[at]!, maxKeyChars);
}

export function table(side: Side): JoinSide['table'] {
  return side.table;
}
