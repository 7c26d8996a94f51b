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

/** @param inherited columns of the lines that come from their order */
export function nestedTotals(orders: ColumnsInMemory, lines: ColumnsInMemory, name: string, inherited: readonly string[]): Finding[] {
  const keys = recordKey(orders, lines, inherited);
  const numeric = lines.quantities().filter((plan) => !inherited.includes(plan.name));
  const quantity = numeric.find((plan) => isQuantity(plan.name) && !isPrice(plan.name));
  const price = numeric.find((plan) => isPrice(plan.name));
  const total = orders.quantities().find((plan) => has(nameTokens(plan.name), totalWords) && plan.role === 'measure');
  if (keys === null || total === undefined) return [];
  const product = quantity === undefined || price === undefined ? null : { quantity, price };
  // "total_kg" is the sum of "kg".
  const rest = nameTokens(total.name).filter((token) => !totalWords.has(token));
  const part = numeric.find((plan) => plan.role === 'measure' && rest.length > 0 && nameTokens(plan.name).join(' ') === rest.join(' '));
  const summed = product !== null ? `${product.quantity.name} × ${product.price.name}` : part?.name;
  if (summed === undefined) return [];
  const { key, own } = keys;
  const sums = new Map<string, number>();
  const ids = lines.written(own);
  for (let at = 0; at < lines.count; at++) {
    const value = product !== null ? lines.numbers(product.quantity)[at]! * lines.numbers(product.price)[at]! : lines.numbers(part!)[at]!;
    sums.set(ids[at]!, (sums.get(ids[at]!) ?? 0) + value);
  }
  const extras = orders
    .quantities()
    .filter(
      (plan) => plan !== total && !plan.name.startsWith('number of ') && (plan.role === 'measure' || has(nameTokens(plan.name), lessWords)),
    )
    .slice(0, maxExtras);
  const sets = [[], ...extras.map((plan) => [plan]), ...(extras.length > 1 ? [extras] : [])];
  const texts = orders.written(key);
  const tried = sets.map((set) => {
    const wrong: { at: number; sum: number; written: number }[] = [];
    let known = 0;
    for (let at = 0; at < orders.count; at++) {
      const written = orders.numbers(total)[at]!;
      const more = set.reduce((sum, plan) => sum + (orders.numbers(plan)[at]! || 0) * (has(nameTokens(plan.name), lessWords) ? -1 : 1), 0);
      const sum = clean((sums.get(texts[at]!) ?? 0) + more);
      if (Number.isNaN(written) || Number.isNaN(sum)) continue;
      known++;
      if (Math.abs(sum - written) > 0.006) wrong.push({ at, sum, written });
    }
    return { set, wrong, known };
  });
  const best = tried.toSorted((a, b) => a.wrong.length - b.wrong.length)[0]!;
  if (best.known < 3 || best.wrong.length > best.known * 0.4) return [];
  const signs = best.set.map((plan) => ` ${has(nameTokens(plan.name), lessWords) ? '−' : '+'} ${plan.name}`).join('');
  const formula = `${total.name} = sum of ${summed} of its ${name}${signs}`;
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
          : `${formula} in ${exact(best.known - best.wrong.length)} of ${countOf(best.known, 'row')}, but not in ${listed(each, shown)}${best.wrong.length > shown ? ' and more' : ''}.`,
    },
  ];
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
