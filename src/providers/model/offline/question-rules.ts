/** Rules that choose the findings which answer a question, by what it asks for. */
import { monthNumber } from '../../table/month-names.ts';
import { wordSet } from '../../table/word-set.ts';
import { safe } from './figure.ts';
import { asksWorth, perWords, valueKinds } from './question-measures.ts';
import { type Asked, type Candidate, columnScore, isCounting, isNested, mentions, ofMain, type Rated } from './question-reading.ts';
import { agreeingKinds, commentKinds, defectOf, qualityKinds, severityOf, workWords } from './question-topics.ts';
import { isInterrogative } from './questions.ts';

export const maxFindings = 6;
/** What is wrong in the data is told by one or two findings of each kind, comments by a line for each topic. */
const maxLines = 14;
const maxOfKind = 2;
const doubtful = 'factor_error';
/** Findings on just what was asked, beside which others would only distract. */
const decisiveKinds = new Set(['budget_months', 'join_converted', 'asked_ratio']);
const durationKinds = wordSet('durations join_durations');
const speedWords = wordSet(
  'fastest slowest quickest fast slow quick schnellste schnellster schnellsten langsamste langsamster langsamsten rapide rapides lent lents rápido rápida lento lenta veloce veloci',
);
const workedPeriods: ReadonlyMap<string, string> = new Map(
  [
    ['day', 'day days date tag tage tagen jour jours día días giorno giorni dia dias dag dagen'],
    ['weekday', 'weekday weekdays wochentag wochentage wochentagen semana settimana weekdag weekdagen'],
    ['month', 'month months monat monate mois mes meses mese mesi mês maand maanden'],
  ].flatMap(([period, names]) => names!.split(' ').map((name) => [name, period!] as const)),
);
const lateWords = wordSet(
  'late later lateness delayed delay delays overdue punctual punctually verspätet verspätete verspäteten verspätung verspätungen pünktlich',
);
const outcomeWords = /^(?:no-?shows?|absen\p{L}{1,6}|attendances?|attend(?:ed|s)?|missed|anwesen\p{L}{0,6}|abwesen\p{L}{0,6})$/u;
const periodWords = wordSet('month quarter period monat quartal zeitraum mes trimestre periodo mois période');
/** "Which customers have no orders", "which orders belong to no customer". */
const missingWords = wordSet('no none without belong belongs kein keine keinen ohne ningún ninguno ninguna sin aucun aucune sans');
export const missingKinds = new Set(['join_only', 'join_inactive', 'dues_unassigned']);
const promoterWords = wordSet('nps enps promoter promoters');
/** How many formulas were computed again, beside those that are wrong. */
const checkNotes = new Set(['formula_agrees', 'formula_counted', 'formula_unchecked']);

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

export const rules: readonly Rule[] = [
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

export function isJudged({ topics }: Asked): boolean {
  return topics.some(({ judges }) => judges === true);
}

export function isOnQuality({ topics }: Asked): boolean {
  const own = topics.filter(({ beside }) => beside !== true);
  return own.length > 0 && own.every(({ kinds }) => kinds === qualityKinds);
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
  const isOnWork = words.some((word) => word.length < 40 && workWords.test(word));
  const grouping = isOnWork ? groupingOf(words, rated) : '';
  const isOnLate = words.some((word) => lateWords.has(word));
  const isOnOutcome = words.some((word) => outcomeWords.test(word));
  const isOnSpeed = words.some((word) => speedWords.has(word));
  const isOnPeriod = words.some((word) => monthNumber(word) > 0 || periodWords.has(word));
  const [first] = rated.filter(({ candidate }) => candidate.kind !== doubtful);
  const isOnWorth = asksWorth(words) || (words.some((word) => perWords.has(word)) && first?.candidate.kind === 'join_product');
  return rated.filter(
    ({ candidate: { kind, text }, named }) =>
      decisiveKinds.has(kind) ||
      (isOnWork && kind === 'worked_by' && text.startsWith(grouping)) ||
      (isOnOutcome && kind === 'outcome_rate') ||
      (isOnLate && kind === 'late' && text.startsWith('Late (')) ||
      (isOnSpeed && durationKinds.has(kind)) ||
      (isOnWorth && (valueKinds.has(kind) || (kind === 'join_groups' && named > 0 && text.includes(' × ')))) ||
      (isOnPeriod && kind === 'asked_period') ||
      (isOnMissing && missingKinds.has(kind)),
  );
}

/** How the finding on hours begins that the question asks for: by its period, the column that it names, or else the first column. */
function groupingOf(words: readonly string[], rated: readonly Rated[]): string {
  const found = rated.filter(({ candidate }) => candidate.kind === 'worked_by');
  const period = words.flatMap((word) => workedPeriods.get(word) ?? []).at(-1);
  const ofPeriod = found.find(({ candidate }) => period !== undefined && candidate.text.startsWith(`Hours by ${period} (`));
  const named = found.filter((each) => each.named > 0 && !/^Hours by (?:day|weekday|month) \(/.test(each.candidate.text))[0];
  const first = ofPeriod ?? named ?? found.toSorted((a, b) => a.i - b.i)[0];
  return first === undefined ? '' : `${first.candidate.text.split(':')[0]!}:`;
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
