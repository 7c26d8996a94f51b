/** The figures of a summary against those of the rest of the text. */
import type { Amount } from '../amounts.ts';
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { stemsInCommon, stemsOf } from '../stem.ts';
import { cited } from './told.ts';

const summaryHeading = /^(?:executive )?(?:summary|abstract|overview|in short|zusammenfassung|kurzfassung|überblick)/i;
const losing = /(?<![\p{L}])(?:lost|loss|fail(?:ed|ures?)|missed|cancelled|affected|could not|verloren|betroffen|ausgefallen)(?![\p{L}])/iu;
const duration = /^(?:minute|hour|day|stunde|minuten|tag|tagen)$/;
const maxRelated = 3;
const maxFigures = 12;

export function hasSummary(passages: readonly Passage[]): boolean {
  return passages.some(({ section }) => summaryHeading.test(section));
}

/** Figures that stand in the summary only, with the lines of the text that have figures on the same matter. */
export function figuresOnlyInSummary(passages: readonly Passage[]): Quote[] {
  const details = passages.filter(({ section, kind }) => !summaryHeading.test(section) && kind !== 'field');
  const known = new Set(details.flatMap(({ amounts }) => amounts.map(({ value }) => value)));
  const counting = details.filter(({ amounts }) => amounts.some(({ value }) => value >= 10));
  return passages
    .filter(({ section }) => summaryHeading.test(section))
    .flatMap((passage) =>
      passage.amounts.filter(({ value, unit }) => !known.has(value) && !duration.test(unit)).map((amount) => ({ passage, amount })),
    )
    .slice(0, maxFigures)
    .map(({ passage, amount }) => ({ text: onlyThere(passage, amount, counting), line: passage.line }));
}

function onlyThere(passage: Passage, amount: Amount, details: readonly Passage[]): string {
  const wanted = stemsOf(passage.text);
  const noun = nounAfter(passage.text, amount);
  const isLoss = losing.test(passage.text);
  const related = details
    .map((each) => ({
      each,
      common:
        stemsInCommon(each.text, wanted) +
        (isLoss && losing.test(each.text) ? 2 : 0) +
        (noun !== '' && each.amounts.some((other) => nounAfter(each.text, other) === noun) ? 2 : 0),
    }))
    .filter(({ common }) => common >= 2)
    .toSorted((a, b) => b.common - a.common || a.each.at - b.each.at)
    .slice(0, maxRelated)
    .map(({ each }) => cited(each));
  const lead = `The summary says ${amount.written}${noun === '' || amount.written.includes(noun) ? '' : ` ${noun}`} (${cited(passage)}); no other place of the text has this figure`;
  return related.length === 0 ? `${lead}.` : `${lead}. On the matter the text has: ${related.join('; ')}.`;
}

/** The word that a figure counts: "140 guests". */
function nounAfter(text: string, { index, written }: Amount): string {
  return /^ (\p{Ll}[\p{L}-]{2,25})/u.exec(text.slice(index + written.length, index + written.length + 30))?.[1] ?? '';
}
