/** A division of a column of one table by a column of another that a task asks for, by their common key. */
import { clean } from './columns-in-memory.ts';
import { countOf, exact, leftOutText, listed, round } from './figure-text.ts';
import type { Ratio } from './findings/ratio.ts';
import { uniqueness } from './join-key.ts';
import { labelOf, type Side, written } from './join-side.ts';
import type { Finding } from './table-profile.ts';

const shown = 30;

export function joinedRatio(a: Side, b: Side, asked: Ratio | undefined): Finding[] {
  if (asked === undefined) return [];
  const first = divided(a, b, asked);
  return first.length > 0 ? first : divided(b, a, asked);
}

/** @param b the table with the divisor, one row for each key */
function divided(a: Side, b: Side, { of, per, times = 1 }: Ratio): Finding[] {
  const above = a.table.quantities().find(({ name }) => name === of);
  const below = b.table.quantities().find(({ name }) => name === per);
  if (above === undefined || below === undefined || uniqueness(b.rows) < 1) return [];
  const [numerators, divisors] = [a.table.numbers(above), b.table.numbers(below)];
  const keys = [...b.rows].map(([key, [at]]) => {
    const rows = (a.rows.get(key) ?? []).filter((row) => (a.counted?.has(row) ?? true) && !Number.isNaN(numerators[row]!));
    const sum = clean(rows.reduce((total, row) => total + numerators[row]!, 0));
    return { name: `${written(b, at!)}${labelOf(b, at!, b, at!)}`, sum, rows: rows.length, divisor: divisors[at!]! };
  });
  const both = keys.filter(({ rows, divisor }) => rows > 0 && divisor > 0);
  if (both.length < 2) return [];
  const ranked = both.toSorted((x, y) => y.sum / y.divisor - x.sum / x.divisor);
  const name = times === 1 ? `${above.name} ÷ ${below.name}` : `${above.name} per ${exact(times)} ${below.name}`;
  const each = ranked
    .slice(0, shown)
    .map(
      ({ name: own, sum, divisor, rows }) =>
        `${own} ${round(clean((sum / divisor) * times))} (${exact(sum)} ÷ ${exact(divisor)}, ${countOf(rows, 'row')})`,
    );
  const [whole, over] = [total(both.map(({ sum }) => sum)), total(both.map(({ divisor }) => divisor))];
  const without = keys.filter(({ rows, divisor }) => rows === 0 && divisor > 0);
  const left = a.leftOut === undefined || a.leftOut.length === 0 ? '' : `, without ${leftOutText(a.leftOut)}`;
  return [
    {
      kind: 'asked_ratio',
      text: `${name} by ${b.plans.map((plan) => plan.name).join(' + ')} (${a.name} and ${b.name}${left}), the highest first: ${listed(each, shown)}${ranked.length > shown ? ' and more' : ''}. Together ${round(clean((whole / over) * times))} (${exact(whole)} ÷ ${exact(over)}${times === 1 ? '' : ` × ${exact(times)}`}).${
        without.length === 0
          ? ''
          : ` No ${above.name}: ${listed(
              without.slice(0, shown).map(({ name: own, divisor }) => `${own}, ${below.name} ${exact(divisor)}`),
              shown,
            )}.`
      }`,
    },
  ];
}

function total(values: readonly number[]): number {
  return clean(values.reduce((sum, value) => sum + value, 0));
}
