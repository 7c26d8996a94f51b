/** What one question asks of one table, as a query that is computed over its rows; null where the rules do not understand all of it. */
import type { Condition, Query, RowValue, TimeUnit } from '../../../table/queries/query.ts';
import type { TableProfile } from '../../../table/table-profile.ts';
import { addsUp } from '../figure.ts';
import { countedThing } from './absent-columns.ts';
import { type Column, columnMeant, columnsOf, isGrouping, isKnown, likeness } from './columns-meant.ts';
import { valueConditions } from './conditions-asked.ts';
import { daysIn } from './dates-asked.ts';
import { type Formula, formulasIn, isCalled } from './formulas.ts';
import { type AskedGroups, groupsIn } from './groups-asked.ts';
import { type AskedLimit, limitsIn } from './limits-asked.ts';
import { outcomeIn } from './outcomes-asked.ts';
import { type Word, wordsOf } from './question-tokens.ts';
import { isPriceWord, planAndActual, pricesAndQuantities, valueKindsIn, valueOfKind } from './row-value.ts';
import * as vocabulary from './vocabulary.ts';

/** `unknown` are words after "by" that no column has. */
export type AskedQuery = {
  query: Query;
  unknown: readonly string[];
  /** What the question chooses among, if no column is about it: then rows are ranked. */
  ranked: string | null;
};

/** What is the same for all questions of a task on one table. */
export type TableAsked = {
  table: TableProfile;
  columns: readonly Column[];
  grouping: readonly Column[];
  formulas: readonly Formula[];
  /** All words of the task. */
  context: readonly string[];
  english: boolean;
};

const maxBackOfCount = 6;
const limiting = new Set('at au al del than de di que'.split(' '));
const punctualWords = /^(?:punctual|pünktlich|ponctu|puntual)/;
const maxTop = 25;
const maxTaskTokens = 400;
const maxToDue = 6;
const planWords = new Set('plan schedule timetable fahrplan zeitplan horaire horario orario deadline promise'.split(' '));
const onTimeWords = new Set('time zeit heure pünktlich punctual ponctuel ponctuels puntual puntuale hora'.split(' '));
const soonWords = new Set('on à in zur a'.split(' '));
const beforeDue = new Set('before vor avant antes prima by bis within innerhalb rechtzeitig'.split(' '));

export function askedOf(task: string, table: TableProfile, english: boolean): TableAsked {
  const columns = columnsOf(table);
  const words = wordsOf(task, maxTaskTokens);
  const context = words.map(({ lower }) => lower);
  return {
    table,
    columns,
    grouping: columns.filter((column) => isGrouping(column, table.rows)),
    formulas: formulasIn(words, columns, context),
    context,
    english,
  };
}

export function queryOf(question: string, asked: TableAsked): AskedQuery | null {
  const words = wordsOf(question);
  const lowers = words.map(({ lower }) => lower);
  const { columns, grouping } = asked;
  const limits = limitsIn(words, asked.english);
  const found = valueIn(words, lowers, asked, limits);
  if (found === null) return null;
  if (namesAnother(words, columns, found)) return null;
  const date = dateFor(words, columns, found.value, asked.context);
  const days = daysIn(words, date);
  if (days === null || ((days.days !== null || days.split !== null) && date === null)) return null;
  if (found.ofDays && days.days === null) return null;
  const groups = groupsIn(
    words.filter((_, i) => i < found.from || i >= found.to),
    grouping,
    date,
  );
  const conditions = valueConditions(words, columns, found.value);
  const where: Condition[] = [...(days.days === null ? [] : [{ column: date!.name, ...days.days }]), ...conditions];
  const by =
    days.split === null ? groups.by : [...groups.by.slice(0, 2), ...crossedWith(groups, { column: date!.name, split: days.split })];
  const built = figureIn(words, lowers, found, limits, groups, by.length > 0, {
    isTime: isTimeValue(found.value, columns),
    isAdditive: columns.some(({ name, profile }) => found.value.kind === 'column' && name === found.value.of && addsUp(profile)),
  });
  if (built === null || (found.isWeak && !isWorthComputing(by, where, built, found.isOutcome))) return null;
  const top = topIn(words);
  const query: Query = {
    value: found.value,
    ...built,
    ...(by.length === 0 ? {} : { by: by.slice(0, 3) }),
    ...(where.length === 0 ? {} : { where: where.slice(0, 6) }),
    ...(top === null ? {} : { top }),
    ...(isRanking(words, vocabulary.smallestWords) && !isRanking(words, vocabulary.largestWords) ? { lowest: true } : {}),
  };
  const unknown = groups.unknown.filter((word) => word.length > 3 && !isKnown(word, columns));
  const ranked = query.figure === 'rows' ? countedThing(question, [asked.table], true) : null;
  return { query, unknown, ranked };
}

/** "Is the fee higher where they waited over 20 minutes?": a question on two values is not understood. */
function namesAnother(words: readonly Word[], columns: readonly Column[], { value, weight }: Found): boolean {
  const numbers = columns.filter(({ kind }) => kind === 'number');
  const own = [
    ...(value.kind === 'row' ? [] : [value.of]),
    value.kind === 'difference' ? value.less : '',
    value.kind === 'product' ? value.times : '',
    weight,
  ];
  return contentOf(words).some((word) => {
    const named = numbers.filter((column) => likeness(word, column) === 3);
    return named.length === 1 && !own.includes(named[0]!.name);
  });
}

/** `ofDays`: "most" counts rows only where the question names days. `isWeak`: the profile has the figures of such a value already, so that only conditions and parts of dates need computing. */
type Found = { value: RowValue; weight?: string; isOutcome: boolean; isWeak: boolean; ofDays: boolean; from: number; to: number };

function valueIn(words: readonly Word[], lowers: readonly string[], asked: TableAsked, limits: readonly AskedLimit[]): Found | null {
  const { columns } = asked;
  const none = { from: 0, to: 0, isOutcome: false, isWeak: false, ofDays: false };
  const own = formulasIn(words, columns, lowers)[0];
  if (own !== undefined) return { ...none, value: own.value, from: own.from, to: own.to };
  if (lowers.some((word) => vocabulary.weightedWords.has(word)) || isMeanPrice(lowers)) {
    const weighted = pricesAndQuantities(columns);
    if (weighted !== null) return { ...none, ...weighted };
  }
  const isShare =
    lowers.some(isShareWord) || limits.some(({ unit }) => unit === 'percent') || lowers.some((word) => vocabulary.oftenWords.has(word));
  const isCount = lowers.some((word) => vocabulary.amountWords.has(word));
  const outcome = isShare || lowers.some((word) => vocabulary.manyWords.has(word)) ? outcomeIn(compounds(words), columns, isShare) : null;
  const kinds = valueKindsIn(lowers);
  const named = asked.formulas.find((formula) => isCalled(formula, words) || (kinds.length > 0 && isOfKind(formula, kinds)));
  if (outcome !== null && kinds.length === 0 && named === undefined)
    return { ...none, value: outcome.value, isOutcome: true, isWeak: outcome.column.kind !== 'yes_no' && !isShare };
  if (named !== undefined) return { ...none, value: named.value };
  for (const kind of kinds) {
    const value = valueOfKind(kind, columns, lowers, asked.context);
    if (value !== null) return { ...none, value, isWeak: value.kind === 'column' };
  }
  if (isPunctual(words, columns, asked.context)) {
    const pair = planAndActual(columns, lowers, asked.context);
    if (pair !== null) return { ...none, value: { kind: 'difference', of: pair[1].name, less: pair[0].name } };
  }
  const number = columnMeant(
    contentOf(words),
    columns.filter(({ kind }) => kind === 'number'),
  );
  if (number !== null) return { ...none, value: { kind: 'column', of: number.name }, isWeak: true };
  // "How many hours" counts no rows.
  if (lowers.some((word) => vocabulary.meanWords.has(word)) || unitWanted(words) !== null) return null;
  const row = { ...none, value: { kind: 'row' as const }, isWeak: true };
  return isCount ? row : isRanking(words, vocabulary.largestWords) ? { ...row, ofDays: true } : null;
}

/** "Stornoquote" counts what its first part names. */
function compounds(words: readonly Word[]): Word[] {
  return words.map((word) =>
    vocabulary.shareEndings.test(word.lower) ? { ...word, lower: word.lower.replace(vocabulary.shareEndings, '').replace(/-$/, '') } : word,
  );
}

function isShareWord(word: string): boolean {
  return vocabulary.shareWords.has(word) || (word.length > 6 && word.length < 40 && vocabulary.shareEndings.test(word));
}

function isMeanPrice(lowers: readonly string[]): boolean {
  return (
    lowers.some(isPriceWord) &&
    lowers.some((word) => vocabulary.meanWords.has(word)) &&
    lowers.some((word) => word === 'per' || word === 'pro' || word === 'je' || word === 'par' || word === 'por')
  );
}

/** A formula is of the kind that its names are. */
function isOfKind({ names }: Formula, kinds: readonly string[]): boolean {
  return valueKindsIn(names).some((kind) => kinds.includes(kind));
}

/** "On time", "before the promised time", "within 10 minutes of the plan": after the planned time, or not. */
function isPunctual(words: readonly Word[], columns: readonly Column[], context: readonly string[]): boolean {
  if (words.some((_, i) => isOnTimeAt(words, i))) return true;
  const pair = planAndActual(
    columns,
    words.map(({ lower }) => lower),
    context,
  );
  if (pair === null) return false;
  const isDue = ({ lower }: Word) => lower.length > 3 && (planWords.has(lower) || likeness(lower, pair[0]) > 0);
  return words.some(({ lower }, i) => beforeDue.has(lower) && words.slice(i + 1, i + 1 + maxToDue).some(isDue));
}

function isOnTimeAt(words: readonly Word[], i: number): boolean {
  return onTimeWords.has(words[i]!.lower) && soonWords.has(words[i - 1]?.lower ?? '');
}

function contentOf(words: readonly Word[]): string[] {
  return words.flatMap(({ kind, lower }) =>
    kind === 'word' && lower.length > 2 && !vocabulary.fillers.has(lower) && !vocabulary.dateParts.has(lower) ? [lower] : [],
  );
}

type Built = Pick<Query, 'figure' | 'limit' | 'target' | 'weight' | 'unit'>;

function figureIn(
  words: readonly Word[],
  lowers: readonly string[],
  { value, weight, isOutcome }: Found,
  limits: readonly AskedLimit[],
  { isChosen }: AskedGroups,
  isGrouped: boolean,
  { isTime, isAdditive }: { isTime: boolean; isAdditive: boolean },
): Built | null {
  const [percent, other] = [limits.find(({ unit }) => unit === 'percent'), limits.find(({ unit }) => unit !== 'percent')];
  const target = percent === undefined ? {} : { target: limitOf(percent) };
  if (weight !== undefined)
    return other === undefined ? { figure: 'weighted', weight } : { figure: 'weighted', weight, target: limitOf(other) };
  if (isOutcome) return other === undefined ? { figure: 'share', ...target } : null;
  if (value.kind === 'row') return limits.length === 0 ? { figure: 'sum' } : null;
  const isMean = lowers.some((word) => vocabulary.meanWords.has(word));
  const isShare = lowers.some(isShareWord) || percent !== undefined;
  const isCount = lowers.some((word) => vocabulary.amountWords.has(word)) || lowers.some((word) => vocabulary.oftenWords.has(word));
  const unit = unitWanted(words);
  const wanted = unit === null ? {} : { unit };
  if (other !== undefined && (isMean || lowers.some((word) => vocabulary.sumWords.has(word))) && !isShare)
    return isGrouped || isChosen ? { figure: isMean ? 'mean' : 'sum', target: limitOf(other), ...wanted } : null;
  if (other !== undefined) return { figure: 'share', limit: limitOf(other), ...target };
  const isLate = valueKindsIn(lowers).includes('lateness') && !isMean;
  const isPunctuality = lowers.some((word) => punctualWords.test(word)) && !isMean;
  if ((isShare || isCount || isPunctuality) && isTime && (isLate || isShare || isPunctuality)) {
    if (unit !== null && !isShare) return { figure: 'mean', ...wanted };
    const isOnTime = isPunctuality || words.some((_, i) => isOnTimeAt(words, i)) || !isLate;
    return { figure: 'share', limit: { than: isOnTime ? 'at_most' : 'over', amount: 0, unit: 'minutes' }, ...target };
  }
  if (percent !== undefined) return null;
  const isRanked = isRanking(words, vocabulary.largestWords) || isRanking(words, vocabulary.smallestWords) || topIn(words) !== null;
  if (isRanked && !isGrouped) return { figure: isMean ? 'mean' : 'rows', ...wanted };
  const adds = value.kind === 'column' ? isAdditive : value.kind === 'product' || !isTime;
  return { figure: isMean || (!adds && !lowers.some((word) => vocabulary.sumWords.has(word))) ? 'mean' : 'sum', ...wanted };
}

/** "Most", but not the "most" of "at most" and the "plus" of "plus de 30". */
function isRanking(words: readonly Word[], superlatives: ReadonlySet<string>): boolean {
  return words.some(
    ({ lower }, i) => superlatives.has(lower) && !limiting.has(words[i - 1]?.lower ?? '') && !limiting.has(words[i + 1]?.lower ?? ''),
  );
}

/** A time between two dates or times of day, or a column of delays. */
function isTimeValue(value: RowValue, columns: readonly Column[]): boolean {
  const of = value.kind === 'row' ? undefined : columns.find(({ name }) => name === value.of);
  if (value.kind === 'column') return of !== undefined && valueKindsIn(of.tokens).length > 0;
  return value.kind === 'difference' && (of?.kind === 'date' || of?.kind === 'clock');
}

function limitOf({ than, amount, unit }: AskedLimit) {
  return { than, amount, ...(unit === undefined ? {} : { unit }) };
}

/** "How many hours", "in minutes". */
function unitWanted(words: readonly Word[]): TimeUnit | null {
  const units: readonly (readonly [TimeUnit, RegExp])[] = [
    ['minutes', /^(?:minutes?|minuten|minutos|minuti)$/],
    ['hours', /^(?:hours|stunden|heures|horas|ore)$/],
    ['days', /^(?:days|tage|tagen|jours|días|giorni)$/],
  ];
  for (const [i, { lower }] of words.entries()) {
    const before = words[i - 1]?.lower ?? '';
    const unit = units.find(([, pattern]) => pattern.test(lower))?.[0];
    const behindDe = before === 'de' ? (words[i - 2]?.lower ?? '') : before;
    if (unit !== undefined && (behindDe === 'in' || behindDe === 'en' || vocabulary.amountWords.has(behindDe))) return unit;
  }
  return null;
}

/** "Which five sailings", "the top 3": how many rows are wanted. */
function topIn(words: readonly Word[]): number | null {
  for (const [i, { lower, kind }] of words.slice(0, maxBackOfCount + 2).entries()) {
    const count = kind === 'figure' && /^\d{1,2}$/.test(lower) ? Number(lower) : vocabulary.countWords.get(lower);
    const next = words[i + 1];
    const before = words[i - 1]?.lower ?? '';
    const isLed = i === 0 || before === 'top' || vocabulary.choosing.has(before) || vocabulary.fillers.has(before);
    if (count !== undefined && count >= 1 && count <= maxTop && isLed && next?.kind === 'word' && !vocabulary.dateParts.has(next.lower))
      return count;
  }
  return null;
}

/** Two periods that are compared, alone and within the first group. */
function crossedWith({ by }: AskedGroups, split: { column: string; split: string }): Query['by'] & object {
  const first = by[0]?.[0];
  return first === undefined ? [[split]] : [[split], [first, split]];
}

/**
 * The date whose parts and days are meant: the one that the question names, else the planned one or the first of the value, else the only
 * one or the first.
 */
function dateFor(words: readonly Word[], columns: readonly Column[], value: RowValue, context: readonly string[]): Column | null {
  const dates = columns.filter(({ kind }) => kind === 'date');
  const inValue = value.kind === 'row' ? [] : [value.of, value.kind === 'difference' ? value.less : ''];
  const others = dates.filter(({ name }) => !inValue.includes(name));
  const named = columnMeant(contentOf(words), others);
  if (named !== null) return named;
  const less = value.kind === 'difference' ? dates.find(({ name }) => name === value.less) : undefined;
  if (less !== undefined) return less;
  const pair = planAndActual(
    columns,
    words.map(({ lower }) => lower),
    context,
  );
  return others.find((column) => pair === null || column !== pair[1]) ?? dates[0] ?? null;
}

/** A figure that the profile has not: of some rows, of parts of dates, of two groups together, or against a limit. */
function isWorthComputing(
  by: Query['by'] & object,
  where: readonly Condition[],
  { limit, target, figure }: Built,
  isOutcome: boolean,
): boolean {
  if (isOutcome && by.length > 0) return true;
  const isCrossed = by.some((keys) => keys.length > 1);
  const isByPart = by.some((keys) => keys.some(({ part }) => part !== undefined && part !== 'month' && part !== 'year'));
  const ofLimit = (limit !== undefined || target !== undefined) && by.length > 0;
  return (
    figure !== 'rows' &&
    (isCrossed ||
      isByPart ||
      ofLimit ||
      where.some(({ from, before, weekdays, months }) => (from ?? before ?? weekdays ?? months) !== undefined))
  );
}
