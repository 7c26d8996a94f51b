/** Spellings of one value that differ only in case and blanks. All figures by group use the most frequent spelling of each value. */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';

export const mostSpellings = 400;
const mostChars = 60;
/** In symbols of units the case has a meaning: mW and MW. */
const symbolWords = new Set('unit units uom einheit einheiten'.split(' '));

/** Whether spellings of a column are taken together: not for free text, long lists and keys of rows. */
export function foldsSpellings({ name, reads, type, role, values, filled, meanChars }: ColumnPlan): boolean {
  if (reads !== 'text' && reads !== 'boolean') return false;
  if ((type !== 'text' && type !== 'boolean') || !values.exact || values.distinct > mostSpellings || meanChars > mostChars) return false;
  return !(role === 'identifier' && values.distinct > filled * 0.5) && !has(nameTokens(name), symbolWords);
}

/** The displayed spelling of each value of a column: the most frequent one. Empty if the column's spellings are not taken together. */
export function spellingsOf(plan: ColumnPlan): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  if (!foldsSpellings(plan)) return names;
  const byFolded = new Map<string, string>();
  const shouted = (text: string) => (text === text.toUpperCase() || text === text.toLowerCase() ? 1 : 0);
  const ranked = plan.values.top(mostSpellings).sort((a, b) => b.count - a.count || shouted(a.key) - shouted(b.key));
  for (const { key } of ranked) {
    const folded = foldSpelling(key);
    const name = byFolded.get(folded) ?? key;
    byFolded.set(folded, name);
    names.set(key, name);
  }
  return names;
}

export function foldSpelling(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ').trim();
}
