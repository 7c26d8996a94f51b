/**
 * The role of a column, from its name and values: only measures are added up; a sum of rates and levels (prices, scores, balances, meter
 * readings) has no meaning; identifiers and years are not quantities.
 */
import {
  amountEndings,
  amounts,
  amountUnits,
  codes,
  coordinates,
  idEndings,
  identifiers,
  least,
  levelEndings,
  levels,
  portions,
  rateEndings,
  rates,
  rateUnits,
  things,
  totals,
  volumes,
  words,
  years,
} from './column-words.ts';
import { monthOfName } from './month-names.ts';
import { currencyOf } from './number-format.ts';
import type { ColumnType } from './table-profile.ts';

/** `unclear`: numbers whose sum may or may not have a meaning; `counter`: readings of which only differences have one. */
export type ColumnRole = 'measure' | 'rate' | 'level' | 'unclear' | 'counter' | 'identifier' | 'year' | 'code' | 'other';

const leastLongCode = 1e11;

export type RoleEvidence = {
  type: ColumnType;
  unit: string;
  filled: number;
  distinct: number;
  /** The column's position in the table. */
  index: number;
  /** Of numbers; NaN without numbers. */
  min: number;
  max: number;
  wholeNumbers: boolean;
};

const timeUnits = words('days tage hours stunden time zeit minutes minuten weeks wochen months monate');
/** Durations of single things; a sum over things has no meaning. */
const spells = words(
  'delivery process processing response lead waiting stock market stay shipping handling cycle turnaround since until overdue open age tenure employed lager transit resolution lieferung stored storage',
);
const rents = words('rent miete kaltmiete warmmiete');
/** "eur_kwh", "mm_s": an amount in each unit of another quantity. */
const perUnits = words('s h hr min kwh mwh kg l m2 m² sqm qm m3 m³ km');
const amountsOfUnits = words('mm cm m km l ml m3 m³ kg g t kwh wh mwh mb gb kb ct eur usd gbp chf euro dollar € $ £');
/** Lengths of contracts and payback times; a sum over things has no meaning. Months of work may be added up. */
const longSpells = words('months monate weeks wochen');
const worked = words('person man work worked staff labour paid personen arbeits');
const energies = words('kwh wh mwh gwh tonnes tonnen');

export function roleOf(name: string, evidence: RoleEvidence): ColumnRole {
  const { type, unit, filled, distinct, index, min, max, wholeNumbers } = evidence;
  const tokens = nameTokens(name);
  const last = tokens.findLast((token) => !/^\d+$/.test(token)) ?? '';
  const numeric = Number.isFinite(min);
  if (type === 'date' || type === 'boolean' || type === 'empty') return 'other';
  if (numeric && unit === '') {
    if (wholeNumbers && min >= 1000 && max <= 2200 && (tokens.some((token) => years.has(token)) || last.endsWith('jahr'))) return 'year';
    // Coordinates are the only identifiers with decimals.
    const names = wholeNumbers || coordinates.has(last);
    if (names && isIdentifierName(tokens, last, name) && !isCounted(tokens)) return 'identifier';
    if (wholeNumbers && tokens.length === 1 && things.has(tokens[0]!) && min >= 1 && (index === 0 || min >= 100)) return 'identifier';
    // Numbers of chips, phones and parcels; no quantity has so many digits in every row.
    if (wholeNumbers && min >= leastLongCode && String(min).length === String(max).length) return 'identifier';
    // Counts up through the rows as the first column: a running number.
    if (
      index === 0 &&
      wholeNumbers &&
      distinct === filled &&
      filled > 10 &&
      max - min === filled - 1 &&
      !has(tokens, totals) &&
      !has(tokens, rates) &&
      !has(tokens, levels)
    )
      return min <= 1 || min >= 100 ? 'identifier' : 'code';
    if (
      wholeNumbers &&
      codes.has(last) &&
      !/\/|\bper\b|\bpro\b|\bje\b/i.test(name) &&
      !has(tokens, least) &&
      distinct <= 70 &&
      min >= 0 &&
      max < 1000
    )
      return 'code';
  }
  if (!numeric) {
    if (isIdentifierName(tokens, last, name) && distinct > 1) return 'identifier';
    return 'other';
  }
  if (rateUnits.has(unit)) return 'rate';
  if (has(tokens, timeUnits) && has(tokens, spells)) return 'rate';
  if (tokens.length > 1 && longSpells.has(last) && !has(tokens, worked)) return 'rate';
  if (isPerUnit(tokens)) return 'rate';
  if (tokens.includes('unit') && has(tokens, words('price cost preis amount value'))) return 'rate';
  if (isConcentration(tokens) || (tokens.length > 1 && /^q\d{0,2}$/.test(tokens[0]!) && min >= 0 && max <= 10)) return 'rate';
  if (tokens.includes('lead') && (tokens.includes('time') || tokens.includes('days'))) return 'rate';
  // Yearly consumptions of several things are additive.
  if (has(tokens, energies) && /(?:per|pro|je|\/) ?(?:year|jahr|month|monat|day|tag)$/i.test(name.trim().slice(-40))) return 'measure';
  if (tokens.includes('per') || tokens.includes('pro') || tokens.includes('je') || name.includes('%')) return 'rate';
  if (/\/(?:week|woche|day|tag|month|monat|year|jahr|hour|h|unit|stück|person)\b/i.test(name.slice(0, 200))) return 'rate';
  if (
    levels.has(last) ||
    has(tokens, words('balance saldo kontostand reading zählerstand odometer kilometerstand cumulative running kumuliert')) ||
    (endsWith(last, levelEndings) && !last.endsWith('bestand'))
  )
    return 'level';
  // "food (1-5)": the scale of a rating.
  if (hasScale(name)) return 'rate';
  if (has(tokens, words('co2 co2e emission emissions emissionen')) && has(tokens, words('t kg tonnes tons tonnen kt'))) return 'measure';
  if (has(tokens, energies) && !has(tokens, words('price preis cost rate average avg mean tarif kw'))) return 'measure';
  if (has(tokens, totals) && !has(tokens, words('average avg mean median rate percent pct ratio share score temperature')))
    return 'measure';
  if (/gesamt|summe|betrag|umsatz|kosten/.test(last)) return 'measure';
  // The rents of several flats may be added up, the rents of one flat over the months too; the price of a night not.
  if (tokens.length === 1 && rents.has(last)) return 'unclear';
  if (tokens.some((token) => rates.has(token)) || endsWith(last, rateEndings)) return 'rate';
  return unknownRole(tokens, last, evidence);
}

/** "food (1-5)", "overall_1to5": the scale of a rating. */
export function hasScale(name: string): boolean {
  return /[([]\s?[01] ?(?:-|–|to|bis) ?(?:[3-7]|9|10|100)\s?[)\]]|(?<![\p{L}\p{N}])[01] ?(?:to|bis) ?(?:[3-7]|10)(?![\p{L}\p{N}])/u.test(
    name.slice(0, 200).replaceAll('_', ' '),
  );
}

/** For a name without a rule: counting words, plurals and units indicate an amount, a narrow scale a rate; otherwise unclear. */
function unknownRole(tokens: readonly string[], last: string, { unit, min, max, wholeNumbers }: RoleEvidence): ColumnRole {
  if (isPeriodName(tokens) || has(tokens, amounts) || has(tokens, totals) || endsWith(last, amountEndings)) return 'measure';
  if (unit !== '' && (amountUnits.has(unit) || currencyOf(unit) !== undefined)) return 'measure';
  // "visitors", "defects": counts of things.
  if ((wholeNumbers || max > 100) && min >= 0 && last.length > 3 && last.endsWith('s') && !/(?:ss|us|is)$/.test(last)) return 'measure';
  if (wholeNumbers && min >= 0 && last.length > 4 && last.endsWith('ed')) return 'measure';
  if (!wholeNumbers && min >= 0 && max <= 1) return 'rate';
  if (!wholeNumbers && min > 0 && max < min * 1.5) return 'rate';
  return 'unclear';
}

/** Names of columns that are periods: Jan, 2024, Q1, KW 7. */
export function isPeriodName(tokens: readonly string[]): boolean {
  return tokens.length <= 2 && tokens.some((token) => /^(?:(?:19|20)\d\d|[qhwk]w?\d{1,2})$/.test(token) || monthOfName(token) > 0);
}

/** nitrate_mg_l, "lead (µg/l)": an amount per litre or kilogram. */
function isConcentration(tokens: readonly string[]): boolean {
  return (
    tokens.some((token, i) => i > 0 && volumes.has(token) && portions.has(tokens[i - 1]!)) ||
    /^(?:mg|ug|µg|ng|mmol)(?:l|dl|m3|kg)$/.test(tokens.at(-1) ?? '')
  );
}

/** tariff_eur_kwh, vibration_mm_s, speed_km_h. */
function isPerUnit(tokens: readonly string[]): boolean {
  const [amount, per] = tokens.slice(-2);
  return tokens.length > 1 && amount !== per && amountsOfUnits.has(amount!) && perUnits.has(per!);
}

/** Lower-case words of a column's name: unitPrice, unit_price and "Unit price" give the same. */
export function nameTokens(name: string): string[] {
  return name
    .slice(0, 120)
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/\bp H\b/g, 'pH')
    .replace(/(?<!\p{L})k W(?=h?(?!\p{L}))/gu, 'kW')
    .toLowerCase()
    .split(/[^\p{L}\p{N}%]+/u)
    .filter((token) => token !== '');
}

export function has(tokens: readonly string[], set: ReadonlySet<string>): boolean {
  return tokens.some((token) => set.has(token));
}

/** "number of visits", "no. of items": counts, whatever their last word. */
function isCounted(tokens: readonly string[]): boolean {
  return (
    (tokens.includes('of') && (tokens[0] === 'number' || tokens[0] === 'no' || tokens[0] === 'num')) ||
    has(tokens, new Set(['count', 'anzahl', 'quantity', 'qty', 'amount', 'total', 'balance', 'opened', 'new']))
  );
}

function isIdentifierName(tokens: readonly string[], last: string, name: string): boolean {
  if (name.trim() === '#' || name.trim() === '№') return true;
  if (last === 'index' && tokens.length > 1) return false;
  if (identifiers.has(last)) return true;
  return last.length > 3 && idEndings.some((ending) => last.endsWith(ending)) && !last.endsWith('umber_of') && tokens.length > 0;
}

function endsWith(word: string, endings: readonly string[]): boolean {
  return word.length > 4 && endings.some((ending) => word.length > ending.length && word.endsWith(ending));
}
