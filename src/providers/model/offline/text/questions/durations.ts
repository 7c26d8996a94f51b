/** Lengths of time between two entries of a timeline, found by the words of the question. */
import { exact } from '../../figure.ts';
import { type ClockEvent, clockEvents, type Roles, rolesOf } from '../clock-events.ts';
import type { Quote } from '../facts.ts';
import { countingWord, numberOfWord } from '../number-words.ts';
import type { Passage } from '../passages.ts';
import { stemsInCommon, stemsOf } from '../stem.ts';
import { cited, type Told } from './told.ts';

const fewestEvents = 3;
const bounds: readonly RegExp[] = [
  /(?<![\p{L}])(?:from|between|von|zwischen) (?<from>[^,.;?]{2,80}?) (?:to|until|till|and|bis|und) (?<to>[^,.;?]{2,80})/iu,
  /(?<![\p{L}])(?:until|till|before|bis) (?<to>[^,.;?]{2,80})/iu,
];
const asked: readonly (readonly [RegExp, readonly (keyof Roles)[]])[] = [
  [
    /(?<![\p{L}])(?:work(?:ed|ing|s)? on|technical|engineer|technician|expert|react\p{L}{0,3}|respond\p{L}{0,3}|started work|Techniker\p{L}{0,2})(?![\p{L}])/iu,
    ['work'],
  ],
  [/(?<![\p{L}])(?:cause|diagnos\p{L}{1,3}|fault was found|Ursache)(?![\p{L}])/iu, ['found']],
  [
    /(?<![\p{L}])(?:notic\p{L}{1,3}|detect\p{L}{1,4}|discover\p{L}{1,3}|report(?:ed)?|complaint|alarm|alert|bemerkt|gemeldet)(?![\p{L}])/iu,
    ['noticed'],
  ],
  [
    /(?<![\p{L}])(?:repair\p{L}{0,3}|fix\p{L}{0,3}|restor\p{L}{1,6}|solv\p{L}{1,2}|resolv\p{L}{1,2}|solution|recover\p{L}{0,3}|again|normal|over|end|behoben|Reparatur)(?![\p{L}])/iu,
    ['success', 'repair'],
  ],
  [/(?<![\p{L}])(?:start|begin|beginning|outage|failure|disruption|incident|Beginn|Ausfall)(?![\p{L}])/iu, ['start']],
];
const affected =
  /(?<![\p{L}])(?:could not|couldn't|(?:had|has|have) no|unable|down|outage|unavailable|without|closed|shut|last(?:ed)?|interrupted|disruption|incident|ausgefallen|Ausfall|dauerte)(?![\p{L}])/iu;
const summaryHeading = /^(?:executive )?(?:summary|abstract|overview|in short|zusammenfassung|kurzfassung|überblick)/i;
const statedDuration = new RegExp(
  `(?<![\\p{L}\\p{N}.,])(\\d{1,3}(?:[.,]\\d)?|one|an|eine|einer|${countingWord})(?: and a half| ½)?[ -](hours?|minutes?|Stunden?|Minuten?|h|min)(?![\\p{L}])`,
  'iu',
);
const closing = /(?<![\p{L}])(?:closed|closes|shut|evacuated|gesperrt|geschlossen)(?![\p{L}])/iu;
const opening = /(?<![\p{L}])(?:opened|opens|open again|reopen(?:s|ed)|wieder (?:geöffnet|offen|frei))(?![\p{L}])/iu;
const approximation = 0.15;

type Span = { from: ClockEvent; to: ClockEvent };

/** Answers questions on one timeline in their order: "from then" is the end of the answer before. */
export class Durations {
  private readonly events: readonly ClockEvent[];
  private readonly roles: Roles;
  private last: ClockEvent | null = null;

  constructor(passages: readonly Passage[], year: string | null) {
    this.events = clockEvents(passages, year);
    this.roles = rolesOf(this.events);
  }

  get isTimeline(): boolean {
    return this.events.length >= fewestEvents;
  }

  answer(clause: string): Told {
    const named = bounds.map((form) => form.exec(clause)?.groups).find((groups) => groups !== undefined);
    const whole = named === undefined && affected.test(clause) ? this.effect(clause) : null;
    const from = named?.from === undefined ? this.roles.start : this.resolve(named.from)[0];
    const ends = this.resolve(named?.to ?? clause);
    const spans =
      whole !== null
        ? [whole]
        : ends.flatMap((to) => (from === undefined || from === null || to.minutes <= from.minutes ? [] : [{ from, to }]));
    if (spans.length === 0)
      return {
        short: 'no two times of the timeline fit the words of this question',
        lines: ['No two times of the timeline fit the words of this question.'],
      };
    this.last = spans[0]!.to;
    const lines = spans.map(spanText);
    return { short: lines.join('; '), lines: lines.map((line) => `- ${line}.`) };
  }

  /** A duration that the summary states and that is not that of the timeline. */
  contradiction(passages: readonly Passage[]): Quote[] {
    return passages.flatMap((passage) => {
      const stated = summaryHeading.test(passage.section) && affected.test(passage.text) ? statedDuration.exec(passage.text) : null;
      const value = stated === null ? null : minutesOf(stated);
      const whole = value === null ? null : this.effect(passage.text);
      if (value === null || whole === null) return [];
      const minutes = whole.to.minutes - whole.from.minutes;
      if (Math.abs(value - minutes) <= minutes * approximation) return [];
      return [
        {
          text: `The summary says "${stated![0]}" (${cited(passage)}); by the times of the text it is ${spanText(whole)}.`,
          line: passage.line,
        },
      ];
    });
  }

  /** From the beginning to the end of what the words name: a closure, or else the failure. */
  private effect(words: string): Span | null {
    const closed = closing.test(words) ? this.events.find(({ text }) => closing.test(text) && !opening.test(text)) : undefined;
    const opened = closed && this.events.find(({ text, minutes }) => minutes > closed.minutes && opening.test(text));
    if (closed !== undefined && opened !== undefined) return { from: closed, to: opened };
    const { start, success, repair } = this.roles;
    const end = success ?? repair;
    return start === null || end === null || end.minutes <= start.minutes ? null : { from: start, to: end };
  }

  /** The entries that words mean: by their role, otherwise by the most words in common. */
  private resolve(phrase: string): ClockEvent[] {
    if (/^(?:then|that|there|da|dann|dort)(?![\p{L}])/iu.test(phrase)) return this.last === null ? [] : [this.last];
    const wanted = stemsOf(phrase);
    const rated = this.events.map((event) => ({ event, common: stemsInCommon(event.text, wanted) }));
    const best = Math.max(0, ...rated.map(({ common }) => common));
    const matching = rated.filter(({ common }) => common === best);
    const byWords = best === 0 || matching.length > 1 ? [] : [matching[0]!.event];
    if (best > 1 && byWords.length > 0) return byWords;
    const roles = asked.find(([rule]) => rule.test(phrase))?.[1] ?? [];
    const byRole = roles.flatMap((role) => this.roles[role] ?? []);
    return byRole.length > 0 ? byRole : byWords;
  }
}

function spanText({ from, to }: Span): string {
  const minutes = to.minutes - from.minutes;
  return `${lengthOf(minutes)}, from ${from.time} (${cited(from)}) to ${to.time} (${cited(to)})`;
}

function lengthOf(minutes: number): string {
  if (minutes < 60) return `${exact(minutes)} minutes`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`} (${exact(minutes)} minutes)`;
}

function minutesOf([written, count, unit]: RegExpExecArray): number | null {
  const value = numberOfWord(count!) ?? Number(count!.replace(',', '.'));
  if (Number.isNaN(value)) return null;
  const half = / and a half| ½/.test(written) ? 0.5 : 0;
  return (value + half) * (/^[hs]/i.test(unit!) ? 60 : 1);
}
