/** Lines that begin with a date or a time of the day, as the entries of a logbook do. */
import { type FoundDate, findDates } from './dates.ts';

export type Stamp = {
  date: FoundDate | null;
  /** "09:05"; null where the line names only a day. */
  time: string | null;
  /** What follows the stamp. */
  rest: string;
};

const headChars = 70;
const mayBegin = /^[^\p{L}\p{N}]{0,6}(?:\d|\p{Lu}\p{L}{1,11}\.?,? (?:\p{L}{2,12} )?\d)/u;
const marks = /^(?:#{1,6} |[-*•–+] )?(?:\*\*|__)?[[(]?/;
const dayAndMonth = /^(?<d>\d{1,2})\.(?<m>\d{1,2})\.(?=[ ,:]|$)/;
const shortWeekday = /^(?:Mo|Di|Mi|Do|Fr|Sa|So|lun|mar|mer|jeu|ven|sam|dim|lu|ma|me|je|ve|di)\.?,? (?=\d)/iu;
const weekdayAfter =
  /^,? ?\(?(?:Mo|Tu|We|Th|Fr|Sa|Su|Di|Mi|Do|So|lu|ma|me|je|ve|di|Mon|Tue|Wed|Thu|Fri|Sat|Sun|lun|mar|mer|jeu|ven|sam|dim)\.?\)?(?=[ ,:]|$)/u;
const clockTime =
  /^(?:(?<h>[01]?\d|2[0-3])(?::|h|\.(?=[0-5]\d ?(?:Uhr|h)(?![\p{L}])))(?<m>[0-5]\d)(?::[0-5]\d(?:[.,]\d{1,6})?)?|(?<bare>(?:[01]\d|2[0-3])[0-5]\d)(?= ?(?:h|hrs|hours|LT|UTC)?[ :–-])|(?<hour>[01]?\d|2[0-3])(?= ?(?:am|pm|a\.m\.|p\.m\.|Uhr)(?![\p{L}]))|(?<french>[01]?\d|2[0-3]) ?h(?= ))(?![\p{N}%]|[.,]\d)(?: ?(?<half>am|pm|a\.m\.|p\.m\.|Uhr|hrs|h|LT|UTC|GMT|Z)(?![\p{L}\p{N}]))?/iu;
const lead = /^(?:at|um|à|a las|alle|om) (?=\d)/iu;
const joint = /^(?:T(?=\d)|[\s,–-]{1,4}|, ?(?:at|um|à) )/u;
const closingMarks = /^(?:[\])]|\*\*|__|[:,.–—|-]| ){0,8}/u;

/** Null where the line begins with neither. */
export function stampOf(line: string): Stamp | null {
  const head = line.trimStart().slice(0, headChars);
  if (!mayBegin.test(head)) return null;
  const opened = marks.exec(head)?.[0].length ?? 0;
  const bare = head.slice(opened);
  const date = leadingDate(bare);
  const dayEnd = date === null ? 0 : date.written.length;
  // "04.11. Mo": a weekday may follow the day.
  const named = date === null ? 0 : (weekdayAfter.exec(bare.slice(dayEnd))?.[0].length ?? 0);
  const afterDate = bare.slice(dayEnd + named);
  // "2026-05-02 14:10": a written date may hold its time.
  const held = date === null ? null : /[T ](\d{2}:\d{2})(?::\d{2})?/.exec(date.written);
  const gap = (date === null ? lead : joint).exec(afterDate)?.[0].length ?? 0;
  const clock = held === null ? clockTime.exec(afterDate.slice(gap)) : null;
  const time = held?.[1] ?? timeOf(clock);
  if (date === null && time === null) return null;
  const end = opened + (bare.length - afterDate.length) + (clock === null ? 0 : gap + clock[0].length);
  return { date, time, rest: line.trimStart().slice(end).replace(closingMarks, '').trim() };
}

const fewest = 3;
const leastShare = 0.25;
const maxLines = 20_000;

/**
 * The lines that are entries, by their index. Empty for a text that is no logbook: three entries in it, and a quarter of its lines.
 *
 * @param isOther whether a line with a stamp is something else, such as a message of a chat
 */
export function entryLines(lines: readonly string[], isOther: (line: string) => boolean): ReadonlyMap<number, Stamp> {
  const found = new Map<number, Stamp>();
  let filled = 0;
  let other = 0;
  for (const [i, line] of lines.slice(0, maxLines).entries()) {
    if (line.trim() === '') continue;
    filled++;
    const stamp = stampOf(line);
    if (stamp === null || stamp.rest === '') continue;
    if (isOther(line)) other++;
    else found.set(i, stamp);
  }
  const bare = [...found.values()].filter(({ date, time }) => date === null && time !== null && isYearLike(time));
  // "1998 founded, 2004 moved": such numbers are times only beside "0620".
  if (bare.length === found.size && ![...found.keys()].some((i) => /^\D{0,6}0\d{3}(?!\d)/.test(lines[i]!))) {
    if (bare.length > 0 && [...found.keys()].every((i) => /^\D{0,6}\d{4}(?!\d)/.test(lines[i]!))) return new Map();
  }
  return found.size < fewest || found.size < filled * leastShare || other > found.size ? new Map() : found;
}

function isYearLike(time: string): boolean {
  return time.startsWith('19:') || time.startsWith('20:');
}

function leadingDate(text: string): FoundDate | null {
  const first = findDates(text)[0];
  if (first !== undefined && first.index === 0) return first;
  const weekday = shortWeekday.exec(text)?.[0].length ?? 0;
  if (weekday > 0) {
    const date = leadingDate(text.slice(weekday));
    return date === null ? null : { ...date, written: text.slice(0, weekday) + date.written };
  }
  // "3.6. 14:10": at the beginning of an entry no other word says that it is a date.
  const found = dayAndMonth.exec(text)?.groups;
  if (found === undefined || Number(found.m) < 1 || Number(found.m) > 12 || Number(found.d) < 1 || Number(found.d) > 31) return null;
  const monthDay = `${found.m!.padStart(2, '0')}-${found.d!.padStart(2, '0')}`;
  return { written: text.slice(0, found.d!.length + found.m!.length + 2), iso: null, note: 'no year is given', index: 0, monthDay };
}

function timeOf(found: RegExpExecArray | null): string | null {
  const groups = found?.groups;
  if (groups === undefined) return null;
  const hour = groups.h ?? groups.hour ?? groups.french ?? groups.bare!.slice(0, 2);
  const minute = groups.m ?? groups.bare?.slice(2) ?? '00';
  const half = groups.half ?? '';
  const shifted = /^[ap]\.?m/i.test(half) ? (Number(hour) % 12) + (/^p/i.test(half) ? 12 : 0) : Number(hour);
  return `${String(shifted).padStart(2, '0')}:${minute}`;
}
