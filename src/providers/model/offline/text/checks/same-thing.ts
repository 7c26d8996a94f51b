/** One thing that a text measures twice with different figures: "38 kilometres of ditches" and "the ditches, 36 kilometres in all". */
import { type Amount, isMoney } from '../amounts.ts';
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { cited } from '../questions/told.ts';
import { stem } from '../stem.ts';

/** "38 kilometres of drainage ditches": the last word before the clause goes on. */
const measured =
  /^ (?:of|von) (?:(?:the|our|its|old|new|den|der) )?(?<noun>\p{L}{4,30}(?: \p{L}{4,30})?)(?=[,.;:)]| (?:and|or|in|on|at|for|to|was|were|und|oder|im|in|wurden?)(?![\p{L}])|$)/u;
/** "The ditches, 36 kilometres in all". */
const wholeOf = /(?:^|[.;,] )(?:The|the|All|all|Die|die|Der|Das) (?:\p{L}{2,20} ){0,2}(?<noun>\p{L}{4,30}), $/u;
const inAll = /^ (?:in all|in total|altogether|all told|insgesamt)(?![\p{L}])/u;
/** Some of them, or those of another time. */
const partly =
  /(?<![\p{L}])(?:first|further|another|more|additional|other|so far|remaining|last year|up from|of which|davon|weitere[rn]?|erste[rn]?|bisher)(?![\p{L}])/iu;

export function differingMeasures(passages: readonly Passage[]): Quote[] {
  const wholes = passages.flatMap((passage) => passage.amounts.flatMap((amount) => thing(passage, amount, isWhole)));
  if (wholes.length === 0) return [];
  const parts = passages.flatMap((passage) => passage.amounts.flatMap((amount) => thing(passage, amount, isMeasured)));
  return wholes.flatMap((whole) =>
    parts
      .filter(({ noun, amount }) => noun === whole.noun && amount.unit === whole.amount.unit && amount.value !== whole.amount.value)
      .slice(0, 1)
      .map((part) => ({
        text: `The text says ${part.amount.written} (${cited(part.passage)}) and ${whole.amount.written} (${cited(whole.passage)}) of the same thing.`,
        line: Math.max(part.passage.line, whole.passage.line),
      })),
  );
}

type Thing = { noun: string; amount: Amount; passage: Passage };

function thing(passage: Passage, amount: Amount, nounOf: (text: string, amount: Amount) => string | null): Thing[] {
  if (amount.unit === '' || amount.unit === '%' || isMoney(amount) || partly.test(passage.text)) return [];
  const noun = nounOf(passage.text, amount);
  return noun === null ? [] : [{ noun: stem(noun.toLowerCase()), amount, passage }];
}

function isMeasured(text: string, { index, written }: Amount): string | null {
  const end = index + written.length;
  return (
    measured
      .exec(text.slice(end, end + 80))
      ?.groups?.noun?.split(' ')
      .at(-1) ?? null
  );
}

function isWhole(text: string, { index, written }: Amount): string | null {
  const end = index + written.length;
  return inAll.test(text.slice(end, end + 20)) ? (wholeOf.exec(text.slice(Math.max(0, index - 80), index))?.groups?.noun ?? null) : null;
}
