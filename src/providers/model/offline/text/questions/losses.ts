/** Money that was lost: what the text says of it, or an estimate from those affected, those who came back, and an average value. */
import { exact } from '../../figure.ts';
import { type Amount, exactly, inNotationOf, isMoney } from '../amounts.ts';
import type { Passage } from '../passages.ts';
import { cited, quotesShort, quoteTable, type Told } from './told.ts';

const lost = /(?<![\p{L}])(?:lost|loss|losses|lose|missed|foregone|verloren|Verlust\p{L}{0,2}|entgangen\p{L}{0,2})(?![\p{L}])/iu;
const failed =
  /(?<![\p{L}])(?:failed|failing|could not|affected|turned away|money back|refund(?:s|ed)?|cancelled|without|gescheitert|betroffen|fehlgeschlagen)(?![\p{L}])/iu;
const returned =
  /(?<![\p{L}])(?:came back|returned|ordered|bought|paid|rebooked|booked|later|kamen wieder|bestellten|kauften)(?![\p{L}])/iu;
const average = /(?<![\p{L}])(?:average|mean|typical|usual|durchschnittlich\p{L}{0,2}|Durchschnitt|im Schnitt)(?![\p{L}])/iu;
const people =
  /^ (?:different |unique |separate |verschiedene[nr]? )?(?:customers?|users?|guests?|clients?|visitors?|households?|people|persons?|members?|passengers?|Kunden|Kundinnen|Nutzer|Gäste|Besucher)(?![\p{L}])/iu;
const ofThem = /^ (?:of (?:these|those|them|the)|davon|von (?:ihnen|diesen))(?![\p{L}])/iu;
const without = 'The text does not say how much money was lost';

const summaryHeading = /^(?:executive )?(?:summary|abstract|overview|zusammenfassung|kurzfassung)/i;

type Found = { amount: Amount; passage: Passage };

export function lossOf(passages: readonly Passage[]): Told {
  const stated = passages.filter(({ text, amounts }) => lost.test(text) && amounts.some(isMoney));
  if (stated.length > 0) return { short: `the text says: ${quotesShort(stated)}`, lines: ['The text says:', '', quoteTable(stated)] };
  // The figures of a summary are not the details.
  const details = passages.filter(({ section }) => !summaryHeading.test(section));
  const affected = first(details, (text, amount) => failed.test(text) && people.test(after(text, amount)));
  const back = first(details, (text, amount) => returned.test(text) && ofThem.test(after(text, amount)));
  const value = first(details, (text, amount) => average.test(text) && isMoney(amount));
  if (affected === null || value === null) return { short: without.toLowerCase(), lines: [`${without}.`] };
  const isPart = back !== null && back.amount.value < affected.amount.value;
  const gone = isPart ? affected.amount.value - back.amount.value : affected.amount.value;
  const sum = exactly(gone * value.amount.value);
  const counted = isPart
    ? `${exact(affected.amount.value)} (${cited(affected.passage)}) less ${exact(back.amount.value)} (${cited(back.passage)}) leaves ${exact(gone)}`
    : `${exact(gone)} are affected (${cited(affected.passage)})`;
  const estimate = `${exact(gone)} × ${value.amount.written} = ${inNotationOf(value.amount, sum)}`;
  return {
    short: `${without.toLowerCase()}; a rough estimate is ${estimate}`,
    lines: [
      `- ${without}. It can only be estimated.`,
      `- ${counted}.`,
      `- At the average value (${cited(value.passage)}) that is ${estimate}, if it holds for each of them.`,
    ],
  };
}

function first(passages: readonly Passage[], fits: (text: string, amount: Amount) => boolean): Found | null {
  for (const passage of passages) for (const amount of passage.amounts) if (fits(passage.text, amount)) return { amount, passage };
  return null;
}

function after(text: string, { index, written }: Amount): string {
  return text.slice(index + written.length, index + written.length + 60);
}
