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
import { columnFor, isKindOfColumn } from './column-synonyms.ts';
import { asksCoverage, coverageLines } from './coverage.ts';
import { cannotCompute, emptyAnswers, withoutRows } from './empty-tables.ts';
import { mainMeasure, safe } from './figure.ts';
import { findingsWithKinds } from './findings.ts';
import { readTokens } from './prompt-tokens.ts';
import { groupsAsked, isByGroup } from './question-groups.ts';
import { asksWorth, hasValue, perWords, statusFigures, valueKinds, withItsMeasure } from './question-measures.ts';
import { otherSide } from './question-sides.ts';
import { agreeingKinds, commentKinds, defectOf, qualityKinds, severityOf, type Topic, topicsOf } from './question-topics.ts';
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
const durationKinds = wordSet('durations join_durations');
const speedWords = wordSet(
  'fastest slowest quickest fast slow quick schnellste schnellster schnellsten langsamste langsamster langsamsten rapide rapides lent lents rápido rápida lento lenta veloce veloci',
);
const periodWords = wordSet('month quarter period monat quartal zeitraum mes trimestre periodo mois période');
const countWords = wordSet('many number count viele anzahl');
const comparing = wordSet('compare vergleiche vergleichen compara comparez confronta vergelijk');
/** "Which customers have no orders", "which orders belong to no customer". */
const missingWords = wordSet('no none without belong belongs kein keine keinen ohne ningún ninguno ninguna sin aucun aucune sans');
const missingKinds = new Set(['join_only', 'join_inactive', 'dues_unassigned']);
const notWords = wordSet('not nicht pas no non niet nie não');
const inWords = wordSet('in im dans en nel nella on auf w em');
const promoterWords = wordSet('nps enps promoter promoters');
/** How many formulas were computed again, beside those that are wrong. */
const checkNotes = new Set(['formula_agrees', 'formula_counted', 'formula_unchecked']);
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
    const lacking = withoutRows(question, words, tables);
    if (lacking !== null) return [lacking];
    const covered = asksCoverage(words) ? coverageLines(filled) : [];
    const exact = covered.length > 0 ? covered : statusFigures(words, filled);
    if (exact.length > 0) return [answerOf(question, exact)];
    const isOther = otherSide(question, joins, filled);
    const lackingIn = isOnLackingIn(words) ? candidates.filter(({ kind, text }) => missingKinds.has(kind) && !isOther(text)) : [];
    if (lackingIn.length > 0)
      return [
        answerOf(
          question,
          lackingIn.map(({ text }) => text),
        ),
      ];
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
  const asked = readingOf(question, words, candidates);
  const rule = rules.find(({ applies }) => applies(asked))!;
  const chosen = rule.choose(asked).map(({ candidate: { file, text } }) => `${file}${text}`);
  // The whole report follows "compare a.csv with b.csv".
  if (comparing.has(words[0] ?? '') && rule.isDecisive !== true && candidates.some(({ kind }) => kind === 'join')) return [];
  const cause = causeText(words, tables);
  if (cause !== null) return [answerOf(question, [cause, ...chosen.slice(0, maxFindings - 1)])];
  if (chosen.length === 0 && !isInterrogative(words[0] ?? '') && !question.endsWith('?')) return [];
  if (chosen.length === 0) {
    const none = isOnQuality(asked) || isJudged(asked) ? nothingOdd : noRule;
    const without = empty.length === 0 ? '' : `. What needs the rows of ${empty.join(' and ')} cannot be said: it has none`;
    return [{ question, short: `${none}${without}`, lines: [`${none}${without}.`] }];
  }
  const said = [...(rule.verdict?.(asked) ?? []), ...chosen];
  return [rule.isToldWhole === true ? { ...answerOf(question, said), short: said.join(' ').replace(/\.$/, '') } : answerOf(question, said)];
}

/** A finding with its place, the number of topics of the question that it is on, and of the columns that both name. */
type Rated = { candidate: Candidate; i: number; about: number; named: number; score: number };
type Asked = {
  question: string;
  words: readonly string[];
  topics: readonly Topic[];
  rated: readonly Rated[];
  /** Figures of each group that the question asks for, the main measure first. */
  byGroup: readonly Rated[];
  mentionedOf: ReturnType<typeof mentionedIn>;
};

function readingOf(question: string, words: readonly string[], candidates: readonly Candidate[]): Asked {
  const topics = topicsOf(words);
  const mentionedOf = mentionedIn(words);
  const isOnNumber = topics.some(({ kinds }) => kinds === commentKinds) && isCounting(words);
  const groupsOf = groupsAsked(words);
  const all = candidates.map((candidate, i) => {
    const { columns, values } = mentionedOf(candidate.columns);
    // What is due or left is one answer in several findings, whichever of them contain a column of the question.
    const named = ofSeveralFindings.test(candidate.kind) ? 0 : [...columns].filter((name) => mentions(candidate.text, safe(name))).length;
    const valued = groupKinds.has(candidate.kind) && values.some((value) => mentions(candidate.text, safe(value)));
    const about =
      topics.filter(({ kinds, named: only }) => kinds.has(candidate.kind) && (only !== true || named > 0)).length + (valued ? 1 : 0);
    return { candidate, i, about, named, score: about * topicScore + Math.min(named, 2) * columnScore };
  });
  const grouped = all.filter(({ candidate }) => isByGroup(candidate, groupsOf(candidate.columns)));
  const byGroup = grouped.filter(
    ({ candidate: { kind, main, text } }) => kind !== 'group' || main === undefined || text.includes(safe(main)),
  );
  const rated = all
    .filter(({ score, about }) => score >= minScore && (about > 0 || topics.length === 0))
    .filter(() => !isOnNumber)
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

/** The first rule that applies chooses the findings; `verdict` is told before them. */
type Rule = {
  name: string;
  applies(asked: Asked): boolean;
  choose(asked: Asked): Rated[];
  verdict?(asked: Asked): string[];
  isDecisive?: true;
  /** All findings stand in the closing words too. */
  isToldWhole?: true;
};

const rules: readonly Rule[] = [
  {
    name: 'whether the data or its formulas can be trusted, if something is wrong',
    applies: (asked) => isJudged(asked) && wrongIn(asked).length > 0,
    choose: (asked) => [
      ...defects(wrongIn(asked)).slice(0, maxLines),
      ...asked.rated.filter(({ candidate: { kind } }) => checkNotes.has(kind)),
    ],
    verdict: (asked) => verdictOn(defects(wrongIn(asked)).slice(0, maxLines)),
  },
  {
    name: 'whether the data can be trusted, if nothing is wrong: the totals and sums that agree',
    applies: isJudged,
    choose: ({ rated }) => rated.filter(({ candidate: { kind } }) => agreeingKinds.has(kind)).slice(0, maxFindings),
  },
  {
    name: 'the figures of each group that the question names, and what is wrong if it asks for that too',
    applies: (asked) => asked.byGroup.length > 0 && !isOnComments(asked) && decisiveOf(asked).length === 0,
    choose: (asked) => [
      ...doubtsOf(asked),
      ...asked.byGroup.slice(0, maxFindings),
      ...(isOnQuality(asked) ? defects(asked.rated).slice(0, maxLines) : []),
    ],
  },
  {
    name: 'what is wrong in the data',
    applies: isOnQuality,
    choose: ({ rated }) => defects(rated).slice(0, maxLines),
  },
  {
    name: 'findings on just what was asked',
    applies: (asked) => decisiveOf(asked).length > 0,
    choose: (asked) => [...doubtsOf(asked), ...decisiveOf(asked)].slice(0, maxFindings),
    isDecisive: true,
  },
  {
    name: 'what comments say',
    applies: (asked) => isOnComments(asked) && onComments(asked.rated).length > 0,
    choose: ({ rated }) => onComments(rated).slice(0, maxLines),
    isToldWhole: true,
  },
  {
    name: 'the findings with the most topics and columns of the question',
    applies: () => true,
    choose: (asked) => [...doubtsOf(asked), ...closestOf(asked)].slice(0, maxFindings),
  },
];

function isOnComments({ words, topics }: Asked): boolean {
  return topics.some(({ kinds }) => kinds === commentKinds) && !isCounting(words);
}

/** "How many comments were answered" asks for a number, not for what they say. */
function isCounting(words: readonly string[]): boolean {
  return words.some((word) => countWords.has(word));
}

function isJudged({ topics }: Asked): boolean {
  return topics.some(({ judges }) => judges === true);
}

function isOnQuality({ topics }: Asked): boolean {
  const own = topics.filter(({ beside }) => beside !== true);
  return own.length > 0 && own.every(({ kinds }) => kinds === qualityKinds);
}

/** "Who is in the one file, but not in the other?" */
function isOnLackingIn(words: readonly string[]): boolean {
  return words.some((word, i) => notWords.has(word) && inWords.has(words[i + 1] ?? ''));
}

function wrongIn({ rated }: Asked): Rated[] {
  return rated.filter(({ about, candidate }) => about > 0 && qualityKinds.has(candidate.kind));
}

/** Findings of the same kind are counted once: a duplicate may be told in two lines. */
function verdictOn(found: readonly Rated[]): string[] {
  if (found.some(({ candidate }) => candidate.kind === 'formula_verdict')) return [];
  const kinds = new Set(found.flatMap(({ candidate }) => defectOf(candidate.kind) ?? [])).size;
  if (kinds === 0) return [];
  return [`Only with care: ${kinds === 1 ? 'one kind of finding questions' : `${kinds} kinds of findings question`} the data.`];
}

/** Wrong values are told beside the figures that contain them. */
function doubtsOf({ rated, mentionedOf }: Asked): Rated[] {
  return rated.filter(
    ({ candidate, about }) => candidate.kind === doubtful && about > 0 && namesMeasure(candidate, mentionedOf(candidate.columns).columns),
  );
}

function decisiveOf({ words, rated }: Asked): Rated[] {
  const isOnMissing = isInterrogative(words[0] ?? '') && words.some((word) => missingWords.has(word));
  const isOnSpeed = words.some((word) => speedWords.has(word));
  const isOnPeriod = words.some((word) => monthNumber(word) > 0 || periodWords.has(word));
  const [first] = rated.filter(({ candidate }) => candidate.kind !== doubtful);
  const isOnWorth = asksWorth(words) || (words.some((word) => perWords.has(word)) && first?.candidate.kind === 'join_product');
  return rated.filter(
    ({ candidate: { kind, text }, named }) =>
      decisiveKinds.has(kind) ||
      (isOnSpeed && durationKinds.has(kind)) ||
      (isOnWorth && (valueKinds.has(kind) || (kind === 'join_groups' && named > 0 && text.includes(' × ')))) ||
      (isOnPeriod && kind === 'asked_period') ||
      (isOnMissing && missingKinds.has(kind)),
  );
}

function closestOf({ words, rated }: Asked): Rated[] {
  const isOnPromoters = words.some((word) => promoterWords.has(word));
  const others = rated.filter(({ candidate }) => candidate.kind !== doubtful);
  const best = Math.max(0, ...others.map(({ score, candidate }) => (isNested(candidate) ? score - columnScore : score)));
  return onMainMeasure(
    others.filter(({ score, candidate }) => score > best - columnScore || (isOnPromoters && candidate.kind === 'promoters')),
  );
}

/** Where the question names no column, the rows are ranked by the main measure of their table only. */
function onMainMeasure(found: readonly Rated[]): Rated[] {
  const ranksMain = (file: string) =>
    found.some(({ candidate }) => candidate.kind === 'rank' && candidate.file === file && ofMain(candidate) === 1);
  return found.filter(
    ({ candidate, named }) => candidate.kind !== 'rank' || named > 0 || ofMain(candidate) === 1 || !ranksMain(candidate.file),
  );
}

/** The answers from tables, without those that say that no rule reads a question which a text answers; then the answers from texts. */
export function besideTexts(fromTables: readonly Answer[], fromTexts: readonly Answer[]): Answer[] {
  const asked = (question: string) => question.replace(/[.?! ]{1,4}$/, '').toLowerCase();
  const answered = new Set(fromTexts.map(({ question }) => asked(question)));
  return [
    ...fromTables.filter(
      ({ question, short }) => !((short.startsWith(noRule) || short.startsWith(cannotCompute)) && answered.has(asked(question))),
    ),
    ...fromTexts,
  ];
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

/** Whether the question names the column with the wrong values, or two columns, whose ratio contains them. */
function namesMeasure({ text, columns }: Candidate, mentioned: ReadonlySet<string>): boolean {
  const named = columns.filter(({ name, numbers }) => numbers !== undefined && mentioned.has(name) && mentions(text, safe(name)));
  return named.length > 1 || named.some(({ name }) => text.includes(` in ${safe(name)},`) || text.includes(`corrected, ${safe(name)} `));
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
function mentions(text: string, name: string): boolean {
  const tokens = nameTokens(name);
  if (tokens.length === 0) return false;
  const at = text.indexOf(name);
  return at >= 0 && !/[\p{L}\p{N}_]/u.test(text[at - 1] ?? ' ') && !/[\p{L}\p{N}_]/u.test(text[at + name.length] ?? ' ');
}
