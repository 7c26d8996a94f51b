/** Listed amounts against the total that the text states for them. */
import { type Amount, exactly, inNotationOf } from '../amounts.ts';
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';

const leading =
  /(?<![\p{L}])(?:in total|a total of|total(?:ling|s| is| of)?|altogether|together|that makes|makes|adds? up to|sums? up to|comes? to|in all|zusammen|insgesamt|macht|ergibt)(?![\p{L}])[:,]?/iu;
/** What a sentence begins with that sums up the sentence before. */
const opening =
  /^(?:(?:so |thus |also )?(?:that|this|these|they|all of (?:this|it)|the (?:total|sum)|in total|altogether|together|all in all|das|dies|zusammen|insgesamt|die Summe)|so|also) (?!would|could|might|würde|könnte)/iu;
const trailing = /^ (?:in total|altogether|in all|all told|together|insgesamt|zusammen)(?![\p{L}])/iu;
const totalLine = /^(?:grand )?(?:total|sum|in total|altogether|overall|gesamt|gesamtsumme|summe|insgesamt|zusammen)(?![\p{L}])/iu;
/** With such words some of the amounts are no items of the list. */
const noPlainList =
  /(?<![\p{L}])(?:of which|of them|of these|including|includes?|minus|less|discount|without|instead|left|resigned|per|each|before|after|from|between|average|davon|darunter|abzüglich|Rabatt|ohne|je|pro|statt|von)(?![\p{L}])/iu;
const remaining = /(?<![\p{L}])(?:remains?|left|rest|übrig|bleiben|verbleiben)(?![\p{L}])/iu;
const nearChars = 25;
const fewest = 3;

/** A list of amounts with its stated total; `sum` is what the amounts really add up to. */
export type ListedTotal = { parts: Amount[]; from: number; total: Amount; sum: number; line: number; section: string; at: number };

export function wrongTotals(passages: readonly Passage[]): Quote[] {
  return listedTotals(passages).flatMap((listed) => {
    const { total, sum, line } = listed;
    if (sum === total.value) return [];
    const off = exactly(Math.abs(total.value - sum));
    const found = `${named(listed)} add up to ${inNotationOf(total, sum)}; the text says ${total.written}, ${inNotationOf(total, off)} too ${total.value > sum ? 'much' : 'little'}.`;
    return [{ text: `${found}${remainder(passages, listed)}`, line }];
  });
}

/** What adds up to its stated total. */
export function rightTotals(passages: readonly Passage[]): string[] {
  return listedTotals(passages).flatMap((listed) => {
    const { total, sum } = listed;
    return sum === total.value ? [`${named(listed)} add up to ${total.written}, as stated`] : [];
  });
}

function named({ parts, from }: ListedTotal): string {
  return `The ${parts.length} amounts of line ${from} (${parts.map(({ written }) => written).join(', ')})`;
}

export function listedTotals(passages: readonly Passage[]): ListedTotal[] {
  return passages.flatMap((passage) => {
    const listed = inSentence(passage) ?? ofSentenceBefore(passages, passage) ?? ofLines(passages, passage);
    return listed === null ? [] : [listed];
  });
}

/** "Paint 120, brushes 40, lamps 90; in total 260 euros". */
function inSentence({ text, amounts, line, section, at }: Passage): ListedTotal | null {
  if (amounts.length < fewest) return null;
  const total = totalOf(text, amounts);
  if (total === null || noPlainList.test(text)) return null;
  const parts = partsOf(amounts.slice(0, amounts.indexOf(total)), total);
  return parts === null ? null : listedTotal(parts, line, total, { line, section, at });
}

/** "Ropes EUR 200, paint EUR 150, lamps EUR 300. That makes EUR 650." */
function ofSentenceBefore(passages: readonly Passage[], { text, amounts, line, section, at }: Passage): ListedTotal | null {
  const before = passages[at - 1];
  if (before === undefined || line - before.line > 1) return null;
  const total = opening.test(text) ? totalOf(text, amounts) : null;
  if (total === null || total !== amounts[0]) return null;
  const parts = [...before.amounts];
  const same = parts.length >= fewest && total.unit !== '' && parts.every(({ unit }) => unit === total.unit);
  return same ? listedTotal(parts, before.line, total, { line, section, at }) : null;
}

/** Lines with one amount each, and a line "Total: …" below. */
function ofLines(passages: readonly Passage[], { text, amounts, line, section, at }: Passage): ListedTotal | null {
  if (!totalLine.test(text)) return null;
  const [total, ...others] = amounts;
  if (total === undefined || others.length > 0) return null;
  const parts: Amount[] = [];
  let first = line;
  for (let i = at - 1; i >= 0 && passages[i]!.section === section && first - passages[i]!.line <= 2; i--) {
    const own = passages[i]!.amounts.filter(({ unit }) => unit === total.unit);
    // Another total ends the list, so no line is read for two totals.
    if (own.length !== 1 || totalLine.test(passages[i]!.text)) break;
    parts.push(own[0]!);
    first = passages[i]!.line;
  }
  return parts.length < 2 ? null : listedTotal(parts.toReversed(), first, total, { line, section, at });
}

function totalOf(text: string, amounts: readonly Amount[]): Amount | null {
  const found = leading.exec(text.slice(0, 2000));
  if (found !== null) {
    const end = found.index + found[0].length;
    const next = amounts.find(({ index }) => index >= end);
    if (next !== undefined && next.index - end <= nearChars) return next;
  }
  return amounts.find(({ index, written }) => trailing.test(text.slice(index + written.length, index + written.length + 20))) ?? null;
}

/** The items among the amounts before a total; null if it is unsure which ones they are. */
function partsOf(before: readonly Amount[], total: Amount): Amount[] | null {
  const same = before.filter(({ unit }) => unit === total.unit && unit !== '');
  const bare = before.filter(({ unit }) => unit === '');
  if (same.length + bare.length < before.length) return null;
  if (bare.length === 0) return same.length >= fewest ? same : null;
  // "2 pumps for 300 euros": the small figures without a unit count things.
  if (same.length >= 2) return bare.every(({ value }) => value < 100) && same.length >= fewest ? same : null;
  return before.length >= fewest ? [...before] : null;
}

function listedTotal(parts: Amount[], from: number, total: Amount, place: Pick<Passage, 'line' | 'section' | 'at'>): ListedTotal {
  return {
    parts,
    from,
    total,
    sum: exactly(parts.reduce((sum, { value }) => sum + value, 0)),
    line: place.line,
    section: place.section,
    at: place.at,
  };
}

/** What really remains, where the sentence says what remains of an amount named before. */
function remainder(passages: readonly Passage[], { total, sum, at }: ListedTotal): string {
  const { text, amounts } = passages[at]!;
  const rest = amounts.find(({ index, unit }) => index > total.index && unit === total.unit);
  if (rest === undefined || !remaining.test(text)) return '';
  const whole = passages
    .slice(Math.max(0, at - 10), at)
    .flatMap((passage) => passage.amounts)
    .find(({ unit, value }) => unit === total.unit && exactly(value - total.value) === rest.value);
  return whole === undefined
    ? ''
    : ` So ${inNotationOf(rest, exactly(whole.value - sum))} of ${whole.written} remain, not ${rest.written}.`;
}
