/** Free text in a column: words that occur in many rows. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { themeFindings } from './comment-themes.ts';
import { quoteFindings, ratingOf } from './quotes.ts';
import { withoutStockSentences } from './stock-sentences.ts';

/** Answers that say nothing. */
const noAnswer =
  /^(?:no comments?|no answer|none|nothing|nope|no|yes|ok|okay|all good|alles (?:gut|ok|okay|super|bestens|prima)|keine?|keine angaben?|kein kommentar|nichts|nein|ja|k\. ?a\.|[-–—.?/x]{1,5})[.!]?$/i;
const maxTexts = 5_000;
const maxTextChars = 500;
const topicsShown = 10;
const topicsRated = 6;
const commentWords = new Set(
  'comment comments feedback kommentar kommentare bemerkung bemerkungen anmerkung anmerkungen answer antwort remark remarks opinion meinung suggestion suggestions verbesserung freitext freetext notes improve text review reviews rezension bewertungstext complaint complaints beschwerde'.split(
    ' ',
  ),
);
const stopWords = new Set(
  (
    'a about after again all also always am an and any are as at back be because been before being but by came can come comes could did do does doing done down far for from get gets go got had has have having he her here him his how i if in ' +
    'into is it its just like look looks made make many me more most much my never no nor not now of off on once one only or other our out over own please quite really same she should so some still such than thank thanks that the their them ' +
    'then there these they thing things this those through to too up us use used very was way we well were what when where which while who why will with would you your would im ive dont didnt cant wont isnt wasnt it’s ' +
    'aber alle als also am an auch auf aus bei beim bin bis bitte da das dass dem den der des die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas für ganz gibt hab habe haben hat ' +
    'hatte ich ihr im in ist ja jetzt kann kein keine können mal man mehr mein meine mich mir mit muss nach nicht noch nur oder ohne schon sehr sein seine sich sie sind so über um und uns unser unter viel vom von vor war ' +
    'waren warum was weil weiter wenn wer wie wieder wir wird wurde würde zu zum zur'
  ).split(' '),
);

export function textFindings(table: ColumnsInMemory): Finding[] {
  return table.plans
    .filter(isFreeText)
    .slice(0, 3)
    .flatMap((plan) => topics(table, plan));
}

export function isFreeText({ name, reads, type, role, meanChars, values, filled }: ColumnPlan): boolean {
  if (reads !== 'text' || type !== 'text' || role === 'identifier' || filled < 3) return false;
  if (isAnswer(name)) return meanChars >= 14 && values.distinct >= Math.min(6, filled * 0.5);
  return meanChars >= 18 && values.distinct >= filled * 0.5;
}

function isAnswer(name: string): boolean {
  return has(nameTokens(name), commentWords) || name.trim().endsWith('?');
}

function topics(table: ColumnsInMemory, plan: ColumnPlan): Finding[] {
  const texts = table.texts(plan);
  const written = [...texts.keys()].filter((at) => texts[at] !== '').slice(0, maxTexts);
  const rows = written.filter((at) => !noAnswer.test(texts[at]!));
  // Addresses and similar texts are not read as words.
  if (rows.filter((at) => texts[at]!.includes(' ')).length < rows.length * 0.5) return [];
  const meanWords = rows.reduce((sum, at) => sum + wordsOf(texts[at]!).count, 0) / Math.max(rows.length, 1);
  // Answers to a question may be two words long.
  if (meanWords < (isAnswer(plan.name) ? 1.5 : 3)) return [];
  const bags = withoutStockSentences(rows.map((at) => texts[at]!.slice(0, maxTextChars))).map(wordsOf);
  const counts = new Map<string, { count: number; forms: Map<string, number> }>();
  for (const { terms } of bags) {
    for (const [stem, form] of terms) {
      let entry = counts.get(stem);
      if (entry === undefined) counts.set(stem, (entry = { count: 0, forms: new Map() }));
      entry.count++;
      entry.forms.set(form, (entry.forms.get(form) ?? 0) + 1);
    }
  }
  const fewest = rows.length < 40 ? 2 : Math.max(3, Math.ceil(rows.length * 0.02));
  const ranked = [...counts]
    .filter(([, { count }]) => count >= fewest)
    .sort((a, b) => b[1].count - a[1].count || b[0].length - a[0].length || (a[0] < b[0] ? -1 : 1));
  // A phrase that always occurs with its word says more than the word.
  const phrases = ranked.filter(([term]) => term.includes(' '));
  const shown = ranked
    .filter(
      ([term, { count }]) =>
        term.includes(' ') || !phrases.some(([phrase, own]) => own.count >= count * 0.8 && phrase.split(' ').includes(term)),
    )
    .slice(0, topicsShown);
  const name = (entry: { forms: Map<string, number> }) => [...entry.forms].sort((a, b) => b[1] - a[1])[0]![0];
  const findings: Finding[] = [];
  const empty = written.length - rows.length;
  const without =
    empty === 0
      ? ''
      : `; ${exact(empty)} more ${empty === 1 ? 'says' : 'say'} nothing, such as “${texts[written.find((at) => noAnswer.test(texts[at]!))!]}”`;
  if (shown.length > 0)
    findings.push({
      kind: 'topics',
      text: `${plan.name} is free text (${countOf(rows.length, 'answer')}, ${round(meanWords)} words on average${without}). Topics by number of rows that mention them: ${shown.map(([, entry]) => `${name(entry)} (${exact(entry.count)})`).join(', ')}.`,
    });
  const rated = shown.length > 0 ? ratingsOf(table, rows, bags, shown.slice(0, topicsRated)) : null;
  if (rated !== null)
    findings.push({
      kind: 'topics',
      text: `Mean ${rated.name} of the rows that mention a topic in ${plan.name}: ${rated.each.join(', ')}.`,
    });
  findings.push(...themeFindings(table, plan, rows));
  const topicNames = new Map(shown.map(([term, entry]) => [term, name(entry)]));
  return [...findings, ...quoteFindings(table, plan, { rows, bags, topics: topicNames })];
}

/** The mean rating of the rows with each topic: what people are pleased or annoyed by. */
function ratingsOf(
  table: ColumnsInMemory,
  rows: readonly number[],
  bags: readonly Bag[],
  shown: readonly [string, { forms: Map<string, number> }][],
): { name: string; each: string[] } | null {
  const rating = ratingOf(table);
  if (rating === undefined || rating.values.distinct < 2) return null;
  const numbers = table.numbers(rating);
  const each = shown.flatMap(([term, { forms }]) => {
    const own = rows.flatMap((at, i) => (bags[i]!.terms.has(term) && !Number.isNaN(numbers[at]!) ? [numbers[at]!] : []));
    const [form] = [...forms].toSorted((a, b) => b[1] - a[1])[0]!;
    return own.length < 2
      ? []
      : [`${form} ${round(own.reduce((sum, value) => sum + value, 0) / own.length)} (${countOf(own.length, 'row')})`];
  });
  return each.length === 0 ? null : { name: rating.name, each };
}

export type Bag = { count: number; terms: Map<string, string> };

/** Words and pairs of adjacent words, by their stem, each once. */
function wordsOf(text: string): Bag {
  const words = text
    .slice(0, maxTextChars)
    .toLowerCase()
    .split(/[^\p{L}\p{N}'’-]+/u)
    .filter((word) => word !== '');
  const terms = new Map<string, string>();
  let before = '';
  let beforeForm = '';
  for (const raw of words) {
    const word = raw.replaceAll(/['’]/g, '');
    const isContentWord = word.length > 2 && !stopWords.has(raw) && !stopWords.has(word) && /\p{L}/u.test(word);
    if (!isContentWord) {
      before = '';
      continue;
    }
    const stem = stemOf(word);
    terms.set(stem, terms.get(stem) ?? raw);
    if (before !== '') terms.set(`${before} ${stem}`, `${beforeForm} ${raw}`);
    before = stem;
    beforeForm = raw;
  }
  return { count: words.length, terms };
}

/** English plurals only; a stronger rule would join different words. */
function stemOf(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') && !word.endsWith('us') && !word.endsWith('is')
    ? word.slice(0, -1)
    : word;
}
