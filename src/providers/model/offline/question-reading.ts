/** Rates the findings of tables by a question: the topics and the columns and values that both are on. */
import { nameTokens } from '../../table/column-role.ts';
import { monthNumber } from '../../table/month-names.ts';
import type { ColumnProfile, Finding } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { columnFor, isKindOfColumn } from './column-synonyms.ts';
import { safe } from './figure.ts';
import { countsRows, groupsAsked, isByGroup, isOfRows } from './question-groups.ts';
import { commentKinds, type Topic, topicsOf } from './question-topics.ts';
import { inEnglish } from './question-words.ts';

const topicScore = 3;
export const columnScore = 2;
/** A finding on the topic, or on two columns of the question. */
const minScore = 3;
const countWords = wordSet('many number count viele anzahl');
const timeWords = wordSet('long lange longtemps takes take took duration dauert dauer dura durée tardamos');
const timeUnits = wordSet(
  'seconds minutes hours days min mins hrs sekunden minuten stunden tage secondes heures jours segundos minutos horas días duration dauer durée duración durata',
);
const durationFindings = wordSet('sums rank outlier');
const ofSeveralFindings = /^(?:dues|budget)_/;
/** Findings by the values of a column. */
const groupKinds = new Set(['group', 'outcomes', 'leaders', 'join_groups']);

/** `main` is the name of the table's main measure, `undefined` without one. */
export type Candidate = Finding & { columns: readonly ColumnProfile[]; main: string | undefined; file: string };

/** A finding with its place, the number of topics of the question that it is on, and of the columns that both name. */
export type Rated = { candidate: Candidate; i: number; about: number; named: number; score: number };
export type Asked = {
  question: string;
  words: readonly string[];
  topics: readonly Topic[];
  rated: readonly Rated[];
  /** Figures of each group that the question asks for, the main measure first. */
  byGroup: readonly Rated[];
  mentionedOf: ReturnType<typeof mentionedIn>;
};

/** @param own the words of the question in its own language, which name the columns */
export function readingOf(question: string, own: readonly string[], candidates: readonly Candidate[]): Asked {
  const words = inEnglish(own);
  const topics = topicsOf(words);
  const mentionedOf = mentionedIn(own);
  const isOnNumber = topics.some(({ kinds }) => kinds === commentKinds) && isCounting(words);
  const groupsOf = groupsAsked(own);
  const isOnRows = countsRows(own);
  const isOnTime = words.some((word) => timeWords.has(word));
  const all = candidates.map((candidate, i) => {
    const { columns, values } = mentionedOf(candidate.columns);
    // What is due or left is one answer in several findings, whichever of them contain a column of the question.
    const named = ofSeveralFindings.test(candidate.kind) ? 0 : [...columns].filter((name) => mentions(candidate.text, safe(name))).length;
    const valued = groupKinds.has(candidate.kind) && values.some((value) => mentions(candidate.text, safe(value)));
    const about =
      topics.filter(({ kinds, named: only }) => kinds.has(candidate.kind) && (only !== true || named > 0)).length +
      (valued || (isOnTime && isOfDuration(candidate)) ? 1 : 0);
    return { candidate, i, about, named, score: about * topicScore + Math.min(named, 2) * columnScore };
  });
  const grouped = all.filter(({ candidate }) => isByGroup(candidate, groupsOf(candidate.columns)));
  const hasRowsByGroup = grouped.some(({ candidate }) => isOfRows(candidate));
  const byGroup = grouped.filter(({ candidate }) => {
    const { kind, main, text, columns } = candidate;
    if (hasRowsByGroup && isOnRows(columns)) return isOfRows(candidate);
    return kind !== 'group' || main === undefined || text.includes(safe(main));
  });
  const hasNamedRows = all.some(({ candidate, named }) => named > 0 && isOfRows(candidate));
  const rated = (isOnNumber ? [] : all)
    .filter(({ score, about }) => score >= minScore && (about > 0 || topics.length === 0))
    // "Which teacher has the most pupils": the numbers of rows, not sums of money.
    .filter(
      ({ candidate, named }) =>
        !hasNamedRows || candidate.kind !== 'group' || (isOfRows(candidate) && named > 0) || !isOnRows(candidate.columns),
    )
    // What leads within each group answers only a question on both groups.
    .filter(({ candidate, named }) => candidate.kind !== 'leaders' || (named >= 2 && topics.length > 0))
    // The figures of each group come before those of groups within groups.
    .toSorted(
      (a, b) =>
        Number(isNested(a.candidate)) - Number(isNested(b.candidate)) ||
        b.score - a.score ||
        ofMain(b.candidate) - ofMain(a.candidate) ||
        a.i - b.i,
    );
  return { question, words, topics, rated, byGroup: byGroup.length > 0 ? byGroup : grouped, mentionedOf };
}

/** "How long do we take": the figures of a column such as minutes_to_resolve. */
function isOfDuration({ kind, text, columns }: Candidate): boolean {
  return (
    durationFindings.has(kind) &&
    columns.some(
      ({ name, numbers }) =>
        numbers !== undefined && text.startsWith(`${safe(name)} `) && nameTokens(name).some((token) => timeUnits.has(token)),
    )
  );
}

/** "How many comments were answered" asks for a number, not for what they say. */
export function isCounting(words: readonly string[]): boolean {
  return words.some((word) => countWords.has(word));
}

/** 1 for a finding on the main measure of its table, which answers first where the question names no column. */
export function ofMain({ text, main }: Candidate): number {
  return main !== undefined && mentions(text, safe(main)) ? 1 : 0;
}

/** What leads within each group. */
export function isNested({ kind }: Candidate): boolean {
  return kind === 'leaders';
}

/** The columns and the values of columns that a question names, for each set of columns once. */
function mentionedIn(words: readonly string[]) {
  const known = new Map<readonly ColumnProfile[], { columns: ReadonlySet<string>; values: readonly string[] }>();
  // "What did we spend in May" does not ask for the column "km in May".
  const long = words.filter((word) => word.length > 2 && monthNumber(word) === 0);
  return (columns: readonly ColumnProfile[]) => {
    const found = known.get(columns) ?? {
      columns: new Set(long.flatMap((word) => (isKindOfColumn(word, columns) ? [] : (columnFor(word, columns)?.name ?? [])))),
      values: columns.flatMap(({ frequent }) =>
        (frequent ?? []).flatMap(({ value }) => (long.includes(value.toLowerCase()) ? [value] : [])),
      ),
    };
    known.set(columns, found);
    return found;
  };
}

/** Whether the text contains the column's name as words of its own. */
export function mentions(text: string, name: string): boolean {
  const tokens = nameTokens(name);
  if (tokens.length === 0) return false;
  const at = text.indexOf(name);
  return at >= 0 && !/[\p{L}\p{N}_]/u.test(text[at - 1] ?? ' ') && !/[\p{L}\p{N}_]/u.test(text[at + name.length] ?? ' ');
}
