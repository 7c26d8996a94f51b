/** Results that a sentence states and that follow from its other figures: changes, products and shares. */
import { exact, round } from '../../figure.ts';
import { type Amount, exactly, inNotationOf } from '../amounts.ts';
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';

const changing =
  /^(?: (?:in|im|within|during|over) (?:the )?[\p{L}\p{N}]{1,15}(?: \d{4})?)?[ ,;(–—]{1,3}(?:(?:that is|i\.e\.|which is|or|so|also|das ist|das sind) )?(?:an? |ein |eine )?(?:(?:increase|rise|growth|gain|jump|decrease|drop|fall|decline|reduction|Anstieg|Rückgang|Zuwachs|Zunahme|Abnahme) (?:of|by|von|um) |by |up |plus |down |minus |um |Plus von |Minus von |[+−-])(?:about |roughly |nearly |some |rund |etwa )?$/iu;
const times = /^(?: \p{L}{1,20}){0,3} ?(?:x|×|times|at|à|mal|zu je|je|zu) $/u;
const product =
  /^(?: (?:each|apiece|per \p{L}{1,20}|a \p{L}{1,15}|je \p{L}{1,15}|pro \p{L}{1,15}))?[,;:)]? ?(?:=|makes?|that (?:is|makes|comes to)|which (?:is|makes)|this makes|in total|a total of|comes? to|insgesamt|macht|ergibt|das (?:sind|macht)) $/iu;
const partOf = /^(?: \p{L}{1,20}){0,2} (?:of|out of|von|der|von den) (?:the |these |all |our |den )?(?:\p{L}{1,15} )?$/iu;
const shareOf = /^(?: \p{L}{1,20}){0,4}(?: \(|, (?:that is|i\.e\.|or|das sind) )$/iu;
const approximate =
  /(?:about|around|roughly|nearly|almost|over|more than|less than|under|some|circa|ca\.|rund|etwa|fast|knapp|über|gut) $/iu;

export function wrongResults(passages: readonly Passage[]): Quote[] {
  return statedResults(passages).filter(({ text }) => text !== '');
}

/** Each result that can be checked, with what is wrong with it; the text is empty where it is right. */
export function statedResults(passages: readonly Passage[]): Quote[] {
  return passages.flatMap(({ text, line, amounts }) => {
    return amounts.flatMap((_, i) => {
      const found = change(text, amounts, i) ?? multiplied(text, amounts, i) ?? share(text, amounts, i);
      return found === null ? [] : [{ text: found, line }];
    });
  });
}

/** "rose from 200 to 250, an increase of 30 %", "rose by 30 %, from 200 to 250". */
function change(text: string, amounts: readonly Amount[], i: number): string | null {
  const [from, to] = [amounts[i]!, amounts[i + 1]];
  if (to === undefined || !/(?:from|von) $/i.test(text.slice(Math.max(0, from.index - 6), from.index))) return null;
  if (!/^(?: to | auf | bis )$/i.test(between(text, from, to)) || from.value === 0) return null;
  if (from.unit !== '' && from.unit !== to.unit) return null;
  const [before, after] = [amounts[i - 1], amounts[i + 2]];
  const stated =
    after !== undefined && changing.test(between(text, to, after))
      ? after
      : before !== undefined &&
          /(?:by|um) $/i.test(text.slice(Math.max(0, before.index - 4), before.index)) &&
          between(text, before, from).length <= 12
        ? before
        : undefined;
  if (stated === undefined || from.unit === '%') return null;
  const range = `from ${from.written} to ${to.written}`;
  if (stated.unit === '%') {
    const percent = (Math.abs(to.value - from.value) / from.value) * 100;
    return fits(stated, percent, text) ? '' : `The change ${range} is ${round(percent)} %; the text says ${stated.written}.`;
  }
  const difference = exactly(Math.abs(to.value - from.value));
  if (stated.unit !== to.unit && stated.unit !== from.unit) return null;
  if (fits(stated, difference, text)) return '';
  return `The difference ${range} is ${inNotationOf(stated, difference)}; the text says ${stated.written}.`;
}

/** "9 spaces at 65 euros, that makes 600 euros". */
function multiplied(text: string, amounts: readonly Amount[], i: number): string | null {
  const [count, each, all] = amounts.slice(i, i + 3);
  if (all === undefined || each!.unit !== all.unit || each!.unit === '' || count!.unit === each!.unit) return null;
  if (!times.test(between(text, count!, each!)) || !product.test(between(text, each!, all))) return null;
  const result = exactly(count!.value * each!.value);
  return fits(all, result, text)
    ? ''
    : `${exact(count!.value)} × ${each!.written} is ${inNotationOf(all, result)}; the text says ${all.written}.`;
}

/** "9 of 36 spaces (30 %)". */
function share(text: string, amounts: readonly Amount[], i: number): string | null {
  const [part, whole, stated] = amounts.slice(i, i + 3);
  if (stated === undefined || stated.unit !== '%' || whole!.value < part!.value || whole!.value === 0 || part!.unit === '%') return null;
  if (!partOf.test(between(text, part!, whole!)) || !shareOf.test(between(text, whole!, stated))) return null;
  const percent = (part!.value / whole!.value) * 100;
  return fits(stated, percent, text)
    ? ''
    : `${part!.written} of ${whole!.written} is ${round(percent)} %; the text says ${stated.written}.`;
}

function between(text: string, a: Amount, b: Amount): string {
  return text.slice(a.index + a.written.length, b.index);
}

/** Whether the stated figure is the result, rounded to its own decimals; one that is called approximate may be off by a tenth. */
function fits(stated: Amount, result: number, text: string): boolean {
  const decimals = /\d[.,](\d{1,2})(?!\d)/.exec(stated.written)?.[1]?.length ?? 0;
  const rounding = stated.unit === '%' ? 0.5 * 10 ** -decimals + 1e-9 : 0.005;
  const about = approximate.test(text.slice(Math.max(0, stated.index - 12), stated.index));
  return Math.abs(stated.value - result) <= (about ? Math.max(rounding, Math.abs(result) * 0.1) : rounding);
}
