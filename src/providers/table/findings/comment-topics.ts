/** The topics of free-text answers: nouns that occur in several answers, each with its count, mean rating and one sentence that contains it. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, percent, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import type { Themes } from './comment-themes.ts';
import { type Bag, wordsOf } from './comment-words.ts';
import { quote, sentenceWith } from './quotes.ts';
import { ratingBounds, ratingOf } from './ratings.ts';
import { groupingColumns } from './score.ts';
import { withoutStockSentences } from './stock-sentences.ts';

const topicsShown = 8;
const quotesShown = 3;
const maxGroups = 6;
/** The groups of fewer answers say little. */
const fewestByGroup = 5;
const fewestRatings = 2;
/** A topic whose answers nearly all belong to a larger topic is a part of this. */
const partOf = 0.8;
/** A topic of so many answers is the thing that all of them are about, and has no parts. */
const mostOfAnswers = 0.6;

/** A topic whose answers belong to several themes says nothing of its own: "coach" in complaints of heating, seats and toilets. */
const spread = 0.6;
const severalThemes = 3;

/** `sentence`: the part of an answer that is on it. */
type Topic = { name: string; rows: ReadonlySet<number>; sentence: (text: string) => string };
type Rated = { plan: ColumnPlan; numbers: ArrayLike<number> };

/**
 * Themes first, the largest complaint at the head; then the topics that no theme tells.
 *
 * @param rows answers with content
 * @param serious those that are quoted apart
 */
export function topicFindings(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  rows: readonly number[],
  serious: ReadonlySet<number>,
  { told, named }: Themes,
): Finding[] {
  const texts = table.texts(plan);
  const answers = rows.map((at) => texts[at]!);
  // Stock sentences give no topics, but every answer with the word counts.
  const { bags, isNoun } = wordsOf(withoutStockSentences(answers));
  const topics = topicsOf(rows, wordsOf(answers).bags, termsOf(bags, isNoun), [...named.values()]);
  const rating = ratingOf(table);
  const rated = rating === undefined ? null : { plan: rating, numbers: table.numbers(rating) };
  const quoted = new Set<number>(serious);
  return [
    ...told.map((theme) => ({
      kind: theme.tone === 'complaint' ? 'topic_low' : 'topic_high',
      text: topicLine(
        table,
        plan,
        rows.length,
        `${theme.tone === 'complaint' ? 'Complaint' : 'Praise'}: ${theme.name}`,
        theme,
        rated,
        quoted,
      ),
    })),
    ...topics.map((topic) => ({
      kind: kindOf(topic, rated),
      text: topicLine(table, plan, rows.length, `Topic ${topic.name}`, topic, rated, quoted, byGroup(table, topic.rows)),
    })),
    ...extremeFindings(table, plan, rows, [...told, ...topics], rated, serious),
  ];
}

function termsOf(bags: readonly Bag[], isNoun: (term: string) => boolean): Set<string> {
  return new Set(bags.flatMap(({ terms }) => [...terms.keys()].filter(isNoun)));
}

/** Whether themes tell what a topic's answers say: nearly all belong to one theme, or they are spread over several. */
function isToldByThemes(own: ReadonlySet<number>, named: readonly ReadonlySet<number>[]): boolean {
  const largest = Math.max(0, ...named.map((rows) => within(own, rows)));
  if (largest >= own.size * partOf) return true;
  const inAny = [...own].filter((at) => named.some((rows) => rows.has(at))).length;
  const themesNamed = named.filter((rows) => within(own, rows) > 0).length;
  return themesNamed >= severalThemes && inAny >= own.size * spread && largest < own.size * spread;
}

function topicsOf(
  rows: readonly number[],
  bags: readonly Bag[],
  nouns: ReadonlySet<string>,
  named: readonly ReadonlySet<number>[],
): Topic[] {
  const found = new Map<string, { rows: Set<number>; forms: Map<string, number> }>();
  for (const [i, { terms }] of bags.entries()) {
    for (const [term, form] of terms) {
      if (!nouns.has(term)) continue;
      let entry = found.get(term);
      if (entry === undefined) found.set(term, (entry = { rows: new Set(), forms: new Map() }));
      entry.rows.add(rows[i]!);
      entry.forms.set(form, (entry.forms.get(form) ?? 0) + 1);
    }
  }
  const fewest = rows.length < 40 ? 2 : Math.max(3, Math.ceil(rows.length * 0.02));
  const frequent = [...found].filter(([, own]) => own.rows.size >= fewest);
  const phrases = frequent.filter(([term]) => term.includes(' '));
  const ranked = frequent
    // A phrase that always occurs with its word says more than the word.
    .filter(
      ([term, own]) =>
        term.includes(' ') ||
        !phrases.some(([phrase, { rows: its }]) => its.size >= own.rows.size * 0.8 && phrase.split(' ').includes(term)),
    )
    .toSorted((a, b) => b[1].rows.size - a[1].rows.size || b[0].length - a[0].length || (a[0] < b[0] ? -1 : 1));
  const topics: Topic[] = [];
  for (const [, { rows: own, forms }] of ranked) {
    if (topics.length === topicsShown) break;
    const isPart = topics.some((larger) => larger.rows.size < rows.length * mostOfAnswers && within(own, larger.rows) >= own.size * partOf);
    if (isPart || isToldByThemes(own, named)) continue;
    const words = [...forms]
      .toSorted((a, b) => b[1] - a[1])
      .map(([form]) => form)
      .slice(0, 3);
    topics.push({ name: words.join(' / '), rows: own, sentence: (text) => sentenceWith(text, words) });
  }
  return topics;
}

/** Whether the answers with the topic are rated low or high on average. Mild complaints stand beside high ratings, so the bound of high ones is strict. */
function kindOf({ rows }: Topic, rated: Rated | null): string {
  const bounds = rated === null ? null : ratingBounds(rated.plan);
  const mean = rated === null ? null : meanOf(rows, rated);
  if (bounds === null || mean === null) return 'topic';
  const middle = (bounds.low + bounds.high) / 2;
  return mean < (bounds.low + middle) / 2 ? 'topic_low' : mean >= bounds.high ? 'topic_high' : 'topic';
}

/** Null for fewer than two ratings. */
function meanOf(rows: ReadonlySet<number>, { numbers }: Rated): number | null {
  const given = [...rows].flatMap((at) => (Number.isNaN(numbers[at]!) ? [] : [numbers[at]!]));
  return given.length < fewestRatings ? null : given.reduce((sum, value) => sum + value, 0) / given.length;
}

function within(part: ReadonlySet<number>, whole: ReadonlySet<number>): number {
  let count = 0;
  for (const row of part) if (whole.has(row)) count++;
  return count;
}

function topicLine(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  answers: number,
  lead: string,
  { rows, sentence }: Topic,
  rated: Rated | null,
  quoted: Set<number>,
  groups = '',
): string {
  const given = rated === null ? 0 : [...rows].filter((at) => !Number.isNaN(rated.numbers[at]!)).length;
  const mean = rated === null ? null : meanOf(rows, rated);
  const distance = (at: number) => {
    const value = rated?.numbers[at] ?? Number.NaN;
    return mean === null ? 0 : Number.isNaN(value) ? Number.POSITIVE_INFINITY : Math.abs(value - mean);
  };
  // The rating of the quoted answer is near the mean, so that the quote stands for the topic.
  const [at] = [...rows].toSorted((a, b) => Number(quoted.has(a)) - Number(quoted.has(b)) || distance(a) - distance(b) || a - b);
  quoted.add(at!);
  const means = mean === null ? '' : `, mean ${rated!.plan.name} ${round(mean)}${given < rows.size ? ` (${exact(given)} rated)` : ''}`;
  return `${lead} in ${plan.name}: ${exact(rows.size)} of ${countOf(answers, 'answer')} (${percent(rows.size, answers)})${means}; ${quote(table, plan, at!, rated?.plan, sentence)}${groups}.`;
}

/** The groups of the answers with a topic, the largest first. */
function byGroup(table: ColumnsInMemory, rows: ReadonlySet<number>): string {
  const [group] = groupingColumns(table, maxGroups);
  if (group === undefined || rows.size < fewestByGroup) return '';
  const texts = table.texts(group);
  const counts = [
    ...Map.groupBy(
      [...rows].filter((at) => texts[at] !== ''),
      (at) => texts[at]!,
    ),
  ]
    .map(([name, own]) => [name, own.length] as const)
    .toSorted((a, b) => b[1] - a[1]);
  return `; by ${group.name}: ${counts.map(([name, count]) => `${name} ${exact(count)}`).join(', ')}`;
}

/** What the answers with low and with high ratings mention; those without a topic are quoted. */
function extremeFindings(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  rows: readonly number[],
  topics: readonly Topic[],
  rated: Rated | null,
  serious: ReadonlySet<number>,
): Finding[] {
  const bounds = rated === null ? null : ratingBounds(rated.plan);
  const topical = new Set([...serious, ...topics.flatMap(({ rows: own }) => [...own])]);
  if (rated === null || bounds === null) {
    const others = rows.filter((at) => !topical.has(at)).slice(0, topics.length === 0 ? quotesShown + 2 : 0);
    return others.length === 0
      ? []
      : [{ kind: 'quotes', text: `From ${plan.name}, word for word: ${others.map((at) => quote(table, plan, at)).join('; ')}.` }];
  }
  const ends = [
    ['low_rated', `${exact(bounds.low)} or less`, (value: number) => value <= bounds.low],
    ['high_rated', `${exact(bounds.high)} or more`, (value: number) => value >= bounds.high],
  ] as const;
  return ends.flatMap(([kind, which, fits]): Finding[] => {
    const own = rows.filter((at) => fits(rated.numbers[at]!));
    if (own.length === 0) return [];
    const named = topics
      .map(({ name, rows: its }) => ({ name, count: own.filter((at) => its.has(at)).length }))
      .filter(({ count }) => count > 0)
      .toSorted((a, b) => b.count - a.count)
      .map(({ name, count }) => `${name} (${exact(count)})`);
    const others = own.filter((at) => !topical.has(at)).slice(0, quotesShown);
    const mention = named.length === 0 ? [] : [`mention ${named.join(', ')}`];
    const quotes =
      others.length === 0
        ? []
        : [
            `write${named.length === 0 ? '' : ', without these topics'}: ${others.map((at) => quote(table, plan, at, rated.plan)).join('; ')}`,
          ];
    return [
      {
        kind,
        text: `${countOf(own.length, 'answer')} in ${plan.name} with ${rated.plan.name} ${which} ${[...mention, ...quotes].join('; some ')}.`,
      },
    ];
  });
}
