/** The amounts that pay for something, in the sentences after its stated cost, against that cost. */
import { type Amount, exactly, inNotationOf, isMoney } from '../amounts.ts';
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';

const costing =
  /(?<![\p{L}])(?:costs?|costing|(?:total|overall) (?:cost|budget)|(?:cost|budget|price) (?:of|is|was)|kostet|kosten|Gesamtkosten)(?![\p{L}])/iu;
const giving =
  /(?<![\p{L}])(?:gives?|gave|pays?|paid|contributes?|contributed|provides?|provided|puts? in|adds?|raised|donates?|donated|grants?|granted|comes?|came|from|gibt|geben|zahlt|zahlen|trägt|tragen|steuert|spendet|spendeten|kommen|stammen)(?![\p{L}])/iu;
/** With such words an amount is no certain part of the cost, or is counted in another amount. */
const uncertain =
  /(?<![\p{L}])(?:about|around|roughly|nearly|almost|more than|less than|up to|at least|would|could|might|may|if|per|each|every|a year|annual(?:ly)?|of which|including|instead|average|rather than|rises?|rose|grows?|grew|increases?|increased|falls?|fell|drops?|dropped|steigt|stieg|wächst|wuchs|sinkt|sank|between|tickets?|etwa|rund|fast|bis zu|könnte|würde|falls|je|pro|davon|jährlich|statt)(?![\p{L}])/iu;
/** Before "cost": nothing has this cost. "Stopping the works now would cost 61 million". */
const conditional = /(?<![\p{L}])(?:would|could|might|may|würde|könnte)(?: (?:have|also|still|only|alone))? $/iu;
/** A section with such words says itself that its amounts are not the whole. */
const incomplete =
  /(?<![\p{L}])(?:rest|remainder|remaining|remains?|missing|short(?:fall)?|gap|lacks?|lacking|loans?|still (?:needs?|needed|to)|so far|fehlt|fehlen|Lücke|Kredit|übrig|bisher)(?![\p{L}])/iu;
/** "Two hundred thousand": an amount in words is not read, so the sum would lack it. */
const inWords = /(?<![\p{L}])(?:\p{L}{2,12} (?:hundred|thousand|million)|half a million|hundreds|thousands|dozens?)(?![\p{L}])/iu;
const scaled = /(?<![\p{L}])(?:million|billion|thousand|Millionen|Milliarden|Mio\.?|Mrd\.?|bn)$/iu;
const fewest = 3;
const maxSentences = 5;
/** The sources may stand in the next paragraph. */
const maxGap = 2;
/** Sources that make less of the cost are not meant to be all of them. */
const minShare = 0.6;

/** `sum` is what the sources really add up to. */
type Financing = { cost: Amount; sources: Amount[]; from: number; to: number; sum: number; line: number };

export function financings(passages: readonly Passage[]): Financing[] {
  return passages.flatMap((passage): Financing[] => {
    const { text, amounts, line, section, at } = passage;
    const [cost, ...others] = amounts.filter(isMoney);
    const stated = costing.exec(text)?.index;
    // "It has 32 bays, 12 more than before, and cost £48 million": only what is said of the cost may be uncertain.
    if (cost === undefined || others.length > 0 || stated === undefined) return [];
    if (conditional.test(text.slice(Math.max(0, stated - 20), stated)) || uncertain.test(text.slice(Math.min(stated, cost.index))))
      return [];
    const sources: Amount[] = [];
    let to = line;
    for (const next of passages.slice(at + 1, at + 1 + maxSentences)) {
      if (next.section !== section || next.line - to > maxGap || next.amounts.length === 0 || !giving.test(next.text)) break;
      if (uncertain.test(next.text) || inWords.test(next.text) || next.amounts.some((source) => !isPart(source, cost))) return [];
      sources.push(...next.amounts);
      to = next.line;
    }
    const sum = exactly(sources.reduce((all, { value }) => all + value, 0));
    if (sources.length < fewest || sum < cost.value * minShare) return [];
    if (sum !== cost.value && passages.some(({ section: other, text: own }) => other === section && incomplete.test(own))) return [];
    return [{ cost, sources, from: passages[at + 1]!.line, to, sum, line }];
  });
}

/** What adds up to the stated cost. */
export function rightFinancings(passages: readonly Passage[]): string[] {
  return financings(passages).flatMap((financing) => {
    const { cost, sum } = financing;
    return sum === cost.value ? [`${named(financing)} add up to the stated cost of ${cost.written}`] : [];
  });
}

function named({ sources, from, to }: Financing): string {
  const lines = from === to ? `line ${from}` : `lines ${from} to ${to}`;
  return `The ${sources.length} amounts of ${lines} that pay for it (${sources.map(({ written }) => written).join(', ')})`;
}

/** "The fund paid 4.1 million": of the cost's currency, where no other unit is named. */
function isPart({ unit, written }: Amount, cost: Amount): boolean {
  return unit === cost.unit || (unit === '' && scaled.test(written));
}

export function wrongFinancings(passages: readonly Passage[]): Quote[] {
  return financings(passages).flatMap((financing) => {
    const { cost, sum, line } = financing;
    if (sum === cost.value) return [];
    const off = inNotationOf(cost, exactly(Math.abs(cost.value - sum)));
    return [
      {
        text: `${named(financing)} add up to ${inNotationOf(cost, sum)}; the stated cost is ${cost.written}, ${off} ${cost.value > sum ? 'more' : 'less'}.`,
        line,
      },
    ];
  });
}
