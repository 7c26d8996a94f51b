/** Formats figures for reports and findings. */
import type { LeftOut } from './table-profile.ts';

/** Exact figures keep all their decimals, at least two when there are any: 1234.5 is `1,234.50`. */
export function exact(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 12, minimumFractionDigits: Number.isInteger(value) ? 0 : 2 });
}

/** Derived figures are rounded: two decimals, more for small ones. */
export function round(value: number): string {
  const small = value !== 0 && Math.abs(value) < 1;
  if (small) return value.toLocaleString('en-US', { maximumSignificantDigits: 4 });
  return value.toLocaleString('en-US', { maximumFractionDigits: 2, minimumFractionDigits: Number.isInteger(value) ? 0 : 2 });
}

export function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toLocaleString('en-US', { maximumFractionDigits: 1 })} %`;
}

/** A difference in per cent of the planned value: " (12.5 %)"; empty if nothing was planned or nothing differs. */
export function shareOf(difference: number, planned: number): string {
  return planned > 0 && difference !== 0 ? ` (${percent(Math.abs(difference), planned)})` : '';
}

/** "3 of 12 (25 %)". */
export function partOf(part: number, whole: number): string {
  return `${exact(part)} of ${exact(whole)} (${percent(part, whole)})`;
}

/** "1 row", "119 rows". */
export function countOf(count: number, noun: string): string {
  return `${exact(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** "a, b and c"; beyond `most` the rest is counted. */
export function listed(items: readonly string[], most = 8): string {
  if (items.length > most) return `${items.slice(0, most).join(', ')} and ${exact(items.length - most)} more`;
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** "row 3", "rows 3, 7 and 9". */
export function rowList(rows: readonly number[], most = 8): string {
  return `${rows.length === 1 ? 'row' : 'rows'} ${listed(rows.map(String), most)}`;
}

/** A value that is a word of the sentences themselves, such as "none", is quoted. */
export function asValue(text: string): string {
  return /^(?:none|nothing|nobody|all|others?|rest|keine?|alle|aucune?|ningun[oa]|nessun[oa])$/i.test(text) ? `"${text}"` : text;
}

/** What figures leave out: "5 exact duplicates and 11 rows with status refunded". */
export function leftOutText(leftOut: readonly Pick<LeftOut, 'what' | 'count'>[]): string {
  return listed(leftOut.map(({ what, count }) => `${exact(count)} ${what}`));
}
