/**
 * Amounts in several currencies at the exchange rates of another table. Only a rate whose name tells the direction ("rate_to_eur", "EUR per unit")
 * is applied: a wrong direction would be a false total.
 */
import type { ColumnPlan } from './column-evidence.ts';
import { nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { countOf, exact, leftOutText, listed, percent } from './figure-text.ts';
import { isGroup } from './findings/crossed-groups.ts';
import { uniqueness } from './join-key.ts';
import { type Side, table } from './join-side.ts';
import { unitColumns } from './plan-figures.ts';
import { productPlans } from './product-plans.ts';
import type { Finding } from './table-profile.ts';

const currencies = new Set(['eur', 'usd', 'gbp', 'chf', 'jpy', 'sek', 'nok', 'dkk', 'pln', 'czk']);
const towards = new Set(['to', 'in', 'into', 'nach', 'vers', 'en']);
const maxGroups = 4;
const shown = 8;

type Amount = { name: string; at: (row: number) => number };

/** @param b the table with one rate for each currency; the currency is the key of both tables */
export function convertedFigures(a: Side, b: Side): Finding[] {
  const rate = table(b)
    .plans.filter(({ reads }) => reads === 'number')
    .map((plan) => ({ plan, target: targetOf(plan.name) }))
    .find(({ target }) => target !== null);
  const amount = amountOf(a);
  if (rate === undefined || amount === null || uniqueness(b.rows) < 1) return [];
  const rates = table(b).numbers(rate.plan);
  const values = new Float64Array(table(a).count).fill(Number.NaN);
  const without: number[] = [];
  for (const [key, rows] of a.rows) {
    const other = b.rows.get(key)?.[0];
    for (const at of rows) {
      if (a.counted?.has(at) === false) continue;
      if (other !== undefined) values[at] = clean(amount.at(at) * rates[other]!);
      if (Number.isNaN(values[at]!)) without.push(at);
    }
  }
  const rows = [...values.keys()].filter((at) => !Number.isNaN(values[at]!));
  if (rows.length === 0) return [];
  const unit = rate.target!.toUpperCase();
  const sumOf = (own: readonly number[]) => own.reduce((total, at) => total + values[at]!, 0);
  const whole = sumOf(rows);
  const by = (plan: ColumnPlan) => {
    const names = table(a).texts(plan);
    const groups = [...Map.groupBy(rows, (at) => names[at]!)].filter(([name]) => name !== '');
    const ranked = groups.map(([name, own]) => ({ name, sum: sumOf(own) })).toSorted((x, y) => y.sum - x.sum);
    const positive = whole > 0 && ranked.every(({ sum }) => sum >= 0);
    const each = ranked.slice(0, shown).map(({ name, sum }) => `${name} ${cents(sum)}${positive ? ` (${percent(sum, whole)})` : ''}`);
    return `${listed(each, shown)}${ranked.length > shown ? ' and more' : ''}`;
  };
  const groups = table(a).plans.filter((plan) => plan !== a.plans[0] && plan.values.distinct <= shown && isGroup(table(a), plan));
  const top = rows.reduce((best, at) => (values[at]! > values[best]! ? at : best));
  const left = a.leftOut === undefined || a.leftOut.length === 0 ? '' : `, without ${leftOutText(a.leftOut)}`;
  const name = `${amount.name} × ${rate.plan.name}`;
  return [
    {
      kind: 'join_converted',
      text: `${name} (${a.name} at the rates of ${b.name}) is ${cents(whole)} ${unit} over ${countOf(rows.length, 'row')}${left}; largest in ${table(a).rowName(top)}: ${cents(values[top]!)} ${unit}.${notConverted(a, amount, without)}`,
    },
    ...[...groups.slice(0, maxGroups), a.plans[0]!].map((plan) => ({
      kind: 'join_converted',
      text: `${name} in ${unit} by ${plan.name}: ${by(plan)}.`,
    })),
  ];
}

/** The column of amounts whose currency is the key; without one, a quantity × a price in that currency. */
function amountOf(a: Side): Amount | null {
  const mixed = unitColumns({ columns: table(a).plans });
  const isOfKey = ({ index }: ColumnPlan) => a.plans.length === 1 && mixed.get(index) === a.plans[0];
  const { product } = productPlans(table(a).plans, ({ units }) => units.size > 1);
  if (product !== null && isOfKey(product.price)) {
    const [quantities, prices] = [table(a).numbers(product.quantity), table(a).numbers(product.price)];
    return { name: product.name, at: (row) => quantities[row]! * prices[row]! };
  }
  const plan = table(a).plans.find((each) => each.role === 'measure' && isOfKey(each));
  if (plan === undefined) return null;
  const numbers = table(a).numbers(plan);
  return { name: plan.name, at: (row) => numbers[row]! };
}

/** Each currency without a rate, with its own sum; rows without an amount. */
function notConverted(a: Side, amount: Amount, without: readonly number[]): string {
  if (without.length === 0) return '';
  const names = table(a).texts(a.plans[0]!);
  const groups = [...Map.groupBy(without, (at) => (Number.isNaN(amount.at(at)) ? '' : names[at]!))];
  const each = groups.map(([currency, own]) => {
    const rows =
      own.length > shown
        ? countOf(own.length, 'row')
        : listed(
            own.map((at) => table(a).rowName(at)),
            shown,
          );
    if (currency === '') return `${rows}, without an amount or a currency`;
    return `${currency} ${exact(clean(own.reduce((sum, at) => sum + amount.at(at), 0)))}, without a rate (${rows})`;
  });
  return ` Not converted: ${each.join('; ')}.`;
}

/** Rounded to hundredths of the currency, once, after adding up. */
function cents(value: number): string {
  return exact(Number(value.toFixed(2)));
}

/** The currency into which a rate converts by multiplication: "rate_to_eur", "eur_per_unit"; null if the name does not tell. */
function targetOf(name: string): string | null {
  const tokens = nameTokens(name);
  const at = tokens.findIndex((token) => currencies.has(token));
  if (at < 0 || tokens.filter((token) => currencies.has(token)).length > 1) return null;
  return towards.has(tokens[at - 1] ?? '') || tokens[at + 1] === 'per' ? tokens[at]! : null;
}
