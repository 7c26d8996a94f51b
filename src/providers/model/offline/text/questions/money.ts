/** Which amounts of money a text names, each with its sentence. */
import { isMoney } from '../amounts.ts';
import type { Passage } from '../passages.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

/** Null where the text names none. */
export function moneyIn(passages: readonly Passage[]): Told | null {
  const found = quotesWhere(passages, ({ amounts, kind }) => kind !== 'field' && amounts.some(isMoney));
  return found.length === 0 ? null : { short: quotesShort(found), lines: [quoteTable(found)] };
}
