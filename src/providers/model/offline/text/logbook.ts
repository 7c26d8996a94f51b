/** A logbook: each entry with its own day and time and the lines below that belong to it, and what later entries correct or add. */
import { exact } from '../figure.ts';
import { sentencesOf } from '../sentences.ts';
import { type Amount, amountsIn } from './amounts.ts';
import { type FoundDate, findDates, isDay } from './dates.ts';
import { entryLines, type Stamp, stampOf } from './log-stamps.ts';

export type LogbookEntry = {
  line: number;
  /** ISO; null where the text does not say the year or the day. */
  day: string | null;
  /** The day as the text writes it; empty if it names none. */
  dayWritten: string;
  /** "09:05"; null for an entry of a day. */
  time: string | null;
  /** Without date and time; one text for each line of the entry. */
  lines: { text: string; line: number }[];
};
export type LogbookChange = {
  kind: 'correction' | 'addition';
  text: string;
  line: number;
  /** For a correction that belongs to one certain figure of one certain entry. */
  corrected: { before: string; now: string; nowValue: number; line: number; entryLine: number } | null;
};
export type Logbook = { entries: LogbookEntry[]; changes: LogbookChange[] };

const maxEntries = 2_000;
const maxChanges = 100;
/** Sentences without a word of correction whose figures are looked up in earlier entries. */
const maxTried = 100;
/** Entries before a correction that may be meant. */
const maxBack = 60;
const maxHeadingChars = 80;
const titleLines = 3;
const dayMs = 86_400_000;
const seasonEnd = 7;

/**
 * Null for a text that is no logbook.
 *
 * @param year of days without one, where no day of the log itself names it
 */
export function readLogbook(text: string, year: string | null, isOther: (line: string) => boolean): Logbook | null {
  const lines = text.split('\n');
  const stamps = entryLines(lines, isOther);
  if (stamps.size === 0) return null;
  const entries = entriesOf(lines, stamps, year);
  return { entries, changes: changesIn(entries) };
}

function entriesOf(lines: readonly string[], stamps: ReadonlyMap<number, Stamp>, year: string | null): LogbookEntry[] {
  const entries: LogbookEntry[] = [];
  const days = new Days(year ?? yearOf(lines), seasonOf(lines) !== null);
  let open: LogbookEntry | null = null;
  for (const [i, raw] of lines.entries()) {
    const words = raw.trim();
    const stamp = stamps.get(i);
    if (stamp !== undefined) {
      if (entries.length === maxEntries) return entries;
      if (stamp.date !== null) days.set(stamp.date);
      const { day, written } = days.at(stamp.time);
      open = { line: i + 1, day, dayWritten: written, time: stamp.time, lines: [{ text: stamp.rest, line: i + 1 }] };
      entries.push(open);
      continue;
    }
    const heading = dayHeading(words, lines[i - 1]);
    if (heading !== null) days.set(heading.date, heading.isTitle);
    else if (words.startsWith('#')) days.endTitle();
    if (heading !== null || words === '' || words.startsWith('#')) open = null;
    else open?.lines.push({ text: words, line: i + 1 });
  }
  return entries;
}

/** Of who wrote a text, and when. */
const writing =
  /(?<![\p{L}])(?:by|written|printed|issued|version|as of|von|verfasst|erstellt|gedruckt|Stand|par|rédigée?|imprimée?|por|escrito|di|scritto|door)(?![\p{L}])/iu;

/** "3 June 2026", "## Watch of 3 June": the day of the entries below. A title may name the day on which it was written. */
function dayHeading(words: string, before: string | undefined): { date: FoundDate; isTitle: boolean } | null {
  if (words === '' || words.length > maxHeadingChars || /[.!?;,]$/.test(words.replace(/\d\.$/, ''))) return null;
  const stamp = stampOf(words);
  if (stamp !== null && stamp.date !== null && stamp.rest === '') return stamp.time === null ? { date: stamp.date, isTitle: false } : null;
  const isMarked = words.startsWith('#') || words.startsWith('**');
  if ((!isMarked && before !== undefined && before.trim() !== '') || writing.test(words)) return null;
  const [date, ...others] = findDates(words.replace(/^#{1,6} /, ''));
  return date === undefined || others.length > 0 || (date.iso === null && date.monthDay === null) ? null : { date, isTitle: true };
}

/** The first year that a full date of the text names, or else its title. */
function yearOf(lines: readonly string[]): string | null {
  for (const line of lines.slice(0, maxEntries)) {
    const date = /\d{4}/.test(line) ? findDates(line).find(({ iso }) => iso !== null) : undefined;
    if (date !== undefined) return date.iso!.slice(0, 4);
  }
  const season = seasonOf(lines);
  if (season !== null) return season;
  const titles = lines
    .slice(0, titleLines)
    .flatMap((line) => line.slice(0, maxHeadingChars).match(/(?<![\d.,/-])(?:19|20)\d{2}(?![\d.,/-])/g) ?? []);
  return titles.length === 1 ? titles[0]! : null;
}

/** "2024/25" in a title: the first year. */
function seasonOf(lines: readonly string[]): string | null {
  for (const line of lines.slice(0, titleLines)) {
    const season = seasonIn(line);
    if (season !== null) return season;
  }
  return null;
}

/** "2024/25", "2024-2025" */
export function seasonIn(text: string): string | null {
  const found = /(?<![\d.,/-])((?:19|20)\d{2})[/–-](?:(?:19|20)?(\d{2}))(?![\d.,/-])/.exec(text.slice(0, maxHeadingChars));
  return found !== null && (Number(found[1]) + 1) % 100 === Number(found[2]) ? found[1]! : null;
}

/** The day of the entries in their order. */
class Days {
  private day: string | null = null;
  private written = '';
  private lastTime = '';
  private isTitle = false;
  private year: string | null;

  private readonly isSeason: boolean;

  /** @param isSeason whether the year is the first of two: its months until July are of the second */
  constructor(year: string | null, isSeason: boolean) {
    this.year = year;
    this.isSeason = isSeason;
  }

  /** Under another heading the day of a title is not certain. */
  endTitle(): void {
    if (this.isTitle) [this.day, this.written] = [null, ''];
  }

  set({ iso, monthDay, written }: FoundDate, isTitle = false): void {
    this.isTitle = isTitle;
    let day = iso ?? (monthDay === null || this.year === null ? null : `${this.year}-${monthDay}`);
    if (iso === null && day !== null && this.day === null && this.isSeason && Number(monthDay!.slice(0, 2)) <= seasonEnd)
      day = `${Number(this.year) + 1}${day.slice(4)}`;
    // Entries stand in the order of time: January after December is the next year.
    if (iso === null && day !== null && this.day !== null && Date.parse(this.day) - Date.parse(day) > 180 * dayMs)
      day = `${Number(this.year) + 1}${day.slice(4)}`;
    if (day !== null && !isDay(day)) day = null;
    if (day !== null) this.year = day.slice(0, 4);
    this.day = day;
    this.written = written;
    this.lastTime = '';
  }

  at(time: string | null): { day: string | null; written: string } {
    // "23:50" before "00:20": midnight has passed.
    const isNext = time !== null && this.lastTime !== '' && Number(this.lastTime.slice(0, 2)) - Number(time.slice(0, 2)) > 12;
    if (isNext && this.day !== null) {
      this.day = new Date(Date.parse(this.day) + dayMs).toISOString().slice(0, 10);
      this.written = `the day after ${this.written}`;
    } else if (isNext) this.written = '';
    if (time !== null) this.lastTime = time;
    return { day: this.day, written: this.written };
  }
}

const correcting =
  /(?<![\p{L}])(?:corrections?|corrected|correcting|erratum|misread|read wrongly|typing error|should (?:read|be|have been)|Korrektur|korrigiert|Berichtigung|berichtigt|Lesefehler|Ablesefehler|Schreibfehler|muss (?:es )?(?:richtig )?(?:\d[^ ]{0,10} )?(?:heißen|lauten)|rectification|rectificatif|rectifiée?|corrigée?|correction|erreur de (?:lecture|saisie)|corrección|corregid[oa]|correzione|corrett[oa]|correctie|gecorrigeerd)(?![\p{L}])/iu;
const adding =
  /^(?:addend(?:um|a)|added (?:later|afterwards)|later (?:addition|entry)|late entry|supplement(?:ary)?|note added|Nachtrag|nachgetragen|Ergänzung|ajout|ajouté|addendum|complément|añadido|aggiunta|toevoeging)(?![\p{L}])/iu;

function changesIn(entries: readonly LogbookEntry[]): LogbookChange[] {
  const changes: LogbookChange[] = [];
  let tried = 0;
  for (const [at, entry] of entries.entries())
    for (const { text, line } of entry.lines)
      for (const sentence of sentencesOf(text.slice(0, 2000))) {
        const until = entries.slice(0, at + 1);
        // "It is 185, not 210" without a word such as "correction": certain where only one earlier entry has the 210.
        const isSilent = () => instead.test(betweenFigures(sentence)) && ++tried <= maxTried && corrected(sentence, line, until) !== null;
        const kind =
          adding.test(sentence) || forgotten.test(sentence) ? 'addition' : correcting.test(sentence) || isSilent() ? 'correction' : null;
        if (kind === null || changes.length === maxChanges) continue;
        changes.push({
          kind,
          text: sentence,
          line,
          corrected: kind === 'correction' ? corrected(sentence, line, until) : null,
        });
      }
  return changes;
}

/** "Forgot pump 2 yesterday: it was 41.50": an entry that was left out. */
const forgotten =
  /(?<![\p{L}])(?:forgot(?:ten)?|left out|missed|vergessen|nachgetragen|ausgelassen|oubliée?|rajoutée?)(?![\p{L}])[^?]{0,80}\d/iu;

/** What stands between the first two figures. */
function betweenFigures(sentence: string): string {
  const amounts = amountsIn(sentence);
  const at = amounts.findIndex((amount, i) => {
    const next = amounts[i + 1];
    return next !== undefined && instead.test(sentence.slice(amount.index + amount.written.length, next.index));
  });
  return at === -1 ? '' : sentence.slice(amounts[at]!.index + amounts[at]!.written.length, amounts[at + 1]!.index);
}

const instead =
  /^[^.;]{0,12}(?<![\p{L}])(?:not|and not|instead of|rather than|statt|anstatt|nicht|und nicht|anstelle von|et non|non|au lieu de|en lugar de|y no|invece di|e non|niet|in plaats van)(?![\p{L}])[^.;\d]{0,20}$/iu;
const becomes =
  /^[^.;\d]{0,30}(?<![\p{L}])(?:should (?:read|be|have been)|but|is really|was really|changed to|corrected to|sondern|muss (?:richtig )?|soll(?:te)? (?:richtig )?|korrigiert auf|mais|corrigée? (?:en|à)|sino|ma|maar)(?![\p{L}])[^.;\d]{0,20}$/iu;

/** The figure that a sentence corrects: in the entry of the time that it names, or in the only entry before that has the old figure. */
function corrected(sentence: string, line: number, before: readonly LogbookEntry[]): LogbookChange['corrected'] {
  const own = before.at(-1)!;
  const pair = pairIn(sentence);
  if (pair === null) return null;
  const times = timesIn(sentence);
  const days = findDates(sentence).flatMap(({ iso, monthDay }) => iso?.slice(5) ?? monthDay ?? []);
  if (times.length > 1 || days.length > 1) return null;
  const isNamed = (entry: LogbookEntry) =>
    (times.length === 0 || entry.time === times[0]) && (days.length === 0 || entry.day?.slice(5) === days[0]);
  const candidates = before.filter((entry) => entry !== own || entry.lines.some((each) => each.line < line)).filter(isNamed);
  // Without a day the entry is of the same day as the correction, or else the last one of that time.
  const near = candidates.slice(days.length === 0 && times.length === 1 ? -1 : -maxBack);
  const found = near.flatMap((entry) =>
    entry.lines
      .filter((each) => each.line < line && !correcting.test(each.text))
      .flatMap((each) =>
        amountsIn(each.text)
          .filter((amount) => isOld(amount, each.text, pair))
          .map((amount) => ({ entry, each, amount })),
      ),
  );
  const [one] = found;
  if (one === undefined || found.length > 1 || one.amount.value === pair.now.value) return null;
  return { before: one.amount.written, now: pair.now.written, nowValue: pair.now.value, line: one.each.line, entryLine: one.entry.line };
}

type Pair = { now: Amount; old: Amount | null; unit: string };

/** Without the old figure an entry is certain only if it has one figure of that unit. */
function isOld(amount: Amount, text: string, { old, unit }: Pair): boolean {
  return old === null ? unit !== '' && unitAfter(text, amount) === unit : amount.value === old.value;
}

function pairIn(sentence: string): Pair | null {
  const amounts = amountsIn(sentence);
  for (const [i, first] of amounts.entries()) {
    const second = amounts[i + 1];
    if (second === undefined) break;
    const end = first.index + first.written.length;
    const between = sentence.slice(end, second.index);
    if (instead.test(between)) return { now: first, old: second, unit: unitAfter(sentence, first) };
    if (becomes.test(between)) return { now: second, old: first, unit: unitAfter(sentence, second) };
  }
  const [only, ...others] = amounts;
  return only === undefined || others.length > 0 ? null : { now: only, old: null, unit: unitAfter(sentence, only) };
}

/** "9.6 t", "182 °C": the unit as written; empty if there is none. */
export function unitAfter(text: string, { index, written }: Pick<Amount, 'index' | 'written'>): string {
  const inside = /[\p{L}%°€$£][\p{L}²³/]{0,11}$/u.exec(written.slice(0, 40))?.[0];
  if (inside !== undefined) return inside;
  const end = index + written.length;
  return /^ ?(°?[\p{L}%]{1,12}[²³]?(?:\/\p{L}{1,5})?)(?![\p{L}])/u.exec(text.slice(end, end + 24))?.[1] ?? '';
}

const anyTime = /(?<![\p{N}:.,/-])(?<h>[01]?\d|2[0-3])[:h](?<m>[0-5]\d)(?![\p{N}:])/gu;

/** Times of the day that a text names, as "09:05". */
export function timesIn(text: string): string[] {
  return [...text.slice(0, 2000).matchAll(anyTime)].map(({ groups }) => `${groups!.h!.padStart(2, '0')}:${groups!.m}`);
}

/** When an entry was made, for a cell of a table. */
export function whenOf({ day, dayWritten, time }: Pick<LogbookEntry, 'day' | 'dayWritten' | 'time'>): string {
  return [day ?? dayWritten, time ?? ''].filter((part) => part !== '').join(' ') || 'no day named';
}

const wrappedChars = 60;

/** The lines of an entry; a short one without a mark at its end is divided from the next. */
export function wordsOf({ lines }: LogbookEntry): string {
  return lines
    .map(({ text }, i) => (i === lines.length - 1 || text.length >= wrappedChars || /[.,;:!?-]$/.test(text) ? text : `${text} /`))
    .join(' ');
}

/** The words of an entry, with what was corrected in it later. */
export function textOf(entry: LogbookEntry, { changes }: Logbook): string {
  const written = wordsOf(entry);
  const fixes = changes.flatMap(({ corrected: fix, line }) =>
    fix === null || fix.entryLine !== entry.line ? [] : [`${fix.before} corrected to ${fix.now} on line ${exact(line)}`],
  );
  return fixes.length === 0 ? written : `${written} [${fixes.join('; ')}]`;
}
