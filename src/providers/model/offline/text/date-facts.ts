/** Dates of a text: its own date, the dates that it names, and the days that are meant by words such as "next Tuesday". */
import { type FoundDate, findDates, findDeadline, isDay, withYear } from './dates.ts';
import { add, maxFigures } from './fact-list.ts';
import type { DateFact, Quote, TextFacts } from './facts.ts';
import { seasonIn } from './logbook.ts';
import { relativeDate } from './relative-dates.ts';
import { sectionOf } from './text-kind.ts';
import type { Unit } from './units.ts';

/** A date beside such words is not the date of the text. */
const about =
  /(?<![\p{L}])(?:starts?|starting|begins?|beginning|valid|until|effective|due|deadline|ends?|expires?|ab|gültig|läuft|beginnt|endet|bis|frist|start|\p{L}{0,15}beginn|soll|sollen|wird|will|planned|geplant)(?![\p{L}])/iu;

/** "Draft of 26 March 2025": what follows is the date of the text. */
const versionOf = /(?<![\p{L}])(?:draft|version|revision|status|entwurf|fassung|stand)(?: of| from| as of| dated| vom)?:? $/iu;
const eventChars = 60;
const eventWords = 7;
const gatheringWords = /minutes|meeting|session|report|letter|protokoll|sitzung|versammlung|bericht|treffen/i;

/** A sentence that tells what happened on a day: "On 3 May customers could not pay in the shop", "It was bought on 4 May in the town." */
function tellsEvent({ kind, text }: Unit): boolean {
  if (kind !== 'sentence' || gatheringWords.test(text)) return false;
  return (text.length > eventChars && /^(?:on|am) /i.test(text)) || (/[.!?]$/.test(text) && text.split(' ').length >= eventWords);
}

/** The date at the top of a text: of its version, of a field, of a heading, or of one of its first lines. */
export function ownDate(units: readonly Unit[]): DateFact | null {
  const head = units.slice(0, 12);
  for (const { text, line } of head) {
    const date = findDates(text).find(({ iso, index }) => iso !== null && versionOf.test(text.slice(Math.max(0, index - 30), index)));
    if (date !== undefined && line <= 6) return { ...date, text, line };
  }
  const ordered = [
    ...head.filter(({ kind, key }) => kind === 'field' && /^(?:date|datum|fecha|data|sent|gesendet)$/i.test(key)),
    ...head.filter((unit) => {
      const { kind, text } = unit;
      return kind !== 'field' && kind !== 'speech' && text.length <= 120 && !about.test(text) && !tellsEvent(unit);
    }),
    ...head.filter(
      ({ kind, key, text }) =>
        kind === 'field' &&
        /^(?:time|when|meeting|zeit|wann|subject|betreff|sitzung|stand|as of|published|veröffentlicht|erstellt|created|updated|issued)/i.test(
          key,
        ) &&
        !about.test(text),
    ),
  ];
  for (const { text, line, key } of ordered) {
    if (/next meeting|nächste|prochaine|próxima|prossima/i.test(text.slice(0, 60)) || (key === '' && line > 6)) continue;
    const date = findDates(text).find(({ iso }) => iso !== null);
    if (date !== undefined) return { ...date, text, line };
  }
  return null;
}

/** Marks such as "[" may stand before the stamp of an entry. */
const maxStampStart = 3;
const maxUnits = 5_000;

export function dated(facts: TextFacts, unit: Unit): void {
  const text = unit.kind === 'field' ? `${unit.key}: ${unit.text}` : unit.text;
  const isEntry = facts.logbook?.entries.some(({ line }) => line === unit.line) === true;
  for (const date of findDates(text)) {
    // The day of an entry is told with the entry.
    if (isEntry && date.index <= maxStampStart) continue;
    add(facts.dates, { written: date.written, ...dayOf(date, facts, false, { text, line: unit.line }), text, line: unit.line }, maxFigures);
  }
}

/** A deadline so long before the text's own date is one of the next year. */
const pastDays = 60;
const dayMs = 86_400_000;
/** A day so far from the text's own date is of the next year or the one before, if that is so near. */
const farDays = 274;
const nearDays = 91;
const maxBetween = 25;
const upTo =
  /(?:^|[^\p{L}])(?:to|until|till|through|bis|au|jusqu['’]au|al|hasta|fino al|tot|–|-)[^\p{L}]{0,2}(?:the |den |zum |le |el |il )?$/iu;
const yearBefore =
  /(?<![\p{L}])(?:(?:last|previous|prior) year|(?:the|a) year (?:before|earlier|ago)|Vorjahr|(?:letzte[ns]?|vergangene[ns]?|vorige[ns]?) Jahr(?:es)?|Jahr (?:zuvor|davor)|l['’]an(?:née)? (?:derni(?:er|ère)|passée?|précédente?)|année (?:dernière|passée|précédente)|año (?:pasado|anterior)|anno (?:scorso|precedente)|vorig jaar)(?![\p{L}])/iu;
const yearAfter =
  /(?<![\p{L}])(?:(?:next|following) year|(?:nächste[ns]?|kommende[ns]?|folgende[ns]?) Jahr(?:es)?|Folgejahr|année (?:prochaine|suivante)|l['’]an prochain|año (?:que viene|próximo|siguiente)|anno (?:prossimo|successivo)|volgend jaar)(?![\p{L}])/iu;

type Base = { iso: string; note: string; isOwn?: true };

/** The day of a date, with a note on a year that it does not name. `place`: where the text has it. */
export function dayOf(date: FoundDate, facts: TextFacts, isDeadline: boolean, place: Quote): { iso: string | null; note: string } {
  if (date.iso !== null || date.monthDay === null) return date;
  const beside = besideFull(date, place.text);
  if (beside !== null) return beside;
  const base = baseOf(facts, place.line);
  if (base === null) return { iso: null, note: date.note };
  const shift = yearBefore.test(place.text) ? -1 : yearAfter.test(place.text) ? 1 : 0;
  if (shift !== 0) {
    const day = `${Number(base.iso.slice(0, 4)) + shift}-${date.monthDay}`;
    return { iso: isDay(day) ? day : null, note: base.note.replace('taken', 'counted') };
  }
  const { iso, note } = withYear(date, base.iso);
  if (iso === null || base.isOwn !== true) return { iso, note: iso === null ? note : base.note };
  const from = Date.parse(base.iso);
  const year = Number(iso.slice(0, 4));
  const days = (day: string) => Math.abs(Date.parse(day) - from) / dayMs;
  const isPast = isDeadline && from - Date.parse(iso) > pastDays * dayMs;
  const others = (isPast ? [year + 1] : [year + 1, year - 1].filter(() => days(iso) > farDays)).map((each) => `${each}${iso.slice(4)}`);
  const other = others.find((each) => isDay(each) && (isPast || days(each) <= nearDays));
  const day = other ?? iso;
  return { iso: day, note: day.slice(0, 4) === base.iso.slice(0, 4) ? base.note : base.note.replace('taken', 'counted') };
}

/** "From 28 December to 4 January 2026": the year of the full date beside it. */
function besideFull({ index, written, monthDay }: FoundDate, text: string): { iso: string; note: string } | null {
  const full = findDates(text).filter(({ iso }) => iso !== null);
  const end = index + written.length;
  const after = full.find((each) => each.index >= end && each.index - end <= maxBetween);
  const before = full.findLast(
    (each) => each.index + each.written.length <= index && index - each.index - each.written.length <= maxBetween,
  );
  const neighbour = after ?? before;
  if (neighbour === undefined) return null;
  const year = Number(neighbour.iso!.slice(0, 4));
  const own = neighbour.iso!.slice(5);
  const isSpan =
    neighbour === after ? upTo.test(text.slice(end, after.index)) : upTo.test(text.slice(before!.index + before!.written.length, index));
  const shift = !isSpan ? 0 : neighbour === after && monthDay! > own ? -1 : neighbour !== after && monthDay! < own ? 1 : 0;
  const iso = `${year + shift}-${monthDay}`;
  return isDay(iso) ? { iso, note: `year ${shift === 0 ? 'taken' : 'counted'} from "${neighbour.written}"` } : null;
}

/** What gives a date at that line its year: the heading above it, its message, the text's own date, the name of the file, or the only year of the text. */
function baseOf(facts: TextFacts, line: number): Base | null {
  const { headings, messages, date, name, years, logbook } = facts;
  const entry = logbook?.entries.findLast((each) => each.line <= line);
  if (entry !== undefined && entry.day !== null) return { iso: entry.day, note: `year taken from line ${entry.line}`, isOwn: true };
  const heading = headings.findLast((each) => each.line < line);
  // "Season 2024/25": months from August on are of the first year.
  const season = heading === undefined ? null : seasonIn(heading.text);
  if (season !== null) return { iso: `${season}-12-31`, note: `year taken from line ${heading!.line}`, isOwn: true };
  const year = heading === undefined ? null : onlyYear(heading.text);
  if (year !== null) return { iso: `${year}-07-01`, note: `year taken from line ${heading!.line}` };
  // "Meeting of 12 November": what stands below is counted from that day.
  const day = heading === undefined || messages.length > 0 ? undefined : findDates(heading.text)[0];
  if (day !== undefined && day.monthDay !== null) {
    const own = date?.iso?.slice(0, 4) ?? onlyYear(name) ?? (years.length === 1 ? years[0]!.year : null);
    if (own !== null && isDay(`${own}-${day.monthDay}`))
      return { iso: `${own}-${day.monthDay}`, note: `year taken from line ${heading!.line}`, isOwn: true };
  }
  const message = messages.findLast((each) => each.line <= line && each.iso !== null);
  if (message !== undefined) return { iso: message.iso!, note: `year taken from line ${message.line}`, isOwn: true };
  if (date !== null && date.iso !== null) return { iso: date.iso, note: `year taken from line ${date.line}`, isOwn: true };
  const named = onlyYear(name);
  if (named !== null) return { iso: `${named}-07-01`, note: 'year taken from the name of the file' };
  return years.length === 1
    ? { iso: `${years[0]!.year}-07-01`, note: `year taken from line ${years[0]!.line}, the only year of the text` }
    : null;
}

/** The year in a heading or a name that has only one. */
function onlyYear(text: string): string | null {
  const found = new Set(text.slice(0, 200).match(/(?<!\d)(?:19|20)\d{2}(?!\d)/g) ?? []);
  return found.size === 1 ? [...found][0]! : null;
}

/** The years of the full dates of a text, each with its first line. */
export function yearsIn(units: readonly Unit[]): TextFacts['years'] {
  const years = new Map<string, number>();
  for (const { text, line } of units.slice(0, maxUnits))
    if (/\d{4}/.test(text))
      for (const { iso } of findDates(text)) if (iso !== null && !years.has(iso.slice(0, 4))) years.set(iso.slice(0, 4), line);
  return [...years].map(([year, line]) => ({ year, line }));
}

/** The date of "Friday" in a text with a known date: for a mail its own, otherwise the text's. */
export function relativeTo({ kind, date, messages, fields }: TextFacts, written: string, line: number): ReturnType<typeof relativeDate> {
  const isRecord = kind === 'minutes' || kind === 'timeline' || kind === 'incident' || kind === 'e-mail' || kind === 'transcript';
  // An article tells of other days too, so only the end of a month is counted from its own.
  if (!isRecord && !(kind === 'prose' && monthEnd.test(written))) return null;
  if (
    /^(?:the |zur )?(?:next meeting|next session|nächste[rn]? (?:Sitzung|Treffen)|(?:la )?(?:prochaine réunion|próxima reunión|prossima riunione))$/i.test(
      written,
    )
  )
    return nextMeeting(fields, date);
  const message = messages.findLast((each) => each.line <= line && each.iso !== null);
  if (message !== undefined && message.iso !== null) return relativeDate(written, message.iso, `${message.iso}, the day of the message`);
  return date === null || date.iso === null ? null : relativeDate(written, date.iso, `${date.iso}, line ${date.line}`);
}

const monthEnd = /^(?:the )?(?:end of|Ende|fin|fin de|finales de|fine|fine di) \p{L}/u;

/** The day of the next meeting, where a line of the text names it. */
function nextMeeting(fields: TextFacts['fields'], own: DateFact | null): ReturnType<typeof relativeDate> {
  const field = fields.find(({ key }) =>
    /^(?:next (?:meeting|session)|nächste[rs]? (?:sitzung|treffen|termin)|prochaine réunion|próxima reunión|prossima riunione)$/i.test(key),
  );
  const day = field === undefined ? undefined : findDates(field.text)[0];
  const iso = day === undefined ? null : withYear(day, own?.iso ?? null).iso;
  return iso === null ? null : { iso, note: `the day of the next meeting, line ${field!.line}` };
}

/** "by next Tuesday" among the dates, if the day can be determined. */
export function deadlines(facts: TextFacts, unit: Unit): void {
  const due = unit.kind === 'field' && sectionOf(unit.key) === '' ? null : findDeadline(unit.text);
  if (due === null || due.date !== null) return;
  const at = unit.text.indexOf(due.written);
  if (
    !/(?:by|before|until|till|latest|bis|spätestens|no later than)(?: (?:the|zum|den|dem|am|next|on))?:? $/i.test(
      unit.text.slice(Math.max(0, at - 24), at),
    )
  )
    return;
  const day = relativeTo(facts, due.written, unit.line);
  if (day !== null) add(facts.dates, { written: due.written, iso: day.iso, note: day.note, text: unit.text, line: unit.line });
}
