/**
 * Spellings of one value in a column: they differ in case, blanks, accents or punctuation, or one is short for the other. All figures by
 * group use the most frequent spelling of each value.
 */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import type { FrequentValues } from './frequent-values.ts';
import { arePersons, isInitialOf, isNameOf, isShortFor, type Spelling, slipOf, spellingOf } from './same-value.ts';

export const mostSpellings = 400;
const mostChars = 60;
/** Columns of persons, whatever form their names have. */
const personNames = new Set(
  'name person inspector driver teacher doctor clinician vet physician nurse therapist trainer coach player employee staff member participant guide operator technician agent fahrer lehrer arzt prüfer mitarbeiter spieler'.split(
    ' ',
  ),
);
/** In symbols of units the case has a meaning: mW and MW. */
const symbolWords = new Set('unit units uom einheit einheiten'.split(' '));
/** Rows for each different value; in a list of different things, similar names are different things. */
const minRowsOfValue = 1.6;
/** An abbreviation without a sign of it is rarer than the word by this factor; a slip of the pen is rarer still. */
const [minTimesShort, minTimesSlip, minTimesDoubled] = [4, 8, 2];
const mostSlips = 2;
const minPlain = 5;

/** A value with all its spellings, the most frequent first. */
export type Value = { name: string; count: number; spellings: { key: string; count: number }[] };

/** Of each column's values; a plan is copied, its values are not. */
const known = new WeakMap<FrequentValues, Value[]>();
/** The names of the whole table's spellings, for the values of some of its rows: both group alike. */
const ofWhole = new WeakMap<FrequentValues, ReadonlyMap<string, string>>();

/** From now on the spellings of `part`, the same column over some of the rows, are taken together as those of `whole`. */
export function keepSpellings(whole: ColumnPlan, part: ColumnPlan): void {
  if (part.values !== whole.values) ofWhole.set(part.values, spellingsOf(whole));
}

/** Whether spellings of a column are taken together: not for free text, long lists and keys of rows. */
export function foldsSpellings({ name, reads, type, role, values, filled, meanChars }: ColumnPlan): boolean {
  if (reads !== 'text' && reads !== 'boolean') return false;
  if ((type !== 'text' && type !== 'boolean') || !values.exact || values.distinct > mostSpellings || meanChars > mostChars) return false;
  return !(role === 'identifier' && values.distinct > filled * 0.5) && !has(nameTokens(name), symbolWords);
}

/** The displayed spelling of each value of a column: the most frequent one. Empty if the column's spellings are not taken together. */
export function spellingsOf(plan: ColumnPlan): ReadonlyMap<string, string> {
  return new Map(valuesOf(plan).flatMap(({ name, spellings }) => spellings.map(({ key }) => [key, name] as const)));
}

/** The different values of a column; empty if the column's spellings are not taken together. */
export function valuesOf(plan: ColumnPlan): Value[] {
  const names = ofWhole.get(plan.values);
  if (names !== undefined && names.size > 0 && plan.values.exact)
    return merged(plan.values.top(mostSpellings).map(asValue), ({ name }) => names.get(name) ?? name).map((value) => ({
      ...value,
      name: names.get(value.name) ?? value.name,
    }));
  if (!foldsSpellings(plan)) return [];
  let found = known.get(plan.values);
  if (found === undefined) {
    const shouted = (text: string) => (text === text.toUpperCase() || text === text.toLowerCase() ? 1 : 0);
    const ranked = plan.values.top(mostSpellings).sort((a, b) => b.count - a.count || shouted(a.key) - shouted(b.key));
    const repeats = plan.values.distinct * minRowsOfValue <= plan.filled;
    const folded = merged(ranked.map(asValue), ({ name }) => foldSpelling(name));
    found =
      repeats && plan.role !== 'identifier'
        ? withAbbreviations(
            merged(folded, ({ name }) => spellingOf(name).key),
            has(nameTokens(plan.name), personNames),
          )
        : folded;
    known.set(plan.values, found);
  }
  return found;
}

/** How many different values a column has, each with all its spellings. */
export function differentValues(plan: ColumnPlan): number {
  return valuesOf(plan).length || plan.values.distinct;
}

export function foldSpelling(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ').trim();
}

function asValue(spelling: { key: string; count: number }): Value {
  return { name: spelling.key, count: spelling.count, spellings: [spelling] };
}

function merged(values: readonly Value[], keyOf: (value: Value) => string): Value[] {
  const groups = Map.groupBy(values, keyOf);
  return [...groups.values()].map(together);
}

function together(values: readonly Value[]): Value {
  const spellings = values.flatMap((value) => value.spellings).toSorted((a, b) => b.count - a.count);
  const [first] = values.toSorted((a, b) => b.count - a.count);
  return { name: first!.name, count: values.reduce((sum, { count }) => sum + count, 0), spellings };
}

type Candidate = Value & { spelling: Spelling };

/** Values whose short form fits exactly one value of the column are one value with it. */
function withAbbreviations(values: readonly Value[], namesPersons: boolean): Value[] {
  const candidates: Candidate[] = values.map((value) => ({ ...value, spelling: spellingOf(value.name) }));
  const persons = namesPersons || arePersons(values.map(({ name }) => name));
  const letters = candidates.filter(({ spelling }) => spelling.key.length === 1);
  // Grades from A to E are no initials, even if one of the values is "absent".
  const initials = letters.every((letter) => candidates.filter((each) => isInitialOf(letter.spelling, each.spelling)).length === 1);
  const targets = new Map<Candidate, Candidate>();
  // The longest first: "M. Ruiz" is already "Marta Ruiz" when "RUIZ" is compared with both.
  for (const each of candidates.toSorted((a, b) => b.spelling.key.length - a.spelling.key.length)) {
    const fitting = candidates.filter((other) => other !== each && fits(each, other, persons, initials));
    const roots = new Set(fitting.map((other) => rootOf(other, targets)));
    const [root] = roots;
    if (roots.size === 1 && root !== each) targets.set(each, root!);
  }
  return merged(candidates, (each) => rootOf(each as Candidate, targets).name);
}

function rootOf(value: Candidate, targets: ReadonlyMap<Candidate, Candidate>): Candidate {
  const seen = new Set<Candidate>();
  let root = value;
  while (targets.has(root) && !seen.has(root)) {
    seen.add(root);
    root = targets.get(root)!;
  }
  return root;
}

function fits(each: Candidate, other: Candidate, persons: boolean, initials: boolean): boolean {
  if (initials && isInitialOf(each.spelling, other.spelling)) return true;
  if (isNameOf(each.spelling, other.spelling, persons)) return isShorter(each, other);
  if (isShortFor(each.spelling, other.spelling))
    return isPlainShort(each.spelling, other.spelling) || other.count >= each.count * minTimesShort;
  if (persons) return false;
  const slip = slipOf(each.spelling, other.spelling);
  if (slip === 'certain') return other.count >= each.count * minTimesDoubled;
  return slip === 'likely' && each.count <= mostSlips && other.count >= each.count * minTimesSlip && other.count >= minTimesSlip;
}

/** "late cancel" for "late cancellation" needs no rarity; "red car" for "red caravan" does. */
function isPlainShort({ words, key }: Spelling, long: Spelling): boolean {
  return words.length === 1 || words.length < long.words.length || (long.key.startsWith(key) && words.at(-1)!.length >= minPlain);
}

/** Of two spellings with the same words in another order, the rarer one is the variant. */
function isShorter(each: Candidate, other: Candidate): boolean {
  const [own, theirs] = [each.spelling.words.join('').length, other.spelling.words.join('').length];
  return own < theirs || (own === theirs && (each.count < other.count || (each.count === other.count && each.name > other.name)));
}
