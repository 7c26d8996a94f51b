/** Questions on a logbook: its entries, those of a day or a time, what was corrected or added later, and the bounds of a reading. */
import { exact, markdownTable, round, safe } from '../../figure.ts';
import { contentWords } from '../../summary.ts';
import { amountsIn } from '../amounts.ts';
import { findDates } from '../dates.ts';
import { faultCounts, openFaults, totalsByKey } from '../log-keys.ts';
import { type Logbook, type LogbookChange, type LogbookEntry, textOf, timesIn, unitAfter, whenOf, wordsOf } from '../logbook.ts';
import { stem, stemsOf } from '../stem.ts';
import type { Told } from './told.ts';

export const maxLogRows = 400;
const maxFound = 40;
const shortEntries = 12;
const shortChars = 160;

const changed =
  /(?<![\p{L}])(?:correct(?:ed|ions?)|addend(?:um|a)|added (?:later|afterwards)|(?:later|subsequent) additions?|amend\p{L}{0,6}|revised|replaced|Korrektur(?:en)?|korrigiert|berichtigt|Berichtigung(?:en)?|Nachtr(?:ag|äge)|nachgetragen|ergänzt|corrigée?s?|corrections?|rectifi\p{L}{1,8}|ajout(?:s|ée?s?)?|corregid[oa]s?|correcciones|corrett[oaie]|correzioni)(?![\p{L}])/iu;
const all =
  /(?<![\p{L}])(?:what (?:happened|was done|is in|(?:does|do) {1,3}(?:[^ ]{1,40} {1,3}){0,3}(?:tell|say|show|contain))|entries|(?:every|each) entry|chronolog\p{L}{1,4}|timeline|in order|course of events|was (?:ist |war )?(?:passiert|geschah|geschehen)|was steht|Einträge|Eintragungen|Ablauf|s['’]est[- ]il passé|entrées|déroulement|qué pasó|entradas|cosa è successo|voci)(?![\p{L}])/iu;
const highest =
  /(?<![\p{L}])(?:highest|maximum|max|largest|greatest|peak|höchste[rnsm]?|größte[rnsm]?|maximal\p{L}{0,2}|maximale?|plus (?:haute?|élevée?|grande?)|más alt[oa]|máxim[oa]|più alt[oa]|massim[oa])(?![\p{L}])/iu;
const lowest =
  /(?<![\p{L}])(?:lowest|minimum|min|smallest|least|niedrigste[rnsm]?|kleinste[rnsm]?|tiefste[rnsm]?|minimal\p{L}{0,2}|minimale?|plus (?:basse?|faible|petite?)|más baj[oa]|mínim[oa]|più bass[oa]|minim[oa])(?![\p{L}])/iu;
const average = /(?<![\p{L}])(?:average|mean|Durchschnitt|durchschnittlich\p{L}{0,2}|Mittelwert|moyenne|promedio|media)(?![\p{L}])/iu;
const when =
  /(?<![\p{L}])(?:when|what time|on which (?:day|date)|wann|an welchem Tag|um wie viel Uhr|quand|à quelle heure|quel jour|cuándo|a qué hora|quando|a che ora)(?![\p{L}])/iu;

/** Whether the entries themselves are asked for, or what was changed in them. */
export function isOnEntries(clause: string): boolean {
  return changed.test(clause) || all.test(clause);
}

/** Null for a question on something else. */
export function logbookAnswer(clause: string, logbook: Logbook): Told | null {
  if (changed.test(clause)) return changesTold(logbook);
  const bounds = readingTold(clause, logbook);
  if (bounds !== null) return bounds;
  const { entries } = logbook;
  const times = timesIn(clause);
  const days = findDates(clause).flatMap(({ iso, monthDay }) => iso?.slice(5) ?? monthDay ?? []);
  if (times.length > 0 || days.length > 0) {
    const named = entries.filter(
      ({ day, time }) =>
        (times.length === 0 || (time !== null && times.includes(time))) &&
        (days.length === 0 || (day !== null && days.includes(day.slice(5)))),
    );
    return named.length === 0 ? null : entriesTold(named, logbook);
  }
  if (all.test(clause)) return entriesTold(entries, logbook);
  return when.test(clause) ? timeTold(clause, logbook) : null;
}

const summing =
  /(?<![\p{L}])(?:took in|takes? in|taken in|took|totals?|sums?|altogether|in all|earn(?:s|ed)?|brought in|bring in|brings in|consum\p{L}{1,5}|insgesamt|zusammen|Summen?|eingenommen|verbraucht|en tout|somme|rapporté|totale?s?)(?![\p{L}])/iu;
const each = /(?<![\p{L}])(?:each|every|per|by|which|je|jede[rsnm]?|pro|welche[rsnm]?|chaque|par|quel(?:le)?s?)(?![\p{L}])/iu;
const openRepairs =
  /(?<![\p{L}])(?:repairs?|repaired|faults?|defects?|broken|problems?|jobs?|Reparatur(?:en)?|repariert|Schäden|Mängel|defekt|réparations?|pannes?|réparée?s?)(?![\p{L}])/iu;
const notDone =
  /(?<![\p{L}])(?:not (?:yet )?(?:done|finished|repaired|fixed)|still|open|outstanding|left|undone|offen\p{L}{0,2}|noch|nicht|fehlen|encore|reste(?:nt)?|pas)(?![\p{L}])/iu;
const troubling = /(?<![\p{L}])(?:troubles?|worth|Ärger|lohnt|Probleme|problèmes?|ennuis?|fautes?)(?![\p{L}])/iu;

/** Sums, open faults and the number of faults by the codes of the things; null for another question. */
export function keysTold(clause: string, logbook: Logbook): Told | null {
  if (openRepairs.test(clause) && notDone.test(clause)) {
    const open = openFaults(logbook);
    if (open.length === 0) return null;
    const lead = 'Faults for which no later entry says, in the words that the rules know, that they were repaired:';
    return {
      short: open.map(({ thing, text, line }) => `${thing}: "${text.slice(0, shortChars)}" (line ${line})`).join(' | '),
      lines: [
        lead,
        '',
        markdownTable(
          ['What', 'Last entry with a fault', 'When', 'Line'],
          open.map(({ thing, text, line, entry }) => [safe(thing), safe(text), safe(whenOf(entry)), exact(line)]),
        ),
      ],
    };
  }
  if (troubling.test(clause)) {
    const counts = faultCounts(logbook).filter(([, count]) => count > 1);
    if (counts.length === 0) return null;
    const totals = new Map(totalsByKey(logbook).map(({ key, sum }) => [key, sum]));
    return {
      short: `by entries that name a fault: ${counts.map(([thing, count]) => `${thing} ${count}`).join(', ')}`,
      lines: [
        'Entries that name a fault, which is not yet what the trouble costs:',
        '',
        markdownTable(
          ['What', 'Entries with a fault', 'Sum of its figures'],
          counts.map(([thing, count]) => [safe(thing), exact(count), totals.has(thing) ? exact(totals.get(thing)!) : '']),
        ),
      ],
    };
  }
  if (!summing.test(clause) || !each.test(clause)) return null;
  const totals = totalsByKey(logbook);
  if (totals.length < 2) return null;
  return {
    short: totals.map(({ key, sum }) => `${key} ${exact(sum)}`).join(', '),
    lines: [
      'Sums of the figures beside each code, over all entries that name several; corrected figures count with their later value:',
      '',
      markdownTable(
        ['What', 'Sum', 'Figures', 'Notes'],
        totals.map(({ key, sum, readings, notes }) => [safe(key), exact(sum), exact(readings), safe(notes.join('; '))]),
      ),
      '',
      `All together: ${exact(Math.round(totals.reduce((all, { sum }) => all + sum, 0) * 100) / 100)}${totals.every(({ isSure }) => isSure) ? '' : ', with the figures that are far from the others as they are written'}.`,
    ],
  };
}

/** The entries with most words of the question; at least half of its words must be in them. */
function timeTold(clause: string, logbook: Logbook): Told | null {
  const wanted = wantedIn(clause);
  if (wanted.size === 0) return null;
  const found = logbook.entries.map((entry) => ({ entry, hits: hitsIn(wordsOf(entry), wanted) }));
  const best = found.reduce((most, { hits }) => Math.max(most, hits), 0);
  if (best === 0 || best * 2 < wanted.size) return null;
  return entriesTold(
    found.flatMap(({ entry, hits }) => (hits === best ? [entry] : [])).slice(0, maxFound),
    logbook,
    'Entries with these words:',
  );
}

function entriesTold(entries: readonly LogbookEntry[], logbook: Logbook, lead = ''): Told {
  const more = entries.length > shortEntries ? ` | and ${exact(entries.length - shortEntries)} more entries` : '';
  return {
    short: `${entries
      .slice(0, shortEntries)
      .map((entry) => `${whenOf(entry)}: ${textOf(entry, logbook).slice(0, shortChars)} (line ${entry.line})`)
      .join(' | ')}${more}`,
    lines: [...(lead === '' ? [] : [lead, '']), entryTable(entries, logbook)],
    sections: entries.length === logbook.entries.length ? [entriesHeading] : [],
  };
}

export const entriesHeading = 'Entries of the log';
export const changesHeading = 'Corrections and later additions';

export function entryTable(entries: readonly LogbookEntry[], logbook: Logbook): string {
  const rest = entries.length - maxLogRows;
  const table = markdownTable(
    ['Day', 'Time', 'Entry, as written', 'Line'],
    entries
      .slice(0, maxLogRows)
      .map((entry) => [
        safe(entry.day ?? entry.dayWritten),
        entry.time ?? '',
        safe(textOf(entry, logbook).slice(0, 600)),
        exact(entry.line),
      ]),
  );
  return rest > 0 ? `${table}\n\n${exact(rest)} more entries left out.` : table;
}

export function changeTable(changes: readonly LogbookChange[], { entries }: Logbook): string {
  return markdownTable(
    ['What', 'As written', 'Line', 'Figure before', 'Figure now', 'Of the entry'],
    changes.map(({ kind, text, line, corrected: fix }) => {
      const entry = fix === null ? undefined : entries.find((each) => each.line === fix.entryLine);
      return [
        kind === 'correction' ? 'correction' : 'later addition',
        safe(text),
        exact(line),
        safe(fix?.before ?? ''),
        safe(fix?.now ?? ''),
        entry === undefined ? (kind === 'correction' ? 'not certain' : '') : `${safe(whenOf(entry))}, line ${exact(entry.line)}`,
      ];
    }),
  );
}

function changesTold(logbook: Logbook): Told {
  const { changes } = logbook;
  const none = 'No entry says that it corrects or adds to an earlier one';
  if (changes.length === 0) return { short: none.toLowerCase(), lines: [`${none}.`] };
  return {
    short: changes
      .slice(0, shortEntries)
      .map(
        ({ text, line, corrected: fix }) =>
          `"${text}" (line ${line}${fix === null ? '' : `: ${fix.before} on line ${fix.line} is ${fix.now}`})`,
      )
      .join(' | '),
    lines: [changeTable(changes, logbook)],
    sections: [changesHeading],
  };
}

type Reading = { value: number; unit: string; written: string; entry: LogbookEntry; line: number; note: string };

/** The highest, lowest or average of one quantity, where all of its readings have one unit. */
function readingTold(clause: string, logbook: Logbook): Told | null {
  const asked = [highest, lowest, average].map((words) => words.test(clause));
  if (!asked.includes(true)) return null;
  const wanted = wantedIn(clause.replace(highest, ' ').replace(lowest, ' ').replace(average, ' '));
  if (wanted.size === 0) return null;
  const numbers = clause.match(/(?<![\p{L}\p{N}.,:/-])\d{1,4}(?![\p{L}\p{N}:/-]|[.,]\d)/gu) ?? [];
  const readings = readingsOf(wanted, numbers, logbook);
  const units = new Set(readings.map(({ unit }) => unit.toLowerCase()));
  if (readings.length < 2 || units.size !== 1) return null;
  const ordered = readings.toSorted((a, b) => a.value - b.value);
  const shown = readings[0]?.unit ?? '';
  const unit = shown === '' ? '' : ` ${shown}`;
  const at = (which: string, value: number) => {
    const same = ordered.filter((each) => each.value === value);
    const places = same.slice(0, 5).map(({ entry, line, note }) => `${whenOf(entry)} (line ${exact(line)}${note})`);
    return `${which}: ${exact(value)}${unit}, ${places.join('; ')}${same.length > 5 ? ` and ${exact(same.length - 5)} more times` : ''}`;
  };
  const mean = readings.reduce((sum, { value }) => sum + value, 0) / readings.length;
  const told = [
    ...(asked[0] === true ? [at('highest', ordered.at(-1)!.value)] : []),
    ...(asked[1] === true ? [at('lowest', ordered[0]!.value)] : []),
    ...(asked[2] === true ? [`mean: ${round(mean)}${unit}`] : []),
  ];
  const scope = `of ${exact(readings.length)} readings that the log names so`;
  return { short: `${told.join('; ')}, ${scope}`, lines: told.map((line) => `- ${safe(line)}, ${scope}.`) };
}

const maxLabelChars = 60;
const minPrefix = 4;

/** The figures whose own words have all the words asked for; a corrected one has its later value. */
function readingsOf(wanted: ReadonlySet<string>, numbers: readonly string[], { entries, changes }: Logbook): Reading[] {
  const changeLines = new Set(changes.flatMap(({ kind, line }) => (kind === 'correction' ? [line] : [])));
  return entries.flatMap((entry) =>
    entry.lines.flatMap(({ text, line }) => {
      if (changeLines.has(line)) return [];
      let from = 0;
      return amountsIn(text).flatMap((amount): Reading[] => {
        const end = amount.index + amount.written.length;
        // "Bay 1 61 %": the first number is a name.
        if (/^ \d/.test(text.slice(end, end + 2))) return [];
        const before = text.slice(Math.max(from, amount.index - maxLabelChars), amount.index);
        from = end;
        const label = `${before.slice(before.search(/[^.,;:]{0,60}$/u))} ${/^ ?[\p{L}%°]{1,20}/u.exec(text.slice(end, end + 24))?.[0] ?? ''}`;
        if (hitsIn(label, wanted) < wanted.size || !numbers.every((number) => label.split(/[^\p{N}]+/u).includes(number))) return [];
        const fix = changes.find(({ corrected }) => corrected?.line === line && corrected.before === amount.written);
        const now = fix?.corrected;
        return [
          {
            value: now?.nowValue ?? amount.value,
            unit: unitAfter(text, amount),
            written: amount.written,
            entry,
            line,
            note: now == null ? '' : `, corrected on line ${exact(fix!.line)} from ${now.before}`,
          },
        ];
      });
    }),
  );
}

const asking = new Set(
  'what which when where how why was were the did does had value values reading readings measured recorded log entry entries time date day und wann welche welcher welches wie hoch tief gemessen wert werte quel quelle quand est valeur relevé'.split(
    ' ',
  ),
);

function wantedIn(clause: string): Set<string> {
  return new Set(
    contentWords(clause)
      .filter((word) => !asking.has(word) && !/\.(?:txt|log|md)$/.test(word))
      .map(stem),
  );
}

function hitsIn(text: string, wanted: ReadonlySet<string>): number {
  const own = [...stemsOf(text)];
  return [...wanted].filter((word) => own.some((each) => isSameWord(each, word))).length;
}

/** "stop" and "stopped" begin alike. */
function isSameWord(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short === long || (short.length >= minPrefix && long.startsWith(short));
}
