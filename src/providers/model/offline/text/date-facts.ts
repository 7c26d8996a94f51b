/** Dates of a text: its own date, the dates that it names, and the days that are meant by words such as "next Tuesday". */
import { type FoundDate, findDates, findDeadline, isDay, withYear } from './dates.ts';
import { add, maxFigures } from './fact-list.ts';
import type { DateFact, TextFacts } from './facts.ts';
import { relativeDate } from './relative-dates.ts';
import { sectionOf } from './text-kind.ts';
import type { Unit } from './units.ts';

/** A date beside such words is not the date of the text. */
const about =
  /(?<![\p{L}])(?:starts?|starting|begins?|beginning|valid|until|effective|due|deadline|ends?|expires?|ab|gültig|läuft|beginnt|endet|bis|frist|start|\p{L}{0,15}beginn|soll|sollen|wird|will|planned|geplant)(?![\p{L}])/iu;

/** "Draft of 26 March 2025": what follows is the date of the text. */
const versionOf = /(?<![\p{L}])(?:draft|version|revision|status|entwurf|fassung|stand)(?: of| from| as of| dated| vom)?:? $/iu;
const eventChars = 60;
const gatheringWords = /minutes|meeting|session|report|letter|protokoll|sitzung|versammlung|bericht|treffen/i;

/** A sentence that tells what happened on a day: "On 3 May customers could not pay in the shop." */
function tellsEvent({ kind, text }: Unit): boolean {
  return kind === 'sentence' && text.length > eventChars && /^(?:on|am) /i.test(text) && !gatheringWords.test(text);
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

export function dated(facts: TextFacts, unit: Unit): void {
  const text = unit.kind === 'field' ? `${unit.key}: ${unit.text}` : unit.text;
  const isEntry = facts.logbook?.entries.some(({ line }) => line === unit.line) === true;
  for (const date of findDates(text)) {
    // The day of an entry is told with the entry.
    if (isEntry && date.index <= maxStampStart) continue;
    add(facts.dates, { written: date.written, ...dayOf(date, facts, false), text, line: unit.line }, maxFigures);
  }
}

/** A deadline so long before the text's own date is one of the next year. */
const pastDays = 60;

/** The day of a date, with a note on a year that it does not name. */
export function dayOf(date: FoundDate, { date: own }: TextFacts, isDeadline: boolean): { iso: string | null; note: string } {
  const { iso, note } = withYear(date, own?.iso ?? null);
  if (iso === null || date.iso !== null || own === null || own.iso === null) return { iso, note };
  const next = `${Number(iso.slice(0, 4)) + 1}${iso.slice(4)}`;
  const isPast = isDeadline && Date.parse(own.iso) - Date.parse(iso) > pastDays * 86_400_000 && isDay(next);
  const day = isPast ? next : iso;
  return {
    iso: day,
    note: day.slice(0, 4) === own.iso.slice(0, 4) ? `year taken from line ${own.line}` : `year counted from line ${own.line}`,
  };
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
