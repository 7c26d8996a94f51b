/** Statements of one text that do not fit together, by rules that reckon with its figures and dates. Each names the lines it rests on. */
import { exact } from '../figure.ts';
import { differingMeasures } from './checks/same-thing.ts';
import { financings, rightFinancings, wrongFinancings } from './checks/sources.ts';
import { statedResults, wrongResults } from './checks/stated-results.ts';
import { statedTwice } from './checks/stated-twice.ts';
import { listedTotals, rightTotals, wrongTotals } from './checks/totals.ts';
import { votesAgainstPresent, votesCompared } from './checks/votes.ts';
import type { DateFact, Quote, TextFacts } from './facts.ts';
import type { Passage } from './passages.ts';

/** What the rules check. */
export const checkedByRules =
  'weekdays of dates, listed amounts against their total, sources of money against the cost, measures, dates and amounts of one thing, stated changes, products and shares, votes against those present, plans within a closed period, and tasks of absent persons';
/** Kinds of text in which a later statement does not replace an earlier one. */
const withoutChanges: ReadonlySet<TextFacts['kind']> = new Set(['prose', 'minutes', 'contract', 'documentation']);
const maxRight = 6;
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const closed =
  /(?<![\p{L}])(?:\p{L}{0,20}freeze|closed|closure|shutdown|shut down|on leave|on holiday|vacation|blackout|geschlossen|Betriebsferien|\p{L}{0,20}sperre)(?![\p{L}])/iu;
const planned =
  /(?<![\p{L}])(?:go-live|set for|planned for|scheduled|launch|roll-?out|takes place|will be held|findet statt|geplant)(?![\p{L}])/iu;

export function contradictionsIn(facts: TextFacts, passages: readonly Passage[]): Quote[] {
  return [
    ...wrongWeekdays(facts),
    ...wrongTotals(passages),
    ...wrongFinancings(passages),
    ...wrongResults(passages),
    ...differingMeasures(passages),
    ...(withoutChanges.has(facts.kind) && facts.logbook === null ? statedTwice(passages) : []),
    ...votesAgainstPresent(passages, facts.present),
    ...plansInClosedPeriods(facts.dates),
    ...tasksOfAbsent(facts),
  ].toSorted((a, b) => a.line - b.line);
}

const namesWeekday = /(?<![\p{L}])(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|\p{L}{3,8}tag|Mittwoch)(?![\p{L}])/iu;

/** What of this text the rules could check: nothing is said of kinds that it has none of. */
export function checkedIn(facts: TextFacts, passages: readonly Passage[]): string {
  const totals = listedTotals(passages).length + financings(passages).length;
  const weekdaysNamed = facts.dates.filter(({ written }) => namesWeekday.test(written)).length;
  const results = statedResults(passages).length;
  const votes = votesCompared(passages, facts.present);
  const periods = closedPeriods(facts.dates).length;
  const absent = facts.actions.length === 0 ? 0 : facts.absent.length;
  const kinds: readonly (readonly [string, number])[] = [
    ['weekdays of dates', weekdaysNamed],
    ['totals', totals],
    ['stated changes, products or shares', results],
    ['votes against those present', votes],
    ['closed periods', periods],
    ['absent persons', absent],
  ];
  const checked = kinds.flatMap(([name, count]) => (count === 0 ? [] : [`${name} (${exact(count)})`]));
  const all = checked.length === 0 ? 'Nothing in the text could be checked' : `Checked: ${checked.join(', ')}`;
  const right = [...rightTotals(passages), ...rightFinancings(passages)].slice(0, maxRight);
  return [totals === 0 && checked.length > 0 ? `${all}. No total could be checked` : all, ...right].join('. ');
}

function wrongWeekdays({ dates }: TextFacts): Quote[] {
  return dates.flatMap(({ written, note, line }) => {
    const iso = /^the weekday does not fit (\d{4}-\d{2}-\d{2})$/.exec(note)?.[1];
    return iso === undefined ? [] : [{ text: `"${written}": ${iso} is a ${weekdays[new Date(`${iso}T00:00:00Z`).getUTCDay()]}.`, line }];
  });
}

type Period = { from: DateFact; to: DateFact };

function closedPeriods(dates: readonly DateFact[]): Period[] {
  return dates.flatMap((from, i) => {
    const to = dates[i + 1];
    if (to === undefined || to.text !== from.text || from.iso === null || to.iso === null || from.iso >= to.iso) return [];
    const isSpan = [' to ', ' and ', ' until ', ' bis ', ' – ', ' - '].some((word) =>
      from.text.includes(`${from.written}${word}${to.written}`),
    );
    return isSpan && closed.test(from.text) ? [{ from, to }] : [];
  });
}

/** "The go-live is set for 1 July. The IT freeze runs from 24 June to 5 July." */
function plansInClosedPeriods(dates: readonly DateFact[]): Quote[] {
  return closedPeriods(dates).flatMap(({ from, to }) =>
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
