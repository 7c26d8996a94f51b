/** The entries of a timeline: each clock time with the clause that tells what happened then, and the part it plays in an incident. */
import { type FoundDate, findDates } from './dates.ts';
import { stampOf } from './log-stamps.ts';
import type { Passage } from './passages.ts';

export type ClockEvent = {
  /** Minutes since midnight of the first day. */
  minutes: number;
  /** As written: "10:12". */
  time: string;
  text: string;
  line: number;
};
/** What an entry is by its words; the first one of each role, the last one of a repair. */
export type Roles = {
  start: ClockEvent | null;
  noticed: ClockEvent | null;
  work: ClockEvent | null;
  found: ClockEvent | null;
  repair: ClockEvent | null;
  success: ClockEvent | null;
};

const clock = /(?<![\p{N}:.,/-])([01]?\d|2[0-3])[:h]([0-5]\d)(?![\p{N}:]|[.,]\d)(?: ?(am|pm|a\.m\.|p\.m\.)(?![\p{L}]))?/giu;
/** Before a time that is a limit or another event, not the time of this entry. */
const notAt =
  /(?<![\p{L}])(?:until|till|to|after|before|since|between|by|expired at|valid|the|of|bis|der|des|vom|von|nach|vor|seit|zwischen|[–-]) ?$/iu;
const otherZone = /^ ?(?:UTC|GMT)(?![\p{L}])/u;
const subordinate = /(?<![\p{L}])(?:that|which|who|dass|das|die|der)(?![\p{L}])/iu;
const maxEvents = 400;
const dayMinutes = 1440;
const fewestStamps = 3;

export function clockEvents(passages: readonly Passage[], year: string | null): ClockEvent[] {
  const events: ClockEvent[] = [];
  let day = 0;
  let firstDate: number | null = null;
  let before = -1;
  const isDay = ({ iso, monthDay }: FoundDate) => iso !== null || (monthDay !== null && year !== null);
  const isLogbook = passages.filter(({ text }) => stampOf(text) !== null).length >= fewestStamps;
  let under = '';
  for (const { text, line, section } of passages)
    for (const clause of text.split(/; ?/)) {
      // Of an entry that begins with its time, another date in it is of what it tells.
      const start = stampOf(clause);
      const own = start === null ? findDates(clause).find(isDay) : start.date !== null && isDay(start.date) ? start.date : undefined;
      // "3 May" above the entries: the day of all of them.
      const above = own === undefined && section !== under ? findDates(section).find(isDay) : undefined;
      const date = own ?? above;
      const told = timesIn(clause);
      if (told.length > 0) under = section;
      const [dayBefore, timeBefore] = [day, before];
      if (date !== undefined && told.length > 0) {
        const at = Date.parse(date.iso ?? `${year}-${date.monthDay}`) / 86_400_000;
        firstDate ??= at - day;
        day = Math.max(0, Math.round(at - firstDate));
        before = -1;
      }
      for (const { minutes, written } of told) {
        if (events.length === maxEvents) return events;
        // Without a date, a jump back by more than half a day is the next day.
        if (date === undefined && before - minutes > dayMinutes / 2) day++;
        before = minutes;
        events.push({ minutes: day * dayMinutes + minutes, time: written, text: clause.trim(), line });
      }
      // A line below an entry may tell of another day; the next entry is not of that day.
      if (isLogbook && start === null && own !== undefined) [day, before] = [dayBefore, timeBefore];
    }
  return events;
}

function timesIn(clause: string): { minutes: number; written: string }[] {
  const read = clause.slice(0, 1000);
  let last = -1;
  return [...read.matchAll(clock)].flatMap(({ 0: written, 1: hour, 2: minute, 3: half, index }) => {
    const isOther =
      notAt.test(read.slice(Math.max(0, index - 12), index)) ||
      otherZone.test(read.slice(index + written.length, index + written.length + 6)) ||
      (last >= 0 && subordinate.test(read.slice(last, index)));
    if (isOther) return [];
    last = index + written.length;
    const hours = Number(hour);
    const shifted = half === undefined ? hours : (hours % 12) + (/^p/i.test(half) ? 12 : 0);
    return [{ minutes: shifted * 60 + Number(minute), written }];
  });
}

const words = {
  start:
    /(?<![\p{L}])(?:fail(?:s|ed|ing)?|could not|cannot|can't|unable|outage|(?:goes|went|is|was|were) down|unavailable|unreachable|stop(?:s|ped)|breaks?|broke|burst|bursts|leak(?:s|ed|ing)?|flood(?:s|ed)?|trip(?:s|ped)|crash(?:es|ed)?|smoke|power cut|no longer|not a single|ausgefallen|fällt aus|fiel aus|Ausfall|Störung|nicht mehr)(?![\p{L}])/iu,
  noticed:
    /(?<![\p{L}])(?:complain\p{L}{0,4}|report(?:s|ed)|notic(?:es|ed)|alarms?|alert\p{L}{0,3}|calls?|called|phoned|hotline|discover\p{L}{0,3}|gemeldet|meldet\p{L}{0,2}|bemerkt\p{L}{0,2}|Alarm|Beschwerde\p{L}{0,2}|ruft|rief)(?![\p{L}])/iu,
  work: /(?<![\p{L}])(?:start(?:s|ed)(?: work)?|began|begins|arriv(?:es|ed)|takes? over|took over|investigat\p{L}{1,3}|look(?:s|ed) into|on site|log(?:s|ged) in|join(?:s|ed)|begann|beginnt|trifft ein|traf ein|eingetroffen|übernimmt|übernahm|vor Ort)(?![\p{L}])/iu,
  found:
    /(?<![\p{L}])(?:found|finds|identif(?:ies|ied)|diagnos(?:es|ed)|turn(?:s|ed) out|realis(?:es|ed)|cause (?:is |was )?(?:clear|known|found)|gefunden|findet|fand|stellte? \p{L}{0,12} ?fest|erkannte?)(?![\p{L}])/iu,
  repair:
    /(?<![\p{L}])(?:install(?:s|ed)|fix(?:es|ed)|repair(?:s|ed)|replac(?:es|ed)|restor(?:es|ed)|restart(?:s|ed)|resolv(?:es|ed)|swap(?:s|ped)|switch(?:es|ed) (?:back|over)|mend(?:s|ed)|repariert|behoben|ersetzt|ausgetauscht|wiederhergestellt|neu gestartet)(?![\p{L}])/iu,
  success:
    /(?<![\p{L}])(?:first successful|success(?:ful(?:ly)?)?|work(?:s|ed|ing) again|back (?:up|on|online|to normal|in (?:service|operation))|normal again|resum(?:es|ed)|run(?:s|ning) again|could (?:\p{L}{1,15} ){1,4}again|can (?:\p{L}{1,15} ){1,4}again|(?:service|power|supply|connection|access) (?:is |was )?restored|recover(?:s|ed)|(?:available|reachable|opened|opens|open) again|reopen(?:s|ed)|wieder (?:erreichbar|möglich|in Betrieb|normal|da|frei)|läuft wieder|funktioniert wieder)(?![\p{L}])/iu,
} as const;
const negated = /(?<![\p{L}])(?:no|not|nobody|without|un\p{L}{2,12}|did not|kein\p{L}{0,2}|nicht|niemand|planned|geplant)(?![\p{L}])/iu;

/** The roles by the words of the entries; null where no entry has them. Roles after the start need a start. */
export function rolesOf(events: readonly ClockEvent[]): Roles {
  const ordered = events.toSorted((a, b) => a.minutes - b.minutes);
  const start = ordered.find(({ text }) => words.start.test(text)) ?? null;
  const later = start === null ? [] : ordered.filter(({ minutes }) => minutes > start.minutes);
  const first = (role: RegExp, from: ClockEvent | null) =>
    later.find(({ text, minutes }) => role.test(text) && !isNegated(text, role) && minutes >= (from?.minutes ?? 0)) ?? null;
  const noticed = first(words.noticed, null);
  const work = first(words.work, null);
  const success = first(words.success, work ?? noticed);
  const repair =
    later.findLast(
      ({ text, minutes }) => words.repair.test(text) && !isNegated(text, words.repair) && (success === null || minutes <= success.minutes),
    ) ?? null;
  return { start, noticed, work, found: first(words.found, work), repair, success };
}

function isNegated(text: string, role: RegExp): boolean {
  const at = role.exec(text)?.index ?? 0;
  return negated.test(text.slice(Math.max(0, at - 24), at));
}
