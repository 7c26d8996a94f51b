/** The things that a logbook names by a code: the sums of the figures beside each, and the faults that no later entry says were repaired. */
import { numberOf } from './compare-fields.ts';
import { findDates } from './dates.ts';
import type { Logbook, LogbookEntry } from './logbook.ts';
import { stemsOf } from './stem.ts';

/** `isSure`: no figure is far from the others. */
export type KeyTotal = { key: string; readings: number; sum: number; isSure: boolean; notes: string[] };
export type Fault = { thing: string; text: string; line: number; entry: LogbookEntry };

type Reading = { key: string; value: number; line: number; entry: LogbookEntry; note: string };

const pair = /(?<![\p{L}\p{N}])(?<key>\p{Lu}{1,3}\d{1,2}):? {1,3}(?<value>\d{1,7}(?:[.,]\d{1,3}){0,2})(?![\p{L}\p{N}%]|[.,:/-]\d)/gu;
const code = /(?<![\p{L}\p{N}])\p{Lu}{1,3}\d{1,2}(?![\p{L}\p{N}])/gu;
const fewestPairs = 2;
const fewestReadings = 3;
const maxKeys = 40;
const farTimes = 5;
const decimalShift = 10;

/** Sums over the entries that give figures beside several codes; a corrected figure counts with its later value, a repeated one once. */
export function totalsByKey(logbook: Logbook): KeyTotal[] {
  const readings: Reading[] = [];
  const notes = new Map<string, string[]>();
  const note = (key: string, text: string) => notes.set(key, [...(notes.get(key) ?? []), text]);
  for (const entry of logbook.entries)
    for (const { text, line } of entry.lines) {
      const found = [...text.slice(0, 1000).matchAll(pair)];
      if (found.length < fewestPairs || logbook.changes.some((change) => change.line === line)) continue;
      const before = readings.filter((each) => each.entry === entry && each.line !== line);
      for (const { groups } of found) {
        const [key, written] = [groups!.key!, groups!.value!];
        const read = numberOf(written);
        if (read === null) continue;
        if (before.some((each) => each.key === key)) {
          note(key, `line ${line} repeats the figure of its entry and is not counted`);
          continue;
        }
        const fix = logbook.changes.find(
          ({ corrected, text: said }) => corrected?.line === line && corrected.before === written && said.includes(key),
        );
        if (fix !== undefined) note(key, `${written} on line ${line} was corrected to ${fix.corrected!.now} on line ${fix.line}`);
        readings.push({ key, value: fix?.corrected?.nowValue ?? read, line, entry, note: '' });
      }
    }
  for (const change of logbook.changes) {
    const added = change.kind === 'addition' ? addedReading(change.text, logbook, readings) : null;
    if (added === null) continue;
    readings.push({ ...added, line: change.line, note: '' });
    note(added.key, `${added.value} was added on line ${change.line}`);
  }
  const byKey = Map.groupBy(readings, ({ key }) => key);
  return [...byKey]
    .filter(([, each]) => each.length >= fewestReadings)
    .slice(0, maxKeys)
    .map(([key, each]) => {
      const sum = sumOf(each);
      const outliers = far(each);
      for (const { value, line } of outliers)
        note(
          key,
          `${value} on line ${line} is far from its other figures; with ${value / decimalShift} the sum is ${round(sum - value + value / decimalShift)}, without it ${round(sum - value)}`,
        );
      return { key, readings: each.length, sum, isSure: outliers.length === 0, notes: notes.get(key) ?? [] };
    });
}

/** "Forgot D2 last week 13.01.: it was 41.50": a figure of the entries of that day that lack this code. */
function addedReading(text: string, { entries }: Logbook, readings: readonly Reading[]): Pick<Reading, 'key' | 'value' | 'entry'> | null {
  const [key, ...others] = new Set(text.match(code) ?? []);
  const figures =
    text.replace(/(?<![\p{N}.,])\d{1,2}\.\d{1,2}\.(?!\d)/gu, ' ').match(/(?<![\p{L}\p{N}.,])\d{1,7}[.,]\d{2}(?![\p{N}])(?![.,]\d)/gu) ?? [];
  const value = figures.length === 1 ? numberOf(figures[0]!) : null;
  if (key === undefined || others.length > 0 || value === null) return null;
  const day = daysIn(text)[0];
  const entry = entries.find(
    (each) => day !== undefined && each.day?.slice(5) === day && readings.some((reading) => reading.entry === each),
  );
  if (entry === undefined || readings.some((reading) => reading.entry === entry && reading.key === key)) return null;
  return { key, value, entry };
}

/** "13.01." beside other words is a day in a log whose entries begin so. */
function daysIn(text: string): string[] {
  const dotted = [...text.slice(0, 400).matchAll(/(?<![\p{N}.,])(\d{1,2})\.(\d{1,2})\.(?!\d)/gu)].map(
    ([, day, month]) => `${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`,
  );
  return [...findDates(text).flatMap(({ iso, monthDay }) => iso?.slice(5) ?? monthDay ?? []), ...dotted];
}

function far(readings: readonly Reading[]): Reading[] {
  if (readings.length < fewestReadings + 2) return [];
  const middle = readings.map(({ value }) => value).toSorted((a, b) => a - b)[Math.floor(readings.length / 2)]!;
  return middle <= 0 ? [] : readings.filter(({ value }) => value > middle * farTimes);
}

function sumOf(readings: readonly Reading[]): number {
  return round(readings.reduce((sum, { value }) => sum + value, 0));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

const faulty =
  /(?<![\p{L}])(?:out of order|broken|broke|dead|drip\p{L}{0,5}|leak\p{L}{0,3}|puddle|water on the floor|squeak\p{L}{0,3}|howl\p{L}{0,3}|rattl\p{L}{1,3}|flicker\p{L}{0,3}|slipp?ing|stuck|jam(?:s|med)|stopped|fail(?:s|ed|ing)?|won['’]t \p{L}{2,}|will not \p{L}{2,}|doesn['’]t \p{L}{2,}|does not \p{L}{2,}|eats|cold|no power|wrong board|kaputt|defekt|tropft|undicht|quietscht|klappert|klemmt|flackert|steht|läuft nicht|geht nicht|ausgefallen|gerissen|en panne|cassée?|fuit|fuite|bloquée?|ne (?:marche|fonctionne) (?:pas|plus))(?![\p{L}])/iu;
const repaired =
  /(?<![\p{L}])(?:repaired|fixed|changed|replaced|renewed|cleaned|fitted|mended|works|working|running|runs|up again|back in order|OK|okay|new (?:pump|belt|board|box|lock|bulb|hose|part|valve|motor)|repariert|getauscht|ausgetauscht|gewechselt|ersetzt|gereinigt|läuft wieder|geht wieder|wieder in Ordnung|neue[rsn]? \p{L}{3,20}|réparée?|remplacée?|changée?|nettoyée?|remarche|fonctionne à nouveau)(?![\p{L}])/iu;
const unsure = /(?<![\p{L}])(?:not|n['’]t|haven['’]t|still|again|would be|must|nicht|noch|muss|müsste|pas|encore|doit)(?![\p{L}])/iu;
const upAgain = /(?<![\p{L}])(?:up|works|runs|running) again(?![\p{L}])/iu;
const maxClauses = 3_000;
const maxFaults = 30;
const maxLabelChars = 40;

type Clause = { text: string; line: number; entry: LogbookEntry; codes: string[]; stems: ReadonlySet<string> };

/** The last fault of each thing that no later entry says was repaired; of things without a code only those that no repair shares a word with. */
export function openFaults(logbook: Logbook): Fault[] {
  const clauses = clausesOf(logbook);
  const open = new Map<string, Fault>();
  for (const [at, clause] of clauses.entries()) {
    if (!faulty.test(clause.text)) continue;
    const thing = thingOf(clause);
    if (thing === null) continue;
    const later = clauses.slice(at).filter((each) => each.line > clause.line || (each.entry === clause.entry && each !== clause));
    const isDone = later.some((each) => isRepair(each) && isOn(each, clause, thing));
    if (isDone) open.delete(thing);
    else
      open.set(thing, {
        thing: clause.codes.includes(thing) ? thing : labelOf(clause),
        text: clause.text,
        line: clause.line,
        entry: clause.entry,
      });
  }
  return [...open.values()].slice(0, maxFaults);
}

/** The words before the fault: "change machine". */
function labelOf({ text }: Clause): string {
  const colon = /^[\p{L} ]{3,30}(?=:)/u.exec(text)?.[0];
  const before = text.slice(0, faulty.exec(text)?.index ?? 0).trim();
  return colon ?? (before === '' ? text.slice(0, maxLabelChars) : before.slice(-maxLabelChars));
}

/** How many entries name a fault of each code, most first. */
export function faultCounts(logbook: Logbook): [string, number][] {
  const entries = new Map<string, Set<number>>();
  for (const clause of clausesOf(logbook)) {
    const thing = faulty.test(clause.text) ? thingOf(clause) : null;
    if (thing !== null && clause.codes.includes(thing)) entries.set(thing, (entries.get(thing) ?? new Set()).add(clause.entry.line));
  }
  return [...entries].map(([thing, lines]): [string, number] => [thing, lines.size]).toSorted((a, b) => b[1] - a[1]);
}

function clausesOf({ entries }: Logbook): Clause[] {
  const clauses: Clause[] = [];
  for (const entry of entries) {
    let codes: string[] = [];
    for (const { text, line } of entry.lines)
      for (const part of text.slice(0, 1000).split(/(?<=[.;!?]) /)) {
        if (clauses.length === maxClauses) return clauses;
        const own = [...new Set(part.match(code) ?? [])];
        // "W3 dead. pump and door lock both": the next words are of the same thing, unless they name another with a colon.
        codes = own.length > 0 ? own : /^[\p{L} ]{3,30}:/u.test(part) ? [] : codes;
        clauses.push({ text: part, line, entry, codes, stems: stemsOf(part) });
      }
  }
  return clauses;
}

/** The code before the words of the fault, or the only one; the words themselves where there is none. */
function thingOf({ text, codes, stems }: Clause): string | null {
  const at = faulty.exec(text)?.index ?? 0;
  const before = [...text.matchAll(code)].filter(({ index }) => index < at).at(-1)?.[0];
  if (codes.length === 1) return codes[0]!;
  if (codes.length > 1) return before !== undefined && at - text.indexOf(before) < 24 ? before : null;
  const words = [...stems].slice(0, 2).join(' ');
  return words === '' ? null : words;
}

function isRepair({ text }: Clause): boolean {
  return repaired.test(text) && (!unsure.test(text) || upAgain.test(text)) && !/\?/.test(text);
}

function isOn(later: Clause, fault: Clause, thing: string): boolean {
  if (fault.codes.length > 0) return later.codes.includes(thing) && (later.codes.length === 1 || later.text.includes(`${thing} `));
  // "The bulb was changed" tells nothing of the change machine.
  const words = [...stemsOf(later.text.replace(repaired, ' '))];
  return later.codes.length === 0 && words.some((each) => each.length > 3 && fault.stems.has(each));
}
