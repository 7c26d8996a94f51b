/** Dates in usual notation. ISO is given only if day, month and year are certain. */

import { numberWord } from './number-words.ts';

export type FoundDate = {
  /** As written. */
  written: string;
  iso: string | null;
  /** The reason for doubt; empty if there is none. */
  note: string;
  index: number;
  /** Day and month are known, the year is not. */
  monthDay: string | null;
};

const monthNames = [
  ['January', 'Jan', 'Januar', 'Jänner', 'janvier', 'enero', 'gennaio'],
  ['February', 'Feb', 'Februar', 'février', 'febrero', 'febbraio'],
  ['March', 'Mar', 'März', 'Maerz', 'Mrz', 'mars', 'marzo'],
  ['April', 'Apr', 'avril', 'abril', 'aprile'],
  ['May', 'Mai', 'mai', 'mayo', 'maggio'],
  ['June', 'Jun', 'Juni', 'juin', 'junio', 'giugno'],
  ['July', 'Jul', 'Juli', 'juillet', 'julio', 'luglio'],
  ['August', 'Aug', 'août', 'agosto'],
  ['September', 'Sept', 'Sep', 'septembre', 'septiembre', 'settembre'],
  ['October', 'Oct', 'Oktober', 'Okt', 'octobre', 'octubre', 'ottobre'],
  ['November', 'Nov', 'novembre', 'noviembre'],
  ['December', 'Dec', 'Dezember', 'Dez', 'décembre', 'diciembre', 'dicembre'],
];
const months = new Map(monthNames.flatMap((names, i) => names.flatMap((name) => [[name.toLowerCase(), i + 1] as const])));
const month = `(?:${monthNames
  .flat()
  .toSorted((a, b) => b.length - a.length)
  .join('|')})(?![\\p{L}])\\.?`;
const weekdayNames = [
  'Sunday|Sonntag|Sun|dimanche|domingo|domenica',
  'Monday|Montag|Mon|lundi|lunes|lunedì',
  'Tuesday|Dienstag|Tues|Tue|mardi|martes|martedì',
  'Wednesday|Mittwoch|Wed|mercredi|miércoles|mercoledì',
  'Thursday|Donnerstag|Thurs|Thu|jeudi|jueves|giovedì',
  'Friday|Freitag|Fri|vendredi|viernes|venerdì',
  'Saturday|Samstag|Sonnabend|Sat|samedi|sábado|sabato',
];
const weekday = `(?:${weekdayNames.join('|')})`;
const weekdayLead = new RegExp(`^(?:${weekdayNames.join('|')})(?![\\p{L}])`, 'u');
const lead = `(?:${weekday},? (?:the |dem |den |der )?)?`;
const edge = '(?<![\\p{L}\\p{N}.,/:-])';
const end = '(?![\\p{L}\\p{N}])(?![./:,-]\\p{N})';
/** Words after which four digits are a year, not a count. */
const yearLeads =
  'in|In|since|Since|by|By|until|Until|from|From|seit|Seit|ab|Ab|bis|Bis|im Jahr|year|im Frühjahr|im Sommer|im Herbst|im Winter|Frühjahr|Sommer|Herbst|Winter|spring|summer|autumn|winter|Anfang|Mitte|Ende|early|late|mid|of|en|En|année|año|anno|nel|Nel|del|depuis|desde|dal';
const patterns: readonly (readonly [string, RegExp])[] = [
  [
    'iso',
    new RegExp(
      `${edge}(?<y>\\d{4})-(?<m>\\d{2})-(?<d>\\d{2})(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d{2}:?\\d{2})?)?(?![\\p{L}\\p{N}])`,
      'gu',
    ),
  ],
  [
    'dayMonth',
    new RegExp(
      `${edge}${lead}(?<d>\\d{1,2})(?:st|nd|rd|th|er|º|°|\\.)? (?:of |de )?(?<n>${month})(?:,? (?:del? )?(?<y>\\d{4}))?${end}`,
      'gu',
    ),
  ],
  ['monthDay', new RegExp(`${edge}${lead}(?<n>${month}) (?<d>\\d{1,2})(?:st|nd|rd|th)?(?:,? (?<y>\\d{4}))?${end}`, 'gu')],
  ['year', new RegExp(`(?<=(?:${yearLeads}) )(?:19|20)\\d{2}(?![\\p{L}\\p{N}])(?![./:,-]\\p{N})(?! ?(?:€|euros?|EUR))`, 'gu')],
  ['monthYear', new RegExp(`${edge}(?<n>${month}) (?:del? )?(?<y>\\d{4})${end}`, 'gu')],
  ['dotted', new RegExp(`${edge}${lead}(?<d>\\d{1,2})\\.(?<m>\\d{1,2})\\.(?<y>\\d{4}|\\d{2})?${end}`, 'gu')],
  ['slashed', new RegExp(`${edge}${lead}(?<a>\\d{1,2})/(?<b>\\d{1,2})/(?<y>\\d{4}|\\d{2})${end}`, 'gu')],
];
const dottedLeads =
  /(?:am|bis|vom|zum|ab|seit|den|dem|der|until|till|by|on|before|after|from|bis zum|spätestens|due|frist|deadline|termin)[:\s]{0,2}$/i;
const timeFollows = /^,? ?\d{1,2}[:h]\d{2}(?!\d)/;
const maxReadChars = 4000;

/** "FRIDAY 27 JUNE" */
const shouted = /(?<![\p{L}])\p{Lu}{3,10}(?![\p{L}])/gu;

/** In the order of the text; of overlapping ones the longest. Reads the first 4,000 characters of `text`. */
export function findDates(written: string): FoundDate[] {
  const text = written.slice(0, maxReadChars).replace(shouted, (word) => word[0] + word.slice(1).toLowerCase());
  const found: FoundDate[] = [];
  for (const [kind, pattern] of patterns) {
    for (const match of text.matchAll(pattern)) {
      const date = read(kind, match, text);
      if (date !== null) found.push(date);
    }
  }
  const sorted = found.toSorted((a, b) => a.index - b.index || b.written.length - a.written.length);
  let until = -1;
  return sorted.filter(({ index, written: words }) => {
    if (index < until) return false;
    until = index + words.length;
    return true;
  });
}

const dayMs = 86_400_000;
/** A date without a year is taken to be at most so far from the text's own date, if its weekday is to decide. */
const nearDays = 200;

/**
 * The date with a year taken from `own`, the text's own date (ISO). With a weekday it is the nearest day that has it; where no near day has it,
 * the note names the day that it does not fit.
 */
export function withYear(date: FoundDate, own: string | null): { iso: string | null; note: string } {
  if (date.iso !== null || date.monthDay === null || own === null) return date;
  const year = Number(own.slice(0, 4));
  const days = [year, year - 1, year + 1].map((each) => `${each}-${date.monthDay}`).filter(isDay);
  const same = days.filter((day) => day.startsWith(`${year}-`) && fitsWeekday(date.written, day));
  if (!weekdayLead.test(date.written)) return same.length > 0 ? { iso: same[0]!, note: '' } : date;
  const near = days.filter((day) => Math.abs(Date.parse(day) - Date.parse(own)) <= nearDays * dayMs);
  const fitting = near.find((day) => fitsWeekday(date.written, day)) ?? same[0];
  if (fitting !== undefined) return { iso: fitting, note: '' };
  return near.length === 1 ? { iso: null, note: `the weekday does not fit ${near[0]}` } : date;
}

function read(kind: string, match: RegExpExecArray, text: string): FoundDate | null {
  const { d, m, n, y, a, b } = match.groups ?? {};
  // The point ends the sentence, unless the month is abbreviated.
  const words = match[0]
    .trim()
    .replace(/(?<!\p{L})((?!(?:Jan|Feb|Mar|Mrz|Apr|Jun|Jul|Aug|Sept?|Oct|Okt|Nov|Dec|Dez)\.$)\p{L}{3,10})\.$/u, '$1');
  const make = (iso: string | null, note: string, monthDay: string | null = null): FoundDate | null => {
    if (iso !== null && !isDay(iso)) return null;
    if (iso !== null && !fitsWeekday(words, iso))
      return { written: words, iso: null, note: `the weekday does not fit ${iso}`, index: match.index, monthDay: null };
    return { written: words, iso, note, index: match.index, monthDay };
  };
  // "At the end of April 14 households were in arrears": the month is whole, and the number counts.
  if (kind === 'monthDay' && y === undefined && isCount(match[0], text.slice(0, match.index), text.slice(match.index + match[0].length)))
    return null;
  // The rest of an invalid day.
  if (kind === 'monthYear' && /\d[.a-z]{0,2} $/.test(text.slice(Math.max(0, match.index - 5), match.index))) return null;
  if (kind === 'year') return { written: words, iso: null, note: 'a year, no day', index: match.index, monthDay: null };
  if (kind === 'monthYear') return { written: words, iso: null, note: 'a month, no day', index: match.index, monthDay: null };
  if (kind === 'slashed') {
    const [first, second] = [Number(a), Number(b)];
    const year = fullYear(y!);
    if (first > 12 && second <= 12) return make(`${year}-${two(b!)}-${two(a!)}`, '');
    if (second > 12 && first <= 12) return make(`${year}-${two(a!)}-${two(b!)}`, '');
    if (first === second) return make(`${year}-${two(a!)}-${two(b!)}`, '');
    return first > 12 || first === 0 || second === 0
      ? null
      : { written: words, iso: null, note: 'day and month could be either way round', index: match.index, monthDay: null };
  }
  const number = n === undefined ? Number(m) : (months.get(n.replace('.', '').toLowerCase()) ?? 0);
  const monthDay = `${two(String(number))}-${two(d!)}`;
  if (number < 1 || number > 12 || !isDay(`2024-${monthDay}`)) return null;
  if (kind === 'dotted') {
    const before = text.slice(Math.max(0, match.index - 16), match.index);
    if (/(?:version|release|v|rev|section|§) ?$/i.test(before)) return null;
    // "3.4." is a date only after a word such as "until", or before a time.
    if (
      y === undefined &&
      !dottedLeads.test(before) &&
      !timeFollows.test(text.slice(match.index + match[0].length, match.index + match[0].length + 9))
    )
      return null;
  }
  return y === undefined ? make(null, 'no year is given', monthDay) : make(`${fullYear(y)}-${monthDay}`, '');
}

const wholeMonth =
  /(?<![\p{L}])(?:in|during|im|während|Ende|Anfang|Mitte|(?:end|beginning|start|middle|half|course|month) of)(?: early| late)? $/iu;
const counted =
  /^ (?!(?:and|or|at|to|until|till|in|on|by|with|for|from|we|it|he|she|they|the|is|was|und|oder|um|bis|mit|wird|war|ist)(?![\p{L}]))\p{L}{3,}/iu;

/** Whether the number after a month counts what follows, by the words before the month. */
function isCount(date: string, before: string, after: string): boolean {
  return /\d$/.test(date) && wholeMonth.test(before.slice(-24)) && counted.test(after.slice(0, 30));
}

function fullYear(year: string): string {
  return year.length === 2 ? `20${year}` : year;
}

function two(digits: string): string {
  return digits.padStart(2, '0');
}

/** Whether the day exists. */
export function isDay(iso: string): boolean {
  const time = Date.parse(`${iso}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso);
}

function fitsWeekday(words: string, iso: string): boolean {
  const named = weekdayNames.findIndex((names) => new RegExp(`^(?:${names})(?![\\p{L}])`, 'u').test(words));
  return named === -1 || new Date(`${iso}T00:00:00Z`).getUTCDay() === named;
}

const relative = new RegExp(
  `(?<![\\p{L}])(?:(?:next|this|coming|kommende[nrm]?|nächste[nrm]?|diese[nrm]?) (?:${weekdayNames.join('|')}|week|month|quarter|year|Woche|Monat)|${weekday}|(?:the )?end of (?:the |this |next )?(?:day|week|month|quarter|year|${monthNames.flat().join('|')})(?: \\d{4})?|(?:fin|fin de|finales de|fine|fine di) (?:${monthNames.flat().join('|')})(?: (?:del? )?\\d{4})?|(?:la )?(?:prochaine réunion|próxima reunión|prossima riunione)|Ende (?:der Woche|des Monats|${monthNames.flat().join('|')})(?: \\d{4})?|(?:early |mid-|late )?Q[1-4](?: ?\\d{4})?|KW ?\\d{1,2}|\\d{1,2}(?:st|nd|rd|th)(?=[.,;:!?)]|$| (?:and|or|at|please|if|so)(?![\\p{L}]))|fin (?:du|de) mois|fin de mes|final de mes|fine (?:del )?mese|tomorrow|today|tonight|EOD|EOW|übermorgen|morgen|heute|Monatsende|Jahresende|(?:the )?(?:(?:next|following|annual|board|${monthNames.flat().join('|')}) ){1,3}(?:meeting|sprint|call|session|Sitzung|Treffen)|(?:zur |bis zur )?nächsten Sitzung|noon|midday|\\d{1,2}(?::\\d{2})? ?(?:am|pm|Uhr)|${monthNames
    .flat()
    .filter((name) => name.length > 3 && name !== 'March')
    .join('|')})(?![\\p{L}])`,
  'u',
);
const dueLead =
  /(?<![\p{L}])(?:by|before|until|till|due(?: on| by| date)?|no later than|not later than|deadline|on|to(?= the next (?:meeting|session))|latest|bis(?: zum| zur| spätestens)?|spätestens(?: am| bis)?|avant(?: le)?|d['’]ici(?: au| le)?|jusqu['’]au|au plus tard(?: le)?|antes del?|hasta(?: el)?|para el|a más tardar(?: el)?|entro(?: il)?|prima del?|fino al?|non oltre(?: il)?|vor|frist|am|fällig(?: am)?|in|within|innerhalb von|binnen|at|for|:)(?:[ :]{1,2}|(?<=entro) l['’]| l['’])(?:the |den |dem |der |le |el |il |la |l['’])?/giu;

const countedTime = new RegExp(
  `^(?:\\d{1,3}|an?|${numberWord}) (?:working |business )?(?:days?|weeks?|hours?|months?|Tagen?|Wochen?)(?![\\p{L}])`,
  'u',
);
const subordinate =
  /(?<![\p{L}])(?:(?:whether|because|in case|if(?! (?:possible|you can))|ob|weil|(?:falls|wenn)(?! möglich))(?![\p{L}])(?:[^,;.]|(?<=\d)\.){0,300}|(?:which|that (?:ends?|expires?|runs?|starts?|begins?|lasts?|is valid))(?![\p{L}])(?:[^,;.]|(?<=\d)\.){0,300}?(?= by |[,;.]|$))/giu;

/** The text with blanks in place of clauses whose dates are about something else: "whether the hall is free until 3 May". */
function mainClauses(text: string): string {
  return text.replace(subordinate, (clause) => ' '.repeat(clause.length));
}

/** "Book the room (Friday)", "new pictures (end of March)": a time without a word before it, at the end. */
const atEnd = new RegExp(
  `(?:[,(–-] ?| )(tomorrow|today|EOD|EOW|(?:next|this) (?:week|weekend|month)|(?:diese|nächste) Woche|cette semaine|end of (?:the )?(?:week|month|day)|(?:end of|Ende|fin|fine di) (?:${monthNames.flat().join('|')})|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)[).]{0,2}$`,
  'u',
);

/** "by Friday 14 March": the deadline of a sentence as written; null where there is none. */
export function findDeadline(written: string): { written: string; date: FoundDate | null } | null {
  const text = mainClauses(written.slice(0, maxReadChars));
  const dates = findDates(text);
  const strong =
    /^(?:by|before|until|till|due|no later|not later|deadline|latest|bis|spätestens|vor|frist|fällig|avant|d['’]ici|jusqu|au plus|antes|hasta|para el|a más|entro|prima|fino|non oltre)/i;
  let weak: { written: string; date: FoundDate | null } | null = null;
  for (const match of text.matchAll(dueLead)) {
    const from = match.index + match[0].length;
    const date = dates.find(({ index }) => index >= match.index && index <= from + 1);
    const rest = text.slice(from, from + 60);
    const word = date === undefined ? relative.exec(rest) : null;
    const isNear = word !== null && word.index === 0;
    const within = countedTime.exec(/^(?:within|in|innerhalb von|binnen) /i.test(match[0]) ? rest : '');
    const hit =
      date !== undefined
        ? { written: date.written, date }
        : isNear
          ? { written: word![0], date: null }
          : within !== null
            ? { written: `${match[0].trim()} ${within[0]}`, date: null }
            : null;
    if (hit === null) continue;
    if (strong.test(match[0])) return hit;
    const isMeeting = /(?:meeting|session|Sitzung|Treffen)$/.test(hit.written);
    weak ??= /^(?:at|in|for) /i.test(match[0]) && date === undefined && within === null && !isMeeting ? null : hit;
  }
  if (weak !== null) return weak;
  // A date alone at the end, or in brackets: "Book the room (Anna, 3 April)".
  const last = dates.at(-1);
  if (last !== undefined && text.length - (last.index + last.written.length) <= 2) return { written: last.written, date: last };
  const tail = atEnd.exec(text.slice(-40));
  return tail === null ? null : { written: tail[1]!, date: null };
}
