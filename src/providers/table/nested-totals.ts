/** Orders and their lines: whether an order's stated total equals the sum of its lines, with or without its shipping, tax and similar amounts. */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { type ColumnsInMemory, clean } from './columns-in-memory.ts';
import { countOf, exact, listed } from './figure-text.ts';
import { isPrice, isQuantity } from './plan-figures.ts';
import type { Finding } from './table-profile.ts';

const totalWords = new Set('total totals amount sum gross betrag gesamt summe gesamtbetrag'.split(' '));
const lessWords = new Set('discount rabatt voucher gutschein'.split(' '));
const shown = 6;
const maxExtras = 4;

/**
 * @param inherited columns of the lines that come from their order
 * @param recordOf the row number of the order of each line of the file; without it, orders are told apart by their key
 */
export function nestedTotals(
  orders: ColumnsInMemory,
  lines: ColumnsInMemory,
  name: string,
  inherited: readonly string[],
  recordOf?: readonly number[],
): Finding[] {
  const keys = recordOf === undefined ? keysOf(orders, lines, inherited) : rowsOf(orders, lines, recordOf);
  const numeric = lines.quantities().filter((plan) => !inherited.includes(plan.name));
  const total = orders.quantities().find((plan) => has(nameTokens(plan.name), totalWords) && plan.role === 'measure');
  if (keys === null || total === undefined) return [];
  const summed = summedOf(lines, numeric, total);
  const { texts, ids } = keys;
  const extras = orders
    .quantities()
    .filter(
      (plan) => plan !== total && !plan.name.startsWith('number of ') && (plan.role === 'measure' || has(nameTokens(plan.name), lessWords)),
    )
    .slice(0, maxExtras);
  const sets = [[], ...extras.map((plan) => [plan]), ...(extras.length > 1 ? [extras] : [])];
  const compare = (sums: ReadonlyMap<string, number>, set: readonly ColumnPlan[]) => {
    const wrong: { at: number; sum: number; written: number }[] = [];
    let known = 0;
    const whole = { sum: 0, written: 0 };
    for (let at = 0; at < orders.count; at++) {
      const written = orders.numbers(total)[at]!;
      const more = set.reduce((sum, plan) => sum + (orders.numbers(plan)[at]! || 0) * (has(nameTokens(plan.name), lessWords) ? -1 : 1), 0);
      const sum = clean((sums.get(texts[at]!) ?? 0) + more);
      if (Number.isNaN(written) || Number.isNaN(sum)) continue;
      known++;
      whole.sum += sum;
      whole.written += written;
      if (Math.abs(sum - written) > 0.006) wrong.push({ at, sum, written });
    }
    return { wrong, known, whole };
  };
  const tried = summed.flatMap(({ name: what, at: valueAt }) => {
    const sums = new Map<string, number>();
    for (let at = 0; at < lines.count; at++) sums.set(ids[at]!, (sums.get(ids[at]!) ?? 0) + valueAt(at));
    return sets.map((set) => ({ what, set, ...compare(sums, set) }));
  });
  const best = tried.toSorted((a, b) => a.wrong.length - b.wrong.length)[0];
  if (best === undefined || best.known < 3 || best.wrong.length > best.known * 0.4) return [];
  const signs = best.set.map((plan) => ` ${has(nameTokens(plan.name), lessWords) ? '−' : '+'} ${plan.name}`).join('');
  const formula = `${total.name} = sum of ${best.what} of its ${name}${signs}`;
  const each = best.wrong
    .slice(0, shown)
    .map(
      ({ at, sum, written }) =>
        `${orders.rowName(at)}: ${exact(sum)}, written ${exact(written)} (difference ${exact(clean(written - sum))})`,
    );
  return [
    {
      kind: best.wrong.length === 0 ? 'relation' : 'relation_broken',
      text:
        best.wrong.length === 0
          ? `${formula} in all ${countOf(best.known, 'row')}.`
          : `${formula} in ${exact(best.known - best.wrong.length)} of ${countOf(best.known, 'row')}, but not in ${listed(each, shown)}${best.wrong.length > shown ? ' and more' : ''}.${together(best.whole, name, total.name)}`,
    },
  ];
}

/** The sums of both sides, where they differ. */
function together({ sum, written }: { sum: number; written: number }, name: string, total: string): string {
  const [ofLines, ofTotals] = [clean(sum), clean(written)];
  const difference = clean(ofTotals - ofLines);
  if (difference === 0) return ` In all, both sides are ${exact(ofTotals)}, since the differences cancel out.`;
  return ` In all, ${total} is ${exact(ofTotals)} and its ${name} ${exact(ofLines)}: ${exact(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'} than the ${name}.`;
}

type Summed = { name: string; at: (row: number) => number };

/** What the lines of an order may be added up from: "kg" for "total_kg", an amount of each line, a quantity × a price. */
function summedOf(lines: ColumnsInMemory, numeric: readonly ColumnPlan[], total: ColumnPlan): Summed[] {
  const rest = nameTokens(total.name).filter((token) => !totalWords.has(token));
  const parts = numeric.filter((plan) => {
    const own = nameTokens(plan.name);
    return plan.role === 'measure' && (has(own, totalWords) || (rest.length > 0 && own.join(' ') === rest.join(' ')));
  });
  const quantity = numeric.find((plan) => isQuantity(plan.name) && !isPrice(plan.name));
  const price = numeric.find((plan) => isPrice(plan.name));
  const columns = parts.map((plan): Summed => ({ name: plan.name, at: (row) => lines.numbers(plan)[row]! }));
  if (quantity === undefined || price === undefined) return columns;
  const [counts, prices] = [lines.numbers(quantity), lines.numbers(price)];
  return [...columns, { name: `${quantity.name} × ${price.name}`, at: (row) => counts[row]! * prices[row]! }];
}

/** What tells the orders apart, of each order and of each line. */
type Ids = { texts: readonly string[]; ids: readonly string[] };

/** Two orders may have one number, but not one place in the file. */
function rowsOf(orders: ColumnsInMemory, lines: ColumnsInMemory, recordOf: readonly number[]): Ids {
  return { texts: orders.rows.numbers.map(String), ids: lines.rows.numbers.map((number) => String(recordOf[number - 1])) };
}

function keysOf(orders: ColumnsInMemory, lines: ColumnsInMemory, inherited: readonly string[]): Ids | null {
  const found = recordKey(orders, lines, inherited);
  return found === null ? null : { texts: orders.written(found.key), ids: lines.written(found.own) };
}

/** The column that identifies the records, in the records and in their lines; null without one. */
export function recordKey(
  records: ColumnsInMemory,
  lines: ColumnsInMemory,
  inherited: readonly string[],
): { key: ColumnPlan; own: ColumnPlan } | null {
  const key = records.plans.find(
    (plan) =>
      inherited.includes(plan.name) && plan.reads === 'text' && plan.values.distinct === records.count && plan.filled === records.count,
  );
  const own = key === undefined ? undefined : lines.plans.find((plan) => plan.name === key.name);
  return key === undefined || own === undefined ? null : { key, own };
}
