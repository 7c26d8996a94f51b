/** Two texts with the same fields, such as two offers: their values side by side, with the difference if both are figures or dates. */
import { exact, markdownTable, percent, safe } from '../figure.ts';
import type { Answer } from '../report.ts';
import { findDates } from './dates.ts';
import type { Unit } from './units.ts';
import { readUnits } from './units.ts';

const maxFields = 30;
const dayMs = 86_400_000;
const amount =
  /(€|\$|£|EUR|USD|GBP|CHF)? ?(?<![\p{L}\p{N}.,])(\d{1,12}(?:[.,']\d{1,9}){0,4}) ?(%|€|\$|£|m²|\p{L}{1,20}(?: \p{Ll}{3,20})?)?/gu;

/** Null where the texts have fewer than two fields in common. */
export function compareFields(first: string, second: string, before: string, after: string): Answer | null {
  const [a, b] = [fieldsOf(readUnits(before)), fieldsOf(readUnits(after))];
  const rows: string[][] = [];
  const described: string[] = [];
  let common = 0;
  for (const [key, mine] of a) {
    const theirs = b.get(key);
    if (theirs === undefined) continue;
    common++;
    const differing = mine.text === theirs.text ? ['the same'] : differences(first, mine.text, second, theirs.text);
    rows.push([safe(mine.key), safe(mine.text), safe(theirs.text), safe(differing.join('; '))]);
    if (mine.text !== theirs.text)
      described.push(`${mine.key}: ${differing.length > 0 ? differing.join('; ') : `"${mine.text}" and "${theirs.text}"`}`);
  }
  if (common < 2) return null;
  const alone = (own: typeof a, other: typeof a) =>
    [...own].flatMap(([key, field]) => (other.has(key) ? [] : [`${field.key}: ${field.text}`]));
  const lines = [
    markdownTable(['Field', `In ${safe(first)}`, `In ${safe(second)}`, 'Difference'], rows.slice(0, maxFields)),
    ...[[first, alone(a, b)] as const, [second, alone(b, a)] as const].flatMap(([name, fields]) =>
      fields.length === 0 ? [] : ['', `Only in ${safe(name)}: ${fields.slice(0, maxFields).map(safe).join('; ')}.`],
    ),
  ];
  return { question: `Fields of ${first} and ${second} side by side`, short: described.slice(0, 12).join('. ') || 'all the same', lines };
}

function fieldsOf(units: readonly Unit[]): Map<string, { key: string; text: string }> {
  const fields = new Map<string, { key: string; text: string }>();
  for (const { kind, key, text } of units) {
    const name = key.toLowerCase();
    if (kind === 'field' && !fields.has(name)) fields.set(name, { key, text });
  }
  return fields;
}

/** Differences of figures with the same unit and of dates, with the lower or earlier text of each. */
function differences(first: string, mine: string, second: string, theirs: string): string[] {
  const found: string[] = [];
  const [d, e] = [findDates(mine), findDates(theirs)];
  if (d.length === 1 && e.length === 1 && d[0]!.iso !== null && e[0]!.iso !== null && d[0]!.iso !== e[0]!.iso) {
    const days = Math.round((Date.parse(e[0]!.iso) - Date.parse(d[0]!.iso)) / dayMs);
    found.push(`${days > 0 ? first : second} is earlier by ${Math.abs(days)} ${Math.abs(days) === 1 ? 'day' : 'days'}`);
  }
  const [x, y] = [amountsOf(mine), amountsOf(theirs)];
  for (const [unit, value] of x) {
    const other = y.get(unit);
    if (other === undefined || other === value) continue;
    const [low, name, high] = value < other ? [value, first, other] : [other, second, value];
    found.push(
      `${name} is lower by ${exact(Number((high - low).toPrecision(12)))}${unit === '' ? '' : ` ${unit}`}${high > 0 ? ` (${percent(high - low, high)})` : ''}`,
    );
  }
  return found;
}

/** Figures by their unit; a unit that occurs twice is left out, because it is unclear which one to compare. */
function amountsOf(text: string): Map<string, number> {
  const spans = findDates(text).map(({ index, written }) => [index, index + written.length] as const);
  const found = new Map<string, number>();
  const twice = new Set<string>();
  for (const { 1: lead, 2: digits, 3: tail, index } of text.slice(0, 1000).matchAll(amount)) {
    if (spans.some(([from, to]) => index >= from && index < to)) continue;
    const value = numberOf(digits!);
    if (value === null) continue;
    const unit = lead ?? tail ?? '';
    if (found.has(unit)) twice.add(unit);
    found.set(unit, value);
  }
  for (const unit of twice) found.delete(unit);
  return found;
}

/** A mark before exactly three digits separates thousands; before one or two it is the decimal mark. */
export function numberOf(digits: string): number | null {
  if (/^\d{1,12}$/.test(digits)) return Number(digits);
  if (/^\d{1,3}(?:[.,']\d{3}){1,4}$/.test(digits)) return Number(digits.replace(/[.,']/g, ''));
  const parts = /^(\d{1,12}|\d{1,3}(?:[.,']\d{3}){1,3})[.,](\d{1,2})$/.exec(digits);
  return parts === null ? null : Number(`${parts[1]!.replace(/[.,']/g, '')}.${parts[2]}`);
}
