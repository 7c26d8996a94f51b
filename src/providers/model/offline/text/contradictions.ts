/** Statements of one text that do not fit together, by rules that reckon with its figures and dates. Each names the lines it rests on. */
import { exact } from '../figure.ts';
import { amountOf } from './compare-fields.ts';
import type { DateFact, FigureFact, Quote, TextFacts } from './facts.ts';

/** What the rules check; told where they find nothing. */
export const checkedByRules =
  'weekdays of dates, sums of amounts listed in the sentence before, plans within a closed period, and tasks of absent persons';
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const summing = /(?<![\p{L}])(?:makes?|in total|altogether|sums? up|adds? up|zusammen|insgesamt|macht|ergibt)(?![\p{L}])/iu;
const remaining = /(?<![\p{L}])(?:remains?|left|rest|übrig|bleiben|verbleiben)(?![\p{L}])/iu;
const closed =
  /(?<![\p{L}])(?:\p{L}{0,20}freeze|closed|closure|shutdown|shut down|on leave|on holiday|vacation|blackout|geschlossen|Betriebsferien|\p{L}{0,20}sperre)(?![\p{L}])/iu;
const planned =
  /(?<![\p{L}])(?:go-live|set for|planned for|scheduled|launch|roll-?out|takes place|will be held|findet statt|geplant)(?![\p{L}])/iu;

export function contradictionsIn(facts: TextFacts): Quote[] {
  return [...wrongWeekdays(facts), ...wrongSums(facts.figures), ...plansInClosedPeriods(facts.dates), ...tasksOfAbsent(facts)].toSorted(
    (a, b) => a.line - b.line,
  );
}

function wrongWeekdays({ dates }: TextFacts): Quote[] {
  return dates.flatMap(({ written, note, line }) => {
    const iso = /^the weekday does not fit (\d{4}-\d{2}-\d{2})$/.exec(note)?.[1];
    return iso === undefined ? [] : [{ text: `"${written}": ${iso} is a ${weekdays[new Date(`${iso}T00:00:00Z`).getUTCDay()]}.`, line }];
  });
}

/** "A 10, B 20, C 30. That makes 70, so 30 remain." Only sentences whose figures are all amounts of one unit are added up. */
function wrongSums(figures: readonly FigureFact[]): Quote[] {
  const sentences: FigureFact[][] = [];
  for (const figure of figures) {
    const open = sentences.at(-1);
    if (open !== undefined && open[0]!.text === figure.text && open[0]!.line === figure.line) open.push(figure);
    else sentences.push([figure]);
  }
  return sentences.flatMap((sentence, i) => {
    const [before, { text, line }] = [sentences[i - 1], sentence[0]!];
    if (before === undefined || before.length < 3 || line - before[0]!.line > 1 || !summing.test(text)) return [];
    const parts = before.map(({ written }) => amountOf(written));
    const [total, rest] = sentence.map(({ written }) => amountOf(written));
    if (total === null || total === undefined || total.unit === '') return [];
    if (parts.some((part) => part === null || part.unit !== total.unit)) return [];
    const sum = Number(parts.reduce((all, part) => all + part!.value, 0).toFixed(6));
    if (sum === total.value) return [];
    const found = `The ${parts.length} amounts of line ${before[0]!.line} (${before.map(({ written }) => written).join(', ')}) add up to ${total.unit} ${exact(sum)}; the text says ${sentence[0]!.written}.`;
    if (rest === null || rest === undefined || rest.unit !== total.unit || !remaining.test(text)) return [{ text: found, line }];
    const whole = sentences
      .slice(0, i - 1)
      .flat()
      .map(({ written }) => amountOf(written))
      .find((each) => each !== null && each.unit === total.unit && each.value - total.value === rest.value);
    const left =
      whole === null || whole === undefined
        ? ''
        : ` So ${total.unit} ${exact(whole.value - sum)} of ${total.unit} ${exact(whole.value)} remain, not ${sentence[1]!.written}.`;
    return [{ text: `${found}${left}`, line }];
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
