/** What cannot be when two tables are joined: more than a capacity, another kind than the key has, a key with activity but no row. */
import { onlyDate } from './asked-period.ts';
import { cellText } from './cell.ts';
import { has, nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { countOf, exact } from './figure-text.ts';
import { uniqueness } from './join-key.ts';
import { labelOf, maxKeyChars, quantities, type Side, written } from './join-side.ts';
import type { Finding } from './table-profile.ts';
import { wordSet } from './word-set.ts';

const capacityWords = wordSet(
  'tank capacity kapazität capacidad capacité capacità seats plätze plazas places limit max maximum fassungsvermögen',
);
/** Names of one unit. */
const units: readonly ReadonlySet<string>[] = [
  wordSet('l ltr litre litres liter liters litros litri'),
  wordSet('kg kilo kilos kilogram kilograms'),
  wordSet('t ton tons tonne tonnes tonnen'),
  wordSet('kwh'),
  wordSet('m3 cbm'),
  wordSet('seats plätze plazas places tickets guests gäste persons people participants teilnehmer besucher visitors bookings'),
  wordSet('pallets paletten palets'),
];
const minAgreeing = 0.8;
const maxKinds = 12;
/** Columns of kinds that are compared with each other. */
const maxColumns = 6;
const maxKindColumns = 3;
const shown = 8;
/** Two fillings within this time are one visit. */
const closeMs = 2 * 3_600_000;
const minuteMs = 60_000;
const clock = /^(\d{1,2}):(\d{2})(?::\d{2})?$/;

/** @param b the table with one row for each key */
export function implausible(a: Side, b: Side): Finding[] {
  if (uniqueness(b.rows) < 1 || uniqueness(a.rows) === 1) return [];
  return [...beyondCapacity(a, b), ...otherKind(a, b), ...inactive(a, b)];
}

function counts(a: Side, at: number): boolean {
  return a.counted?.has(at) ?? true;
}

/** Rows above the capacity of their key, and rows of one key close in time that are above it together. */
function beyondCapacity(a: Side, b: Side): Finding[] {
  const pair = quantities(b)
    .filter(({ name }) => has(nameTokens(name), capacityWords))
    .flatMap((capacity) =>
      quantities(a)
        .filter(({ name }) => sameUnit(name, capacity.name))
        .map((amount) => ({ capacity, amount })),
    )[0];
  if (pair === undefined) return [];
  const [amounts, limits] = [a.table.numbers(pair.amount), b.table.numbers(pair.capacity)];
  const above: string[] = [];
  const close: string[] = [];
  const times = momentsOf(a);
  for (const [key, rows] of a.rows) {
    const other = b.rows.get(key)?.[0];
    const limit = other === undefined ? Number.NaN : limits[other]!;
    if (Number.isNaN(limit)) continue;
    const own = rows.filter((at) => counts(a, at) && !Number.isNaN(amounts[at]!));
    for (const at of own.filter((each) => amounts[each]! > limit))
      above.push(`${a.table.rowName(at)} of ${written(a, at)}: ${exact(amounts[at]!)} with ${pair.capacity.name} ${exact(limit)}`);
    if (times === null) continue;
    const ordered = own.filter((at) => !Number.isNaN(times[at]!)).toSorted((x, y) => times[x]! - times[y]!);
    for (const [i, at] of ordered.entries()) {
      const next = ordered[i + 1];
      const together = next === undefined ? 0 : clean(amounts[at]! + amounts[next]!);
      if (next === undefined || times[next]! - times[at]! > closeMs || together <= limit) continue;
      close.push(
        `${a.table.rowName(at)} and ${a.table.rowName(next)} of ${written(a, at)}, ${exact(Math.round((times[next]! - times[at]!) / minuteMs))} minutes apart on ${new Date(times[at]!).toISOString().slice(0, 10)}: ${exact(amounts[at]!)} and ${exact(amounts[next]!)}, together ${exact(together)}, with ${pair.capacity.name} ${exact(limit)}`,
      );
    }
  }
  return [
    ...(above.length === 0
      ? []
      : [{ kind: 'join_excess', text: `${pair.amount.name} is above ${pair.capacity.name} of ${b.name}: ${some(above)}.` }]),
    ...(close.length === 0
      ? []
      : [{ kind: 'join_excess', text: `Rows close in time that are together above ${pair.capacity.name} of ${b.name}: ${some(close)}.` }]),
  ];
}

function sameUnit(one: string, other: string): boolean {
  const [a, b] = [nameTokens(one), nameTokens(other)];
  return units.some((names) => has(a, names) && has(b, names));
}

/** Date and time of day of each row; null without both. */
function momentsOf({ table }: Side): Float64Array | null {
  const date = onlyDate(table);
  if (date === null) return null;
  if (date.timed) return table.dates(date);
  const clocks = table.plans.filter((plan) => plan.reads === 'text' && table.texts(plan).every((text) => text === '' || clock.test(text)));
  if (clocks.length !== 1) return null;
  const texts = table.texts(clocks[0]!);
  return table.dates(date).map((ms, at) => ms + msOfDay(texts[at]!));
}

/** NaN for a missing time. */
function msOfDay(text: string): number {
  const [, hour, minute] = clock.exec(text) ?? [];
  return (Number(hour) * 60 + Number(minute)) * minuteMs;
}

/** Rows of another kind than their key: petrol for a car that takes diesel. The two columns must agree in nearly all rows. */
function otherKind(a: Side, b: Side): Finding[] {
  const kinds = ({ table, plans }: Side) =>
    table.plans
      .filter(
        (plan) =>
          !plans.includes(plan) &&
          plan.reads === 'text' &&
          plan.type === 'text' &&
          plan.values.distinct >= 2 &&
          plan.values.distinct <= maxKinds,
      )
      .slice(0, maxColumns);
  return kinds(a).flatMap((x) =>
    kinds(b).flatMap((y): Finding[] => {
      const [mine, theirs] = [a.table.texts(x), b.table.texts(y)];
      const known = new Set(theirs.map((text) => text.toLowerCase()));
      if (!mine.every((text) => text === '' || known.has(text.toLowerCase()))) return [];
      const joined = [...a.rows].flatMap(([key, rows]) => {
        const other = b.rows.get(key)?.[0];
        return other === undefined ? [] : rows.filter((at) => counts(a, at) && mine[at] !== '').map((at) => ({ at, other }));
      });
      const odd = joined.filter(({ at, other }) => mine[at]!.toLowerCase() !== theirs[other]!.toLowerCase());
      if (odd.length === 0 || joined.length - odd.length < joined.length * minAgreeing) return [];
      const amount = quantities(a).find(({ role }) => role === 'measure');
      const each = odd.map(({ at, other }) => {
        const value = amount === undefined ? Number.NaN : a.table.numbers(amount)[at]!;
        const how = Number.isNaN(value) ? '' : ` with ${amount!.name} ${exact(value)}`;
        return `${a.table.rowName(at)}${dateOf(a, at)} of ${written(a, at)} has ${mine[at]}${how}, but its ${y.name} is ${theirs[other]}`;
      });
      return [
        { kind: 'join_conflicts', text: `${x.name} differs from ${y.name} of ${b.name} in ${countOf(odd.length, 'row')}: ${some(each)}.` },
      ];
    }),
  );
}

function dateOf(a: Side, at: number): string {
  const date = onlyDate(a.table);
  return date === null ? '' : ` of ${a.table.texts(date)[at]}`;
}

/** Keys of the list with figures, without a row in the other table, and of a kind of which no other key has a row: an electric car on a list of fuel cards. */
function inactive(a: Side, b: Side): Finding[] {
  const measure = quantities(b).find(({ role, name }) => role === 'measure' && !has(nameTokens(name), capacityWords));
  if (measure === undefined) return [];
  const numbers = b.table.numbers(measure);
  const without = [...b.rows].filter(([key, [at]]) => !a.rows.has(key) && numbers[at!]! > 0).map(([, rows]) => rows[0]!);
  if (without.length === 0 || without.length > b.rows.size / 2) return [];
  const kinds = b.table.plans
    .filter((plan) => !b.plans.includes(plan) && plan.reads === 'text' && plan.values.distinct >= 2 && plan.values.distinct <= maxKinds)
    .slice(0, maxKindColumns)
    .map((plan) => {
      const texts = b.table.texts(plan);
      const active = new Set([...a.rows.keys()].flatMap((key) => (b.rows.has(key) ? [texts[b.rows.get(key)![0]!]!] : [])));
      return { plan, texts, active };
    });
  const each = without.flatMap((at) => {
    const own = kinds.find(
      ({ texts, active, plan }) => plan.values.distinct <= b.table.count * 0.5 && texts[at] !== '' && !active.has(texts[at]!),
    );
    if (own === undefined) return [];
    return [`${written(b, at)}${labelOf(b, at, b, at)} (no key with ${own.plan.name} ${cellText(own.texts[at]!, maxKeyChars)} has a row)`];
  });
  return each.length === 0
    ? []
    : [{ kind: 'join_inactive', text: `In ${b.name} of a kind that has no row in ${a.name} at all: ${some(each)}.` }];
}

function some(items: readonly string[]): string {
  return items.length > shown ? `${items.slice(0, shown).join('; ')} and ${exact(items.length - shown)} more` : items.join('; ');
}
