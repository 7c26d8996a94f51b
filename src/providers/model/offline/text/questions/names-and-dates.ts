/** Who is involved, each with the sentence that says who it is, and the dates of a text with what happens then. */
import { exact, markdownTable, safe } from '../../figure.ts';
import { findDates } from '../dates.ts';
import type { TextFacts } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

const maxNames = 30;
const maxQuoteChars = 300;

/** Null where the text names nobody. */
export function peopleWithRoles({ people, absent, otherNames }: TextFacts, passages: readonly Passage[]): Told | null {
  const all = [...people, ...absent].slice(0, maxNames);
  const others = otherNames.slice(0, maxNames).map(({ text }) => text);
  if (all.length + others.length === 0) return null;
  const rows = all.map(({ text: name, line }) => [
    safe(name),
    safe((passages.find(({ text }) => text.includes(name))?.text ?? '').slice(0, maxQuoteChars)),
    exact(line),
  ]);
  const named =
    others.length === 0 ? [] : [`Other names (places, organisations and others, not told apart): ${others.map(safe).join(', ')}.`];
  return {
    short: [...all.map(({ text }) => text), ...others].join(', '),
    lines: [...(rows.length === 0 ? [] : [markdownTable(['Name', 'First named in', 'Line'], rows), '']), ...named],
    sections: ['People', 'Other names (places, organisations and others, by their capitals; not told apart)'],
  };
}

const nextMeeting =
  /(?<![\p{L}])(?:next (?:\p{L}{1,12} )?(?:meeting|session|sitting)|nächste[rns]? (?:\p{L}{1,12})?(?:[Ss]itzung|[Tt]reffen|[Tt]ermin)|prochaine réunion|próxima reunión|prossima riunione|volgende vergadering|próxima reunião)(?![\p{L}])/iu;

/** The sentences on the next meeting that have a date, or else all on it; null where there are none. */
export function nextMeetingOf(passages: readonly Passage[]): Told | null {
  const about = quotesWhere(passages, ({ text }) => nextMeeting.test(text.slice(0, 1000)));
  const dated = about.filter(({ text }) => findDates(text).length > 0);
  const told = dated.length > 0 ? dated : about;
  return told.length === 0 ? null : { short: quotesShort(told), lines: [quoteTable(told)] };
}

/** The dates of one sentence together; null where the text has none. */
export function datesOf({ dates }: TextFacts): Told | null {
  if (dates.length === 0) return null;
  const sentences = [...Map.groupBy(dates, ({ text, line }) => `${line} ${text}`).values()];
  const days = (each: TextFacts['dates']) =>
    each.map(({ written, iso }) => (iso === null || iso === written ? written : `${written} (${iso})`)).join('; ');
  return {
    short: sentences.map((each) => `${days(each)}: ${each[0]!.text.slice(0, 200)}`).join(' | '),
    lines: [
      markdownTable(
        ['When', 'As written', 'Line'],
        sentences.map((each) => [safe(days(each)), safe(each[0]!.text.slice(0, maxQuoteChars)), exact(each[0]!.line)]),
      ),
    ],
    sections: ['Dates'],
  };
}
