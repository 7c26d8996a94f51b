/** Statements of one text that do not fit together, by rules that reckon with its figures and dates. Each names the lines it rests on. */
import { wrongResults } from './checks/stated-results.ts';
import { wrongTotals } from './checks/totals.ts';
import { votesAgainstPresent } from './checks/votes.ts';
import type { DateFact, Quote, TextFacts } from './facts.ts';
import type { Passage } from './passages.ts';

/** What the rules check; told where they find nothing. */
export const checkedByRules =
  'weekdays of dates, listed amounts against their total, stated changes, products and shares, votes against those present, plans within a closed period, and tasks of absent persons';
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const closed =
  /(?<![\p{L}])(?:\p{L}{0,20}freeze|closed|closure|shutdown|shut down|on leave|on holiday|vacation|blackout|geschlossen|Betriebsferien|\p{L}{0,20}sperre)(?![\p{L}])/iu;
const planned =
  /(?<![\p{L}])(?:go-live|set for|planned for|scheduled|launch|roll-?out|takes place|will be held|findet statt|geplant)(?![\p{L}])/iu;

export function contradictionsIn(facts: TextFacts, passages: readonly Passage[]): Quote[] {
  return [
    ...wrongWeekdays(facts),
    ...wrongTotals(passages),
    ...wrongResults(passages),
    ...votesAgainstPresent(passages, facts.present),
    ...plansInClosedPeriods(facts.dates),
    ...tasksOfAbsent(facts),
  ].toSorted((a, b) => a.line - b.line);
}

function wrongWeekdays({ dates }: TextFacts): Quote[] {
  return dates.flatMap(({ written, note, line }) => {
    const iso = /^the weekday does not fit (\d{4}-\d{2}-\d{2})$/.exec(note)?.[1];
    return iso === undefined ? [] : [{ text: `"${written}": ${iso} is a ${weekdays[new Date(`${iso}T00:00:00Z`).getUTCDay()]}.`, line }];
  });
}

/** "The go-live is set for 1 July. The IT freeze runs from 24 June to 5 July." */
function plansInClosedPeriods(dates: readonly DateFact[]): Quote[] {
  const periods = dates.flatMap((from, i) => {
    const to = dates[i + 1];
    if (to === undefined || to.text !== from.text || from.iso === null || to.iso === null || from.iso >= to.iso) return [];
    const isSpan = [' to ', ' and ', ' until ', ' bis ', ' – ', ' - '].some((word) =>
      from.text.includes(`${from.written}${word}${to.written}`),
    );
    return isSpan && closed.test(from.text) ? [{ from, to }] : [];
  });
  return periods.flatMap(({ from, to }) =>
    dates
      .filter(({ iso, text }) => iso !== null && iso >= from.iso! && iso <= to.iso! && text !== from.text && planned.test(text))
      .map(({ written, text, line }) => ({
        text: `${written} ("${text}") lies within ${from.written} to ${to.written} ("${from.text}", line ${from.line}).`,
        line,
      })),
  );
}

/** Somebody who was absent may not know of the task. A first name that a present person has too tells nobody. */
function tasksOfAbsent({ actions, absent, people }: TextFacts): Quote[] {
  const isPresent = (who: string) => people.some(({ text }) => text === who || text.split(' ')[0] === who);
  return actions.flatMap(({ who, what, line, done }) => {
    const away = who === null || isPresent(who) ? undefined : absent.find(({ text }) => text === who || text.split(' ')[0] === who);
    return away === undefined || done ? [] : [{ text: `${away.text} has a task ("${what}") but was absent (line ${away.line}).`, line }];
  });
}
