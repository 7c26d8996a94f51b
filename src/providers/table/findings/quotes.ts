/** Answers in free text, word for word: those with low and with high ratings apart, or one for each topic. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { isRatingName, ratingBounds } from './ratings.ts';
import type { Bag } from './text.ts';

const quotesShown = 5;
const topicsShown = 8;
const quoteChars = 160;
const minChars = 12;

/** `topics`: the name of each term, the most frequent first; `bags`: the terms of each row of `rows`. */
type Answers = { rows: readonly number[]; bags: readonly Bag[]; topics: ReadonlyMap<string, string> };

export function ratingOf(table: ColumnsInMemory): ColumnPlan | undefined {
  return table.quantities().find(({ name, values }) => isRatingName(name) && values.distinct > 1);
}

export function quoteFindings(table: ColumnsInMemory, plan: ColumnPlan, answers: Answers): Finding[] {
  const rating = ratingOf(table);
  const bounds = rating === undefined ? null : ratingBounds(rating);
  if (rating === undefined || bounds === null) return byTopic(table, plan, answers, rating);
  const numbers = table.numbers(rating);
  return [
    ...rated(table, plan, answers, rating, `${exact(bounds.low)} or less`, (at) => numbers[at]! <= bounds.low),
    ...rated(table, plan, answers, rating, `${exact(bounds.high)} or more`, (at) => numbers[at]! >= bounds.high),
  ];
}

/** What the answers with such ratings mention, and some of them. */
function rated(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  { rows, bags, topics }: Answers,
  rating: ColumnPlan,
  which: string,
  fits: (at: number) => boolean,
): Finding[] {
  const own = rows.flatMap((at, i) => (fits(at) ? [{ at, terms: bags[i]!.terms }] : []));
  if (own.length === 0) return [];
  const counts = [...topics].map(([term, name]) => ({ term, name, count: own.filter(({ terms }) => terms.has(term)).length }));
  const named = counts
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, topicsShown);
  const chosen = representatives(
    table,
    plan,
    own,
    named.map(({ term }) => term),
  );
  const mention = named.length === 0 ? '' : ` mention ${named.map(({ name, count }) => `${name} (${exact(count)})`).join(', ')}`;
  const quotes =
    chosen.length === 0
      ? ''
      : `${mention === '' ? ' write' : '; word for word:'} ${chosen.map((at) => quote(table, plan, at, rating)).join('; ')}`;
  return [{ kind: 'quotes', text: `${countOf(own.length, 'answer')} in ${plan.name} with ${rating.name} ${which}${mention}${quotes}.` }];
}

/** A quote for each of the most frequent topics, then others. */
function representatives(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  own: readonly { at: number; terms: ReadonlyMap<string, string> }[],
  terms: readonly string[],
): number[] {
  const long = own.filter(({ at }) => table.texts(plan)[at]!.length >= minChars);
  const chosen = new Set<number>();
  for (const term of terms) {
    const found = long.find(({ at, terms: mentioned }) => mentioned.has(term) && !chosen.has(at));
    if (found !== undefined && chosen.size < quotesShown) chosen.add(found.at);
  }
  for (const { at } of long) if (chosen.size < quotesShown) chosen.add(at);
  return [...chosen];
}

function byTopic(table: ColumnsInMemory, plan: ColumnPlan, { rows, bags, topics }: Answers, rating?: ColumnPlan): Finding[] {
  const used = new Set<number>();
  const each = [...topics].slice(0, topicsShown).flatMap(([term, name]) => {
    const at = rows.find((row, i) => bags[i]!.terms.has(term) && !used.has(row) && table.texts(plan)[row]!.length >= minChars);
    if (at === undefined) return [];
    used.add(at);
    return [`${name}: ${quote(table, plan, at, rating)}`];
  });
  if (each.length > 0) return [{ kind: 'quotes', text: `From ${plan.name}, word for word, by topic: ${each.join('; ')}.` }];
  const others = rows.filter((at) => table.texts(plan)[at]!.length >= minChars).slice(0, quotesShown);
  return others.length === 0
    ? []
    : [{ kind: 'quotes', text: `From ${plan.name}, word for word: ${others.map((at) => quote(table, plan, at, rating)).join('; ')}.` }];
}

function quote(table: ColumnsInMemory, plan: ColumnPlan, at: number, rating?: ColumnPlan): string {
  const text = table.texts(plan)[at]!.replace(/\s+/g, ' ');
  const rate = rating === undefined ? '' : `, ${rating.name} ${table.texts(rating)[at]}`;
  return `“${text.length > quoteChars ? `${text.slice(0, quoteChars)}…` : text}” (row ${table.row(at)}${rate})`;
}
