/**
 * Answers the questions of a task with findings: those on what the question is about, and on the columns that it names. A question without such a
 * finding is named as not answered.
 */
import type { JoinProfile } from '../../table/join.ts';
import type { TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { causeText } from './causes.ts';
import { claimBefore } from './claims.ts';
import { absentAnswer } from './computed/absent-columns.ts';
import { dateParts, dayWords, weekWords } from './computed/vocabulary.ts';
import { asksCoverage, coverageLines } from './coverage.ts';
import { cannotCompute, emptyAnswers, withoutRows } from './empty-tables.ts';
import { mainMeasure, safe } from './figure.ts';
import { findingsWithKinds } from './findings.ts';
import { readTokens } from './prompt-tokens.ts';
import { asksWorth, hasValue, statusFigures, withItsMeasure } from './question-measures.ts';
import { type Candidate, readingOf } from './question-reading.ts';
import { isJudged, isOnQuality, maxFindings, missingKinds, rules } from './question-rules.ts';
import { otherSide } from './question-sides.ts';
import { qualityKinds } from './question-topics.ts';
import { inEnglish } from './question-words.ts';
import { isInterrogative, questionsIn } from './questions.ts';
import type { Answer } from './report.ts';
import { isNearest } from './text/questions/nearest.ts';

const notWords = wordSet('not nicht pas no non niet nie não');
const inWords = wordSet('in im dans en nel nella on auf w em');
/** "D'élèves", "l'incasso", "dell'anno". */
const elision = /^(?:[dlmnst]|qu|dell|nell|all|sull|un)['’](?=\p{L}{2})/u;
const noRule = 'No rule of the offline model reads this question; the findings below may answer it';
const noValue =
  'Not computed: no file has an amount of money, and no quantity could be multiplied by a price of its unit, so the files give no value';
const auxiliaries = wordSet('is are was were does do did has have ist sind war');
const subjects = wordSet('it they this that these those es sie das');
const maxFollowUp = 8;
const noClaim = 'Not answered: no rule compares what is claimed with the figures';
const maxRates = 12;
/** Figures that compare: with a set point, a timetable, an outcome that is not wanted. */
const comparedKinds = wordSet('outcome_rate deviation join_late late');
const nothingOdd = 'The rules of the offline model found nothing that questions the data: no outlier, gap, duplicate or impossible value';
/** A finding that tells of no day of the week does not answer a question on it. */
const tellsWeekdays = /(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|day of the week/;
/** Orders for a figure: one that no rule reads is named as not answered, like a question. */
const computing = wordSet(
  'compute calculate determine count rank berechne ermittle bestimme zähle calcule calculez compte comptez calcula cuenta calcola conta',
);
const comparing = wordSet('compare vergleiche vergleichen compara comparez confronta vergelijk');

export function questionAnswers(
  task: string,
  tables: readonly TableProfile[],
  joins: readonly JoinProfile[],
  computed: ReadonlyMap<string, Answer> = new Map(),
  /** No text beside the tables may answer. */
  isAlone = true,
): Answer[] {
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
  const questions = questionsIn(task);
  return questions.flatMap((question, i) => {
    const known = computed.get(question);
    if (known !== undefined) return [known];
    const absent = isAlone ? absentAnswer(question, task, filled) : null;
    if (absent !== null) return [{ question, short: absent.replace(/\.$/, ''), lines: [absent] }];
    // The "much" of "by how much" asks for a difference, not for a total.
    const wordsOf = (text: string) =>
      readTokens(text.replace(/\bby how much\b/gi, ' '))
        .filter(({ kind, lower }) => (kind === 'word' || kind === 'quoted') && !files.has(lower))
        .map(({ lower }) => lower.replace(elision, ''));
    const asked = wordsOf(question);
    // "Is it worse in the afternoon?" asks about what the question before it is on.
    const own = isFollowUp(asked) && i > 0 ? [...asked, ...wordsOf(questions[i - 1]!)] : asked;
    const claim = claimBefore(task, question);
    if (claim !== null) return [onClaim(question, claim, candidates)];
    const lacking = withoutRows(question, own, tables);
    if (lacking !== null) return [lacking];
    const words = inEnglish(own);
    const covered = asksCoverage(words) ? coverageLines(filled) : [];
    const exact = covered.length > 0 ? covered : statusFigures(own, filled);
    if (exact.length > 0) return [answerOf(question, exact)];
    const isOther = otherSide(question, joins, filled);
    const lackingIn = isOnLackingIn(own) ? candidates.filter(({ kind, text }) => missingKinds.has(kind) && !isOther(text)) : [];
    if (lackingIn.length > 0)
      return [
        answerOf(
          question,
          lackingIn.map(({ text }) => text),
        ),
      ];
    const fitting = withItsMeasure(words, candidates, filled).filter(({ text }) => !isOther(text));
    if (asksWorth(words) && !hasValue(fitting, filled)) return [{ question, short: noValue, lines: [`${noValue}.`] }];
    return answer(question, own, fitting, filled, empty);
  });
}

/** What is nearest to a claim; whether it is right is left to the reader. */
function onClaim(question: string, claim: string, candidates: readonly Candidate[]): Answer {
  const words = readTokens(claim)
    .filter(({ kind }) => kind === 'word')
    .map(({ lower }) => lower.replace(elision, ''));
  const figures = candidates.filter(({ kind }) => !qualityKinds.has(kind));
  const { rated } = readingOf(question, words, figures);
  const compared = rated.filter(({ about, candidate: { kind } }) => about > 0 && comparedKinds.has(kind)).toSorted((a, b) => a.i - b.i);
  const nearest = (compared.length > 0 ? compared.slice(0, maxRates) : rated.slice(0, maxFindings)).map(
    ({ candidate: { file, text } }) => `${file}${text}`,
  );
  const said = nearest.length === 0 ? `${noClaim}.` : `${noClaim}; these findings are nearest to it.`;
  return answerOf(question, [said, ...nearest]);
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
  const isOnWeekday = words.some(
    (word, i) => dateParts.get(word) === 'weekday' || (dayWords.has(word) && words.slice(i + 1, i + 4).some((next) => weekWords.has(next))),
  );
  const chosen = rule
    .choose(asked)
    .filter(({ candidate: { text } }) => !isOnWeekday || tellsWeekdays.test(text))
    .map(({ candidate: { file, text } }) => `${file}${text}`);
  // The whole report follows "compare a.csv with b.csv".
  if (comparing.has(words[0] ?? '') && rule.isDecisive !== true && candidates.some(({ kind }) => kind === 'join')) return [];
  const cause = causeText(words, tables);
  // Beside remarks, what they are about: the late rows with theirs.
  const late = chosen.length > 0 ? [] : candidates.filter(({ kind }) => kind === 'join_late').map(({ file, text }) => `${file}${text}`);
  if (cause !== null) return [answerOf(question, [cause, ...[...chosen, ...late].slice(0, maxFindings - 1)])];
  if (chosen.length === 0 && !isInterrogative(words[0] ?? '') && !computing.has(words[0] ?? '') && !question.endsWith('?')) return [];
  if (chosen.length === 0) {
    const none = isOnQuality(asked) || isJudged(asked) ? nothingOdd : noRule;
    const without = empty.length === 0 ? '' : `. What needs the rows of ${empty.join(' and ')} cannot be said: it has none`;
    return [{ question, short: `${none}${without}`, lines: [`${none}${without}.`] }];
  }
  const said = [...(rule.verdict?.(asked) ?? []), ...chosen];
  return [rule.isToldWhole === true ? { ...answerOf(question, said), short: said.join(' ').replace(/\.$/, '') } : answerOf(question, said)];
}

/**
 * The answers from tables, without those that say that no rule reads a question which a text answers; then the answers from texts, without
 * lines that only share words with a question which a table answers.
 */
export function besideTexts(fromTables: readonly Answer[], fromTexts: readonly Answer[]): Answer[] {
  const asked = (question: string) => question.replace(/[.?! ]{1,4}$/, '').toLowerCase();
  const isOpen = ({ short }: Answer) => short.startsWith(noRule) || short.startsWith(cannotCompute);
  const answered = new Set(fromTexts.map(({ question }) => asked(question)));
  const isTold = new Set(fromTexts.filter(({ short }) => !isNearest(short)).map(({ question }) => asked(question)));
  const byTable = new Set(fromTables.filter((answer) => !isOpen(answer)).map(({ question }) => asked(question)));
  // What a text says of the cause is better than that the tables say nothing of it.
  const isOnCause = ({ short }: Answer) => short.startsWith('As to why');
  return [
    ...fromTables.filter(
      (answer) => !((isOpen(answer) && answered.has(asked(answer.question))) || (isOnCause(answer) && isTold.has(asked(answer.question)))),
    ),
    ...fromTexts.filter(({ question, short }) => !(isNearest(short) && byTable.has(asked(question)))),
  ];
}

function answerOf(question: string, said: readonly string[]): Answer {
  return { question, short: said[0]!.replace(/\.$/, ''), lines: said.map((text) => `- ${text}`) };
}

/** "Is it", "are they": the subject stands in the question before. */
function isFollowUp(words: readonly string[]): boolean {
  return auxiliaries.has(words[0] ?? '') && subjects.has(words[1] ?? '') && words.length <= maxFollowUp;
}

/** "Who is in the one file, but not in the other?" */
function isOnLackingIn(words: readonly string[]): boolean {
  return words.some((word, i) => notWords.has(word) && inWords.has(words[i + 1] ?? ''));
}
