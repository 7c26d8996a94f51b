/** One column divided by another: rent per square metre, cost per kilometre, litres per 100 km; over all rows, by row and by group. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, round } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import { isPrice } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';
import { wordSet } from '../word-set.ts';

/** The names of two columns: the first per one of the second, or per `times` of it. */
export type Ratio = { of: string; per: string; times?: number };

export const money = wordSet(
  'raised given donated price preis rent miete kaltmiete warmmiete cost costs kosten revenue umsatz sales turnover amount betrag spend spent ausgaben einnahmen fare fee eur usd gbp chf euro erlös income donation budget',
);
const sizes = wordSet('sqm qm m2 area fläche wohnfläche size_sqm hectares hectare ha acres sqft sq');
const distances = wordSet('km kilometer kilometers kilometres distance strecke miles mi');
const fuels = wordSet('litres liters litre liter fuel gallons kraftstoff diesel benzin kwh energy');
const heads = wordSet(
  'donors spender members mitglieder bookings buchungen readers visitors visits guests gäste besucher orders customers kunden passengers fahrgäste employees staff headcount mitarbeiter nights nächte students population einwohner clicks leads units_produced participants teilnehmer attendees signups registrations anmeldungen conversions installs downloads subscribers subscriptions patients patienten pupils schüler deliveries lieferungen parcels pakete meals mahlzeiten',
);
const hours = wordSet('hours hour stunden std');
const harvests = wordSet('yield ernte harvest tonnes tons tonnen milk milch output');
/** Numerators and denominators that are recognised by name without a request. */
const knownPairs: readonly [ReadonlySet<string>, ReadonlySet<string>][] = [
  [money, sizes],
  [money, distances],
  [fuels, distances],
  [wordSet('kwh energy consumption verbrauch'), sizes],
  [harvests, sizes],
  [money, hours],
  [money, heads],
  [harvests, hours],
];
const maxReported = 3;
const maxGroups = 12;

/** @param requested the pair that the caller names; other pairs only if their names show the relation */
export function ratioFindings(table: ColumnsInMemory, requested: Ratio | undefined): Finding[] {
  const plans = table.quantities().filter(({ units, min, values }) => units.size < 2 && values.distinct > 1 && min >= 0);
  const named = requested === undefined ? [] : pairNamed(table, requested);
  const found = knownPairs.flatMap(([above, below]): [ColumnPlan, ColumnPlan][] => {
    const of = plans.filter(({ name }) => has(nameTokens(name), above) && !isRelative(name) && !has(nameTokens(name), below));
    const per = plans.filter(({ name }) => has(nameTokens(name), below) && !isRelative(name) && !isPrice(name));
    return of.length === 1 && per.length === 1 && of[0] !== per[0] ? [[of[0]!, per[0]!]] : [];
  });
  const pairs = [...named, ...found.slice(0, maxReported)].filter(
    ([of, per], i, all) => all.findIndex((other) => other[0] === of && other[1] === per) === i,
  );
  return pairs.flatMap(([of, per]) => ratio(table, of, per));
}

function pairNamed(table: ColumnsInMemory, { of, per }: Ratio): [ColumnPlan, ColumnPlan][] {
  const [above, below] = [of, per].map((name) => table.quantities().find((plan) => plan.name === name));
  return above === undefined || below === undefined || above === below ? [] : [[above, below]];
}

/** "price_per_sqm" is a ratio already. */
function isRelative(name: string): boolean {
  return /%|\//.test(name) || has(nameTokens(name), wordSet('per pro je rate ratio pct percent prozent share quote unit avg average mean'));
}

function ratio(table: ColumnsInMemory, of: ColumnPlan, per: ColumnPlan): Finding[] {
  const [a, b] = [table.numbers(of), table.numbers(per)];
  const rows = [...a.keys()].filter((at) => !Number.isNaN(a[at]!) && b[at]! > 0);
  if (rows.length < 2) return [];
  const litresPerKm = has(nameTokens(of.name), fuels) && has(nameTokens(per.name), wordSet('km kilometer kilometers kilometres'));
  const times = litresPerKm ? 100 : 1;
  const shared = (own: readonly number[]) => {
    const [above, below] = [a, b].map((numbers) => own.reduce((sum, at) => sum + numbers[at]!, 0));
    return (above! / below!) * times;
  };
  const of1 = (at: number) => (a[at]! / b[at]!) * times;
  const ranked = rows.toSorted((x, y) => of1(y) - of1(x));
  const single = Float64Array.from(rows, of1).sort();
  const mean = single.reduce((sum, value) => sum + value, 0) / single.length;
  const name = (at: number) => table.periodOrRow(at);
  const ends =
    of1(ranked[0]!) > of1(ranked.at(-1)!)
      ? `; largest in ${name(ranked[0]!)}: ${round(of1(ranked[0]!))}, smallest in ${name(ranked.at(-1)!)}: ${round(of1(ranked.at(-1)!))}`
      : '';
  const what = litresPerKm ? `${of.name} per 100 ${per.name}` : `${of.name} per ${per.name}`;
  return [
    {
      kind: 'ratio',
      text: `${what}: ${round(clean(shared(rows)))} over ${countOf(rows.length, 'row')} together (${exact(clean(rows.reduce((sum, at) => sum + a[at]!, 0)))} ÷ ${exact(clean(rows.reduce((sum, at) => sum + b[at]!, 0)))}${litresPerKm ? ' × 100' : ''}); row by row ${round(mean)} on average, median ${round(quantile(single, 0.5))}${ends}.${byGroups(table, what, rows, shared, of1)}`,
    },
  ];
}

function byGroups(
  table: ColumnsInMemory,
  what: string,
  rows: readonly number[],
  shared: (rows: readonly number[]) => number,
  single: (at: number) => number,
): string {
  const groups = table.plans.filter(
    ({ reads, type, values, filled }) =>
      reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= Math.min(40, filled * 0.6),
  );
  return groups
    .slice(0, 3)
    .map((group) => {
      const texts = table.texts(group);
      const of = new Map<string, number[]>();
      for (const at of rows) {
        const key = texts[at]!;
        if (key === '') continue;
        const own = of.get(key);
        if (own === undefined) of.set(key, [at]);
        else own.push(at);
      }
      const ranked = [...of]
        .map(([key, own]) => ({ key, all: shared(own), mean: own.reduce((sum, at) => sum + single(at), 0) / own.length }))
        .toSorted((x, y) => y.all - x.all);
      return ` By ${group.name}, ${what} together (mean of the rows): ${ranked
        .slice(0, maxGroups)
        .map(({ key, all, mean }) => `${key} ${round(all)} (${round(mean)})`)
        .join(', ')}${ranked.length > maxGroups ? ' and more' : ''}.`;
    })
    .join('');
}
