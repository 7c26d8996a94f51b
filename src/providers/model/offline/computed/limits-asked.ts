/** "at least 95 percent", "over 2 hours", "unter 15 Minuten": the limits in a question, with their units. */

import { monthNumber } from '../../../table/month-names.ts';
import type { Limit, TimeUnit } from '../../../table/queries/query.ts';
import { wordSet } from '../../../table/word-set.ts';
import { numberIn } from '../prompt-numbers.ts';
import type { Word } from './question-tokens.ts';
import { countWords } from './vocabulary.ts';

/** `at` is the place of the number among the words. */
export type AskedLimit = Limit & { at: number };

const comparators: readonly (readonly [Limit['than'], readonly string[]])[] = [
  [
    'at_most',
    [
      'no more than',
      'not more than',
      'no longer than',
      'no later than',
      'not over',
      'nicht mehr als',
      'nicht länger als',
      'nicht über',
      'pas plus de',
    ],
  ],
  [
    'at_least',
    [
      'no less than',
      'not less than',
      'not under',
      'at least',
      'mindestens',
      'wenigstens',
      'au moins',
      'al menos',
      'por lo menos',
      'almeno',
      'minimum',
    ],
  ],
  [
    'at_most',
    [
      'at most',
      'within',
      'up to',
      'höchstens',
      'maximal',
      'innerhalb von',
      'innerhalb',
      'binnen',
      'au plus',
      "jusqu'à",
      'dans les',
      'como máximo',
      'al massimo',
      'entro',
    ],
  ],
  [
    'over',
    'over;above;exceed;exceeds;exceeding;exceeded;exceeded by;more than;greater than;higher than;longer than;larger than;later than;worse than;über;mehr als;höher als;größer als;länger als;später als;plus de;supérieur à;supérieure à;dépasse;dépassent;más de;mayor que;superior a;più di;oltre;superiore a'.split(
      ';',
    ),
  ],
  [
    'under',
    'under;below;less than;fewer than;lower than;shorter than;smaller than;unter;weniger als;niedriger als;kürzer als;kleiner als;moins de;inférieur à;inférieure à;sous;menos de;menor que;inferior a;meno di;sotto;inferiore a'.split(
      ';',
    ),
  ],
];
const known: readonly { than: Limit['than']; words: readonly string[] }[] = comparators
  .flatMap(([than, phrases]) => phrases.map((phrase) => ({ than, words: phrase.split(' ') })))
  .toSorted((a, b) => b.words.length - a.words.length);
const behind: readonly (readonly [Limit['than'], string])[] = [
  ['at_least', 'or more'],
  ['at_least', 'or longer'],
  ['at_least', 'or later'],
  ['at_least', 'oder mehr'],
  ['at_least', 'ou plus'],
  ['at_most', 'or less'],
  ['at_most', 'or fewer'],
  ['at_most', 'oder weniger'],
  ['at_most', 'ou moins'],
];
const units: readonly (readonly [TimeUnit | 'percent', ReadonlySet<string>])[] = [
  ['percent', wordSet('% percent prozent pct pourcent')],
  ['minutes', wordSet('minute minutes minuten min mins minutos minuto minuti')],
  ['hours', wordSet('hour hours h hrs stunde stunden heure heures hora horas ora ore')],
  ['days', wordSet('day days tag tage tagen jour jours día días giorno giorni')],
];
const percentPairs = ['per cent', 'pour cent', 'por ciento', 'per cento'];
const halves = wordSet('half halbe halben halber demi demi-heure media mezz mezza');
const ones = wordSet('a an one eine einer einen ein une un una');
/** "Over the last 3 months" is a period. */
const periodWords = wordSet('last past next first letzten letzte nächsten ersten derniers dernières últimos ultimi');
const otherUnits = wordSet(
  'month months week weeks year years monat monate monaten wochen jahre jahren mois semaines ans meses semanas años mesi settimane anni',
);
const beginsClause = wordSet('and or which what how und oder welche et ou y o e by je par por');
/** "A no-show rate of 20 percent": words between the comparator and its number. */
const maxBetween = 5;
const maxLimits = 4;

export function limitsIn(words: readonly Word[], english: boolean): AskedLimit[] {
  const found: AskedLimit[] = [];
  for (let i = 0; i < words.length && found.length < maxLimits; i++) {
    const number = amountAt(words, i, english);
    if (number === null) continue;
    const than = comparatorBefore(words, i) ?? comparatorBehind(words, number.end);
    if (than !== null) found.push({ than, amount: number.amount, at: i, ...(number.unit === undefined ? {} : { unit: number.unit }) });
    i = number.end - 1;
  }
  return found;
}

function amountAt(words: readonly Word[], i: number, english: boolean) {
  const { kind, lower } = words[i]!;
  const unitOf = (at: number) => unitAt(words, at);
  if (kind === 'figure') {
    const amount = numberIn(lower, english);
    const unit = unitOf(i + 1);
    if (Number.isNaN(amount) || isDate(words, i) || otherUnits.has(words[i + 1]?.lower ?? '')) return null;
    return { amount, unit: unit?.unit, end: i + 1 + (unit?.length ?? 0) };
  }
  // "30%", "15min": digits and letters in one token.
  const joined = kind === 'word' ? /^(\d{1,9}(?:[.,]\d{1,4})?)(\p{L}{1,8})$/u.exec(lower) : null;
  const own = joined === null ? undefined : units.find(([, names]) => names.has(joined[2]!))?.[0];
  if (joined !== null && own !== undefined) return { amount: numberIn(joined[1]!, english), unit: own, end: i + 1 };
  const counted = countWords.get(lower);
  const unit = unitOf(i + 1);
  if (counted !== undefined && unit !== null) return { amount: counted, unit: unit.unit, end: i + 1 + unit.length };
  if (lower === 'demi-heure') return { amount: 0.5, unit: 'hours' as const, end: i + 1 };
  if (halves.has(lower)) {
    const behindHalf = unitOf(ones.has(words[i + 1]?.lower ?? '') ? i + 2 : i + 1);
    return behindHalf === null ? null : { amount: 0.5, unit: behindHalf.unit, end: i + 2 };
  }
  // "Over an hour".
  if (ones.has(lower) && unit !== null && unit.unit !== 'percent' && comparatorBefore(words, i) !== null)
    return { amount: 1, unit: unit.unit, end: i + 2 };
  return null;
}

function unitAt(words: readonly Word[], i: number): { unit: TimeUnit | 'percent'; length: number } | null {
  const lower = words[i]?.lower ?? '';
  if (percentPairs.includes(`${lower} ${words[i + 1]?.lower ?? ''}`)) return { unit: 'percent', length: 2 };
  const found = units.find(([, names]) => names.has(lower));
  return found === undefined ? null : { unit: found[0], length: 1 };
}

/** A number beside a month is a day. */
function isDate(words: readonly Word[], i: number): boolean {
  const near = [words[i - 1], words[i + 1], words[i + 1]?.lower === '.' ? words[i + 2] : undefined];
  return (
    near.some((word) => word?.kind === 'word' && monthNumber(word.lower) > 0) || /^\d{1,2}\.\d{1,2}\.(?:\d{2,4})?$/.test(words[i]!.lower)
  );
}

function comparatorBefore(words: readonly Word[], i: number): Limit['than'] | null {
  let between = 0;
  for (let end = i; end > 0 && between <= maxBetween; end--, between++) {
    const phrase = known.find((each) => each.words.every((word, j) => words[end - each.words.length + j]?.lower === word));
    if (phrase !== undefined) return phrase.than;
    const { kind, lower } = words[end - 1]!;
    // Only words of the measured thing may stand between.
    if (kind !== 'word' || periodWords.has(lower) || (between > 0 && beginsClause.has(lower))) return null;
  }
  return null;
}

function comparatorBehind(words: readonly Word[], i: number): Limit['than'] | null {
  const pair = `${words[i]?.lower ?? ''} ${words[i + 1]?.lower ?? ''}`;
  return behind.find(([, phrase]) => phrase === pair)?.[0] ?? null;
}
