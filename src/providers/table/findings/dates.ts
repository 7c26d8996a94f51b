/** The named rows with the earliest and the latest date, and the largest rows by a product of two columns. */
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { clean } from '../columns-in-memory.ts';
import { exact, listed } from '../figure-text.ts';
import { unitColumns } from '../plan-figures.ts';
import { productPlans } from '../product-plans.ts';
import type { Finding } from '../table-profile.ts';

const minRows = 4;
const maxColumns = 3;

export function namedFindings(table: ColumnsInMemory): Finding[] {
  if (table.labelPlan === undefined || table.count < minRows) return [];
  return [...byDate(table), ...byProduct(table)];
}

function byDate(table: ColumnsInMemory): Finding[] {
  return table.plans
    .filter(({ reads, dateDoubt, values }) => reads === 'date' && !dateDoubt && values.distinct >= 3)
    .slice(0, maxColumns)
    .flatMap((plan): Finding[] => {
      const dates = table.dates(plan);
      const known = [...dates.keys()].filter((at) => !Number.isNaN(dates[at]!)).sort((a, b) => dates[a]! - dates[b]! || a - b);
      if (known.length < minRows) return [];
      const same = (at: number) => known.filter((other) => dates[other] === dates[at]);
      const say = (at: number) =>
        same(at).length > 3
          ? `${same(at).length} rows (${table.texts(plan)[at]})`
          : `${listed(same(at).map((each) => table.rowName(each)))} (${table.texts(plan)[at]})`;
      return [{ kind: 'date_ends', text: `${plan.name} is earliest in ${say(known[0]!)} and latest in ${say(known.at(-1)!)}.` }];
    });
}

function byProduct(table: ColumnsInMemory): Finding[] {
  const mixed = unitColumns({ columns: table.plans });
  const { product } = productPlans(table.plans, (plan) => plan.units.size > 1 || mixed.has(plan.index));
  if (product === null) return [];
  const [q, p] = [table.numbers(product.quantity), table.numbers(product.price)];
  const of = (at: number) => clean(q[at]! * p[at]!);
  const known = [...q.keys()].filter((at) => !Number.isNaN(of(at))).sort((a, b) => of(b) - of(a));
  if (known.length < minRows) return [];
  return [
    {
      kind: 'rank',
      text: `${product.name} is largest in ${table.rowName(known[0]!)}: ${exact(of(known[0]!))}; then ${known
        .slice(1, 3)
        .map((at) => `${table.label(at)} ${exact(of(at))}`)
        .join(', ')}; smallest in ${table.rowName(known.at(-1)!)}: ${exact(of(known.at(-1)!))}.`,
    },
  ];
}
