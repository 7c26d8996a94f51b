/** The amount of a record as the sum over its list: the value of an order from its lines, on average and where there is none. */
import { type ColumnsInMemory, clean } from './columns-in-memory.ts';
import { countOf, exact, listed, round } from './figure-text.ts';
import { recordKey } from './nested-totals.ts';
import { leadingMeasure } from './plan-figures.ts';
import { productPlans } from './product-plans.ts';
import type { Finding } from './table-profile.ts';

const shown = 3;

/**
 * @param inherited columns of the lines that come from their record
 * @param isWhole whether the other figures count all of these rows too
 */
export function nestedValues(
  records: ColumnsInMemory,
  lines: ColumnsInMemory,
  name: string,
  inherited: readonly string[],
  isWhole: boolean,
): Finding[] {
  const keys = recordKey(records, lines, inherited);
  const own = lines.plans.filter((plan) => !inherited.includes(plan.name));
  const amount = amountOf(lines, own);
  if (keys === null || amount === null || records.count < 2) return [];
  const ids = lines.written(keys.own);
  const sums = new Map<string, number>();
  let unknown = 0;
  for (let at = 0; at < lines.count; at++) {
    const value = amount.at(at);
    if (Number.isNaN(value)) unknown++;
    else sums.set(ids[at]!, (sums.get(ids[at]!) ?? 0) + value);
  }
  if (sums.size < 2) return [];
  const whole = clean([...sums.values()].reduce((total, value) => total + value, 0));
  const ranked = [...sums].toSorted((a, b) => b[1] - a[1]);
  const without = records.count - sums.size;
  const others = without === 0 ? '' : `; ${round(clean(whole / sums.size))} over the ${exact(sums.size)} that have ${name} with a value`;
  const left = unknown === 0 ? '' : ` Not in it: ${countOf(unknown, 'row')} of ${name} without a value.`;
  return [
    {
      kind: 'per_record',
      text: `${amount.name} for each ${keys.key.name}: mean ${round(clean(whole / records.count))} over ${exact(records.count)} (${exact(whole)} ÷ ${exact(records.count)}${isWhole ? '' : ', whatever the status'})${others}. Largest: ${listed(
        ranked.slice(0, shown).map(([id, sum]) => `${id} ${exact(clean(sum))}`),
      )}; smallest: ${ranked.at(-1)![0]} ${exact(clean(ranked.at(-1)![1]))}.${left}`,
    },
  ];
}

/** A quantity × a price of each line, or the amount that the lines have. */
function amountOf(lines: ColumnsInMemory, own: ColumnsInMemory['plans']): { name: string; at: (row: number) => number } | null {
  const { product } = productPlans(own, ({ units }) => units.size > 1);
  if (product !== null) {
    const [quantities, prices] = [lines.numbers(product.quantity), lines.numbers(product.price)];
    return { name: product.name, at: (row) => clean(quantities[row]! * prices[row]!) };
  }
  const plan = leadingMeasure(own);
  if (plan === undefined) return null;
  const numbers = lines.numbers(plan);
  return { name: plan.name, at: (row) => numbers[row]! };
}
