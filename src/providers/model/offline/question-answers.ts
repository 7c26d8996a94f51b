/**
 * Answers the questions of a task with findings: those on what the question is about, and on the columns that it names. A question without such a
 * finding is named as not answered.
 */
import { nameTokens } from '../../table/column-role.ts';
import type { JoinProfile } from '../../table/join.ts';
import { monthNumber } from '../../table/month-names.ts';
import type { ColumnProfile, Finding, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { causeText } from './causes.ts';
import { columnFor } from './column-synonyms.ts';
import { asksCoverage, coverageLines } from './coverage.ts';
import { emptyAnswers } from './empty-tables.ts';
import { mainMeasure, safe } from './figure.ts';
import { findingsWithKinds } from './findings.ts';
import { readTokens } from './prompt-tokens.ts';
import { asksWorth, hasValue, perWords, statusFigures, valueKinds, withItsMeasure } from './question-measures.ts';
import { otherSide } from './question-sides.ts';
import { commentKinds, qualityKinds, severityOf, topicsOf } from './question-topics.ts';
import { isInterrogative, questionsIn } from './questions.ts';
import type { Answer } from './report.ts';

const maxFindings = 6;
/** What is wrong in the data is told by one or two findings of each kind, comments by a line for each topic. */
const maxLines = 14;
const maxOfKind = 2;
const topicScore = 3;
const columnScore = 2;
/** A finding on the topic, or on two columns of the question. */
const minScore = 3;
const noRule = 'No rule of the offline model reads this question; the findings below may answer it';
const noValue =
  'Not computed: no file has an amount of money, and no quantity could be multiplied by a price of its unit, so the files give no value';
const nothingOdd = 'The rules of the offline model found nothing that questions the data: no outlier, gap, duplicate or impossible value';
const doubtful = 'factor_error';
/** Findings on just what was asked, beside which others would only distract. */
const decisiveKinds = new Set(['budget_months', 'join_converted', 'asked_ratio']);
const periodWords = wordSet('month quarter period monat quartal zeitraum mes trimestre periodo mois période');
const countWords = wordSet('many number count viele anzahl');
const comparing = wordSet('compare vergleiche vergleichen compara comparez confronta vergelijk');
/** "Which customers have no orders", "which orders belong to no customer". */
const missingWords = wordSet('no none without belong belongs kein keine keinen ohne ningún ninguno ninguna sin aucun aucune sans');
const missingKinds = new Set(['join_only', 'join_inactive', 'dues_unassigned']);
const promoterWords = wordSet('nps enps promoter promoters');
const ofSeveralFindings = /^(?:dues|budget)_/;
/** Findings by the values of a column. */
const groupKinds = new Set(['group', 'outcomes', 'leaders', 'join_groups']);

/** `main` is the name of the table's main measure, `undefined` without one. */
type Candidate = Finding & { columns: readonly ColumnProfile[]; main: string | undefined; file: string };

export function questionAnswers(task: string, tables: readonly TableProfile[], joins: readonly JoinProfile[]): Answer[] {
  const filled = tables.filter(({ rows }) => rows > 0);
  if (filled.length === 0) return emptyAnswers(task, tables);
  const all = tables.flatMap(({ columns }) => columns);
  const candidates: Candidate[] = [
    ...joins.flatMap(({ remarks }) =>
      remarks.map(({ kind, text }) => ({ kind, text: safe(text), columns: all, main: undefined, file: '' })),
    ),
    ...filled.flatMap((table) =>
      findingsWithKinds(table).map((finding) => ({
        ...finding,
        columns: table.columns,
        main: mainMeasure(table)?.name,
        file: tables.length > 1 ? `${safe(table.name)}: ` : '',
      })),
    ),
  ];
  const files = new Set(tables.map(({ name }) => name.toLowerCase()));
  const empty = tables.filter(({ rows }) => rows === 0).map(({ name }) => safe(name));
  return questionsIn(task).flatMap((question) => {
    // The "much" of "by how much" asks for a difference, not for a total.
    const words = readTokens(question.replace(/\bby how much\b/gi, ' '))
      .filter(({ kind, lower }) => (kind === 'word' || kind === 'quoted') && !files.has(lower))
      .map(({ lower }) => lower);
    const covered = asksCoverage(words) ? coverageLines(filled) : [];
    const exact = covered.length > 0 ? covered : statusFigures(words, filled);
    if (exact.length > 0) return [answerOf(question, exact)];
    const isOther = otherSide(question, joins, filled);
    const asked = withItsMeasure(words, candidates, filled).filter(({ text }) => !isOther(text));
    if (asksWorth(words) && !hasValue(asked, filled)) return [{ question, short: noValue, lines: [`${noValue}.`] }];
    return answer(question, words, asked, filled, empty);
  });
}

/** Empty for an order that no rule reads, such as "compare a.csv with b.csv": the whole report follows it. */
function answer(
  question: string,
  words: readonly string[],
  candidates: readonly Candidate[],
  tables: readonly TableProfile[],
  empty: readonly string[],
): Answer[] {
  const topics = topicsOf(words);
  const judged = topics.some(({ judges }) => judges === true);
  const mentionedOf = mentionedIn(words);
  const isOnAnswers = topics.some(({ kinds }) => kinds === commentKinds);
  // "How many comments were answered" asks for a number, not for what they say.
  const isCounting = words.some((word) => countWords.has(word));
  const rated = candidates
    .map((candidate, i) => {
      const { columns, values } = mentionedOf(candidate.columns);
      // What is due or left is one answer in several findings, whichever of them contain a column of the question.
      const named = ofSeveralFindings.test(candidate.kind) ? 0 : [...columns].filter((name) => mentions(candidate.text, safe(name))).length;
      const valued = groupKinds.has(candidate.kind) && values.some((value) => mentions(candidate.text, safe(value)));
      const about =
        topics.filter(({ kinds, named: only }) => kinds.has(candidate.kind) && (only !== true || named > 0)).length + (valued ? 1 : 0);
      return { candidate, i, about, named, score: about * topicScore + Math.min(named, 2) * columnScore };
    })
    .filter(({ score, about }) => score >= minScore && (about > 0 || topics.length === 0))
    .filter(() => !(isOnAnswers && isCounting))
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
  // Wrong values are told beside the figures that contain them.
  const doubts = judged
    ? []
    : rated.filter(
        ({ candidate, about }) =>
          candidate.kind === doubtful && about > 0 && namesMeasure(candidate, mentionedOf(candidate.columns).columns),
      );
  const others = judged ? rated : rated.filter(({ candidate }) => candidate.kind !== doubtful);
  const best = Math.max(0, ...others.map(({ score, candidate }) => (isNested(candidate) ? score - columnScore : score)));
  const own = topics.filter(({ beside }) => beside !== true);
  const isOnQuality = own.length > 0 && own.every(({ kinds }) => kinds === qualityKinds);
  const isOnComments = isOnAnswers && !isCounting && rated.some(({ candidate }) => commentKinds.has(candidate.kind));
  const isOnPromoters = words.some((word) => promoterWords.has(word));
  const isOnMissing = isInterrogative(words[0] ?? '') && words.some((word) => missingWords.has(word));
  const isOnPeriod = words.some((word) => monthNumber(word) > 0 || periodWords.has(word));
  const isOnWorth = asksWorth(words) || (words.some((word) => perWords.has(word)) && others[0]?.candidate.kind === 'join_product');
  const decisive = others.filter(
    ({ candidate: { kind, text }, named }) =>
      decisiveKinds.has(kind) ||
      (isOnWorth && (valueKinds.has(kind) || (kind === 'join_groups' && named > 0 && text.includes(' × ')))) ||
      (isOnPeriod && kind === 'asked_period') ||
      (isOnMissing && missingKinds.has(kind)),
  );
  const close = judged
    ? defects(rated.filter(({ about }) => about > 0))
    : isOnQuality
      ? defects(rated)
      : decisive.length > 0
        ? decisive
        : isOnComments
          ? onComments(rated)
          : others.filter(({ score, candidate }) => score > best - columnScore || (isOnPromoters && candidate.kind === 'promoters'));
  const chosen = [...(isOnQuality ? [] : doubts), ...close]
    .slice(0, isOnQuality || isOnComments || judged ? maxLines : maxFindings)
    .map(({ candidate: { file, text } }) => `${file}${text}`);
  // The whole report follows "compare a.csv with b.csv".
  if (comparing.has(words[0] ?? '') && decisive.length === 0 && candidates.some(({ kind }) => kind === 'join')) return [];
  const cause = causeText(words, tables);
  if (cause !== null) return [answerOf(question, [cause, ...chosen.slice(0, maxFindings - 1)])];
  if (chosen.length === 0 && !isInterrogative(words[0] ?? '') && !question.endsWith('?')) return [];
  if (chosen.length === 0) {
    const none = isOnQuality ? nothingOdd : noRule;
    const without = empty.length === 0 ? '' : `. What needs the rows of ${empty.join(' and ')} cannot be said: it has none`;
    return [{ question, short: `${none}${without}`, lines: [`${none}${without}.`] }];
  }
  const verdict = judged
    ? [`Only with care: ${close.length === 1 ? 'one finding questions' : `${close.length} findings question`} the data.`]
    : [];
  const said = [...verdict, ...chosen];
  return [isOnComments ? { ...answerOf(question, said), short: said.join(' ').replace(/\.$/, '') } : answerOf(question, said)];
}

/** The answers from tables, without those that say that no rule reads a question which a text answers; then the answers from texts. */
export function besideTexts(fromTables: readonly Answer[], fromTexts: readonly Answer[]): Answer[] {
  const asked = (question: string) => question.replace(/[.?! ]{1,4}$/, '').toLowerCase();
  const answered = new Set(fromTexts.map(({ question }) => asked(question)));
  return [...fromTables.filter(({ question, short }) => !(short.startsWith(noRule) && answered.has(asked(question)))), ...fromTexts];
}

/** 1 for a finding on the main measure of its table, which answers first where the question names no column. */
function ofMain({ text, main }: Candidate): number {
  return main !== undefined && mentions(text, safe(main)) ? 1 : 0;
}

function answerOf(question: string, said: readonly string[]): Answer {
  return { question, short: said[0]!.replace(/\.$/, ''), lines: said.map((text) => `- ${text}`) };
}

/** What leads within each group. */
function isNested({ kind }: Candidate): boolean {
  return kind === 'leaders';
}

/** Whether the question names a column of figures that the finding is about. */
function namesMeasure({ text, columns }: Candidate, mentioned: ReadonlySet<string>): boolean {
  return columns.some(({ name, numbers }) => numbers !== undefined && mentioned.has(name) && mentions(text, safe(name)));
}

/** What answers in free text say of just what is asked, in the order of the report. */
function onComments<T extends { candidate: Candidate; about: number; i: number }>(rated: readonly T[]): T[] {
  const found = rated.filter(({ candidate }) => commentKinds.has(candidate.kind));
  const closest = Math.max(0, ...found.map(({ about }) => about));
  return found.filter(({ about }) => about === closest).toSorted((a, b) => a.i - b.i);
}

/** The most severe first, few of each kind and file. */
function defects<T extends { candidate: Candidate }>(rated: readonly T[]): T[] {
  const counts = new Map<string, number>();
  return rated
    .toSorted((a, b) => severityOf(a.candidate.kind) - severityOf(b.candidate.kind))
    .filter(({ candidate: { kind, file } }) => {
      const count = (counts.get(`${kind} ${file}`) ?? 0) + 1;
      counts.set(`${kind} ${file}`, count);
      return count <= maxOfKind;
    });
}

/** The columns and the values of columns that a question names, for each set of columns once. */
function mentionedIn(words: readonly string[]) {
  const known = new Map<readonly ColumnProfile[], { columns: ReadonlySet<string>; values: readonly string[] }>();
  // "What did we spend in May" does not ask for the column "km in May".
  const long = words.filter((word) => word.length > 2 && monthNumber(word) === 0);
  return (columns: readonly ColumnProfile[]) => {
    const found = known.get(columns) ?? {
      columns: new Set(long.flatMap((word) => columnFor(word, columns)?.name ?? [])),
      values: columns.flatMap(({ frequent }) =>
        (frequent ?? []).flatMap(({ value }) => (long.includes(value.toLowerCase()) ? [value] : [])),
      ),
    };
    known.set(columns, found);
    return found;
  };
}

/** Whether the text contains the column's name as words of its own. */
function mentions(text: string, name: string): boolean {
  const tokens = nameTokens(name);
  if (tokens.length === 0) return false;
  const at = text.indexOf(name);
  return at >= 0 && !/[\p{L}\p{N}_]/u.test(text[at - 1] ?? ' ') && !/[\p{L}\p{N}_]/u.test(text[at + name.length] ?? ' ');
}
