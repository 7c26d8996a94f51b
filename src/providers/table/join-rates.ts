/**
 * Amounts in several currencies at the exchange rates of another table. Only a rate whose name tells the direction ("rate_to_eur", "EUR per unit")
 * is applied: a wrong direction would be a false total.
 */
import type { ColumnPlan } from './column-evidence.ts';
import { nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { countOf, exact, listed } from './figure-text.ts';
import { isGroup } from './findings/crossed-groups.ts';
import { uniqueness } from './join-key.ts';
import { type Side, table } from './join-side.ts';
import { unitColumns } from './plan-figures.ts';
import type { Finding } from './table-profile.ts';

const currencies = new Set(['eur', 'usd', 'gbp', 'chf', 'jpy', 'sek', 'nok', 'dkk', 'pln', 'czk']);
const towards = new Set(['to', 'in', 'into', 'nach', 'vers', 'en']);
const maxGroups = 3;
const shown = 8;

/** @param b the table with one rate for each currency; the currency is the key of both tables */
export function convertedFigures(a: Side, b: Side): Finding[] {
  const rate = table(b)
    .plans.filter(({ reads }) => reads === 'number')
    .map((plan) => ({ plan, target: targetOf(plan.name) }))
    .find(({ target }) => target !== null);
  const mixed = unitColumns({ columns: table(a).plans });
  const amount = table(a).plans.find(({ index, role }) => role === 'measure' && a.plans.length === 1 && mixed.get(index) === a.plans[0]);
  if (rate === undefined || amount === undefined || uniqueness(b.rows) < 1) return [];
  const [amounts, rates] = [table(a).numbers(amount), table(b).numbers(rate.plan)];
  const values = new Float64Array(table(a).count).fill(Number.NaN);
  for (const [key, rows] of a.rows) {
    const other = b.rows.get(key)?.[0];
    if (other !== undefined) for (const at of rows) values[at] = clean(amounts[at]! * rates[other]!);
  }
  const rows = [...values.keys()].filter((at) => !Number.isNaN(values[at]!));
  const without = [...values.keys()].filter((at) => Number.isNaN(values[at]!));
  if (rows.length === 0) return [];
  const unit = rate.target!.toUpperCase();
  const sum = (own: readonly number[]) => `${cents(own.reduce((total, at) => total + values[at]!, 0))}`;
  const by = (plan: ColumnPlan) => {
    const names = table(a).texts(plan);
    const groups = [...new Set(rows.map((at) => names[at]!))].filter((name) => name !== '');
    const of = (name: string) => rows.filter((at) => names[at] === name);
    const total = (name: string) => of(name).reduce((sumOfGroup, at) => sumOfGroup + values[at]!, 0);
    const ranked = groups.toSorted((x, y) => total(y) - total(x));
    return `; by ${plan.name}: ${listed(
      ranked.slice(0, shown).map((name) => `${name} ${sum(of(name))}`),
      shown,
    )}`;
  };
  const groups = table(a).plans.filter((plan) => plan !== a.plans[0] && plan.values.distinct <= shown && isGroup(table(a), plan));
  const top = rows.reduce((best, at) => (values[at]! > values[best]! ? at : best));
  const left =
    without.length === 0
      ? ''
      : ` Not converted, without an amount or a rate: ${listed(
          without.slice(0, shown).map((at) => table(a).rowName(at)),
          shown,
        )}${without.length > shown ? ' and more' : ''}.`;
  return [
    {
      kind: 'join_converted',
      text: `${amount.name} × ${rate.plan.name} (${a.name} at the rates of ${b.name}) is ${sum(rows)} ${unit} over ${countOf(rows.length, 'row')}; by ${a.plans[0]!.name}, converted: ${byCurrency(a, values, rows)}${groups.slice(0, maxGroups).map(by).join('')}; largest in ${table(a).rowName(top)}: ${cents(values[top]!)} ${unit}.${left}`,
    },
  ];
}

function byCurrency(a: Side, values: Float64Array, rows: readonly number[]): string {
  const names = table(a).texts(a.plans[0]!);
  const sums = new Map<string, number>();
  for (const at of rows) sums.set(names[at]!, (sums.get(names[at]!) ?? 0) + values[at]!);
  return listed([...sums].map(([name, total]) => `${name} ${cents(total)}`));
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
