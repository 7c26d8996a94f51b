/** Profit: price minus cost, once or times the quantity, and revenue minus costs; by row, by group and in total. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent, round } from '../figure-text.ts';
import { isQuantity } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';
import { wordSet } from '../word-set.ts';

const costWords = wordSet(
  'cost costs kosten einkauf einkaufspreis ek expense expenses ausgaben aufwand einstandspreis herstellkosten cogs wareneinsatz',
);
const priceWords = wordSet('price preis verkaufspreis vk selling retail sale');
const revenueWords = wordSet('revenue sales turnover umsatz income erlös erlöse einnahmen earnings');
const profitWords = wordSet('profit margin gewinn marge ergebnis result gross_profit earnings_net deckungsbeitrag');
const relative = wordSet('pct percent rate ratio prozent quote %');
const shown = 6;
const maxGroups = 12;

export function marginFindings(table: ColumnsInMemory): Finding[] {
  const plans = table.quantities().filter(({ units, name }) => units.size < 2 && !has(nameTokens(name), relative) && !name.includes('%'));
  if (table.count < 2 || plans.some(({ name }) => has(nameTokens(name), profitWords))) return [];
  const only = (is: (plan: ColumnPlan) => boolean) => {
    const found = plans.filter(is);
    return found.length === 1 ? found[0] : undefined;
  };
  const isCost = ({ name }: ColumnPlan) =>
    has(nameTokens(name), costWords) || /(?:einkaufspreis|kosten)$/.test(nameTokens(name).at(-1) ?? '');
  const cost = only(isCost);
  if (cost === undefined) return [];
  const price = only((plan) => !isCost(plan) && plan.role === 'rate' && has(nameTokens(plan.name), priceWords));
  const quantity = only((plan) => plan.role === 'measure' && plan !== price && !isCost(plan) && isQuantity(plan.name));
  if (price !== undefined && cost.role === 'rate') return unitMargin(table, price, cost, quantity);
  const revenue = only(
    (plan) => !isCost(plan) && plan.role === 'measure' && has(nameTokens(plan.name), revenueWords) && !isQuantity(plan.name),
  );
  if (revenue === undefined || cost.role !== 'measure') return [];
  const [r, c] = [table.numbers(revenue), table.numbers(cost)];
  return marginFinding(
    table,
    `${revenue.name} − ${cost.name}`,
    (at) => r[at]! - c[at]!,
    (at) => r[at]!,
  );
}

function unitMargin(table: ColumnsInMemory, price: ColumnPlan, cost: ColumnPlan, quantity: ColumnPlan | undefined): Finding[] {
  const [p, c] = [table.numbers(price), table.numbers(cost)];
  const q = quantity === undefined ? null : table.numbers(quantity);
  if (q === null)
    return marginFinding(
      table,
      `${price.name} − ${cost.name}`,
      (at) => p[at]! - c[at]!,
      (at) => p[at]!,
      false,
    );
  const name = `(${price.name} − ${cost.name}) × ${quantity!.name}`;
  const sold = [...p.keys()].filter((at) => !Number.isNaN(p[at]! * q[at]!));
  const revenue = sold.reduce((sum, at) => sum + p[at]! * q[at]!, 0);
  const groups = byGroups(table, sold, (at) => p[at]! * q[at]!);
  return [
    {
      kind: 'margin',
      text: `${price.name} × ${quantity!.name} adds up to ${exact(clean(revenue))} over ${countOf(sold.length, 'row')} (computed row by row)${groups}.`,
    },
    ...marginFinding(
      table,
      name,
      (at) => (p[at]! - c[at]!) * q[at]!,
      (at) => p[at]! * q[at]!,
    ),
  ];
}

function marginFinding(
  table: ColumnsInMemory,
  name: string,
  of: (at: number) => number,
  base: (at: number) => number,
  additive = true,
): Finding[] {
  const rows = [...Array(table.count).keys()].filter((at) => !Number.isNaN(of(at)));
  if (rows.length < 2) return [];
  const ranked = rows.toSorted((a, b) => of(b) - of(a));
  const sum = rows.reduce((total, at) => total + of(at), 0);
  const whole = rows.reduce((total, at) => total + base(at), 0);
  const below = ranked.filter((at) => of(at) < 0).toReversed();
  const named = (at: number) => `${table.periodOrRow(at)}: ${exact(clean(of(at)))}`;
  const total = additive
    ? ` adds up to ${exact(clean(sum))}${whole > 0 ? ` (${percent(sum, whole)} of the price or revenue)` : ''}`
    : ` is ${round(sum / rows.length)} on average${whole > 0 ? ` (${percent(sum, whole)} of the price)` : ''}`;
  const losses =
    below.length === 0
      ? ' It is below zero in no row.'
      : ` Below zero in ${countOf(below.length, 'row')}: ${listed(below.slice(0, shown).map(named), shown)}${below.length > shown ? ' and more' : ''}.`;
  const relatively = rows.filter((at) => base(at) > 0).toSorted((a, b) => of(b) / base(b) - of(a) / base(a));
  const shares =
    relatively.length >= 3
      ? ` Measured by the price or revenue, most in ${table.periodOrRow(relatively[0]!)}: ${percent(of(relatively[0]!), base(relatively[0]!))}, least in ${table.periodOrRow(relatively.at(-1)!)}: ${percent(of(relatively.at(-1)!), base(relatively.at(-1)!))}.`
      : '';
  return [
    {
      kind: 'margin',
      text: `${name}${total} over ${countOf(rows.length, 'row')} (computed row by row); most in ${ranked
        .slice(0, 3)
        .map(named)
        .join(', ')}; least in ${named(ranked.at(-1)!)}${additive ? byGroups(table, rows, of) : ''}.${losses}${shares}`,
    },
  ];
}

function byGroups(table: ColumnsInMemory, rows: readonly number[], of: (at: number) => number): string {
  return table.plans
    .filter(
      ({ reads, type, values, filled }) =>
        reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= Math.min(40, filled * 0.6),
    )
    .slice(0, 2)
    .map((group) => {
      const sums = new Map<string, number>();
      for (const at of rows) {
        const key = table.texts(group)[at]!;
        if (key !== '') sums.set(key, (sums.get(key) ?? 0) + of(at));
      }
      const ranked = [...sums].toSorted((a, b) => b[1] - a[1]).slice(0, maxGroups);
      return `; by ${group.name}: ${ranked.map(([key, sum]) => `${key} ${exact(clean(sum))}`).join(', ')}`;
    })
    .join('');
}
