/** How much money is missing: the total that a section lists or states, less what it says is there. */
import { contentWords } from '../../summary.ts';
import { type Amount, exactly, inNotationOf, isMoney } from '../amounts.ts';
import { listedTotals } from '../checks/totals.ts';
import type { Passage } from '../passages.ts';
import { stem, stemsInCommon } from '../stem.ts';
import { cited, type Told } from './told.ts';

const needing =
  /(?<![\p{L}])(?:costs?|in total|total|altogether|needs?|needed|required?|estimate[ds]?|price|kostet|kosten|benötigt|insgesamt|gesamt\p{L}{0,12})(?![\p{L}])/iu;
const holding =
  /(?<![\p{L}])(?:holds?|reserves?|fund|funds|saved|savings|available|in hand|on (?:the|our) account|raised|collected|donated|donations?|granted|grant of|has been paid in|have (?:so far )?|contributes?|pays|subsidy of|hat|vorhanden|Rücklagen?|gespart|gesammelt|Spenden|Zuschuss|Guthaben)(?![\p{L}])/iu;
const uncertain =
  /(?<![\p{L}])(?:would|could|might|may|if|hopes?|hoped|expects?|expected|applied|asks?|perhaps|offers?|offered|könnte|würde|falls|hofft|beantragt|vielleicht)(?![\p{L}])/iu;
const holdingMaybe =
  /(?<![\p{L}])(?:might|may|could|would|hopes?|expects?|applied for|könnte|würde|hofft|beantragt) (?:\p{L}{1,15} ){0,4}(?:give|pay|add|contribute|grant|fund|get|receive|geben|zahlen|another|a grant|a subsidy)(?![\p{L}])/iu;
const account =
  /(?<![\p{L}])(?:account|reserves?|reserve fund|savings|cash box|Konto|Rücklagen?|Kasse) (?:\p{L}{1,15} ){0,4}(?:holds?|has|is|are|stands? at|beträgt|betragen|enthält)(?![\p{L}])/iu;
const stating = /(?<![\p{L}])(?:missing|short of|short by|shortfall|gap|lacks?|lacking|fehlen|fehlt|Lücke)(?![\p{L}])/iu;
const financing = /(?<![\p{L}])(?:financ\p{L}{1,5}|fund(?:ing|ed)|loans?|Finanzierung|Kredit\p{L}{0,2}|Darlehen)(?![\p{L}])/iu;
const askingWords = new Set(
  'how much many money euros euro dollars missing short need needed still lack gap fehlt fehlen geld viel wie'.split(' '),
);

const maxNeeds = 20;

/** `isWrong`: the stated total is not the sum of its items, which is `value`. */
type Need = { amount: Amount; value: number; isWrong: boolean; source: string; section: string; at: number };

export function shortfall(clause: string, passages: readonly Passage[]): Told | null {
  const wanted = new Set(
    contentWords(clause)
      .filter((word) => !askingWords.has(word))
      .map(stem),
  );
  const needs = needsIn(passages)
    .map((need) => ({ need, common: stemsInCommon(`${need.section} ${passages[need.at]!.text}`, wanted) }))
    .toSorted((a, b) => b.common - a.common || b.need.value - a.need.value)
    .slice(0, maxNeeds);
  for (const { need } of needs) {
    const held = heldIn(passages, need);
    if (held.length === 0) continue;
    const sum = exactly(held.reduce((all, { amount }) => all + amount.value, 0));
    const missing = exactly(need.value - sum);
    const own = held.map(({ amount, passage }) => `${amount.written} (${cited(passage)})`).join(' and ');
    const result =
      missing > 0
        ? `${inNotationOf(need.amount, missing)} are missing`
        : `nothing is missing; ${inNotationOf(need.amount, -missing)} are left`;
    const stated = statedShortfall(passages, need, missing);
    const first = `${result}: ${inNotationOf(need.amount, need.value)} (${need.source}) less ${own}.`;
    const open = passages.filter(
      ({ section, text, at }) => section === need.section && financing.test(text) && !held.some(({ passage }) => passage.at === at),
    );
    const asStated = `With the total as the text states it, ${need.amount.written}, it would be ${inNotationOf(need.amount, exactly(need.amount.value - sum))}; but that is not the sum of its items.`;
    const lines = [
      capital(first),
      ...(need.isWrong ? [asStated] : []),
      ...stated,
      ...open.slice(0, 3).map((passage) => `On the financing: ${cited(passage)}.`),
      ...mayHelp(passages, need).map((passage) => `Not counted, because it is not certain or not said to be for this: ${cited(passage)}.`),
    ];
    return { short: lines.slice(0, 3).join(' ').replace(/\.$/, ''), lines: lines.map((line) => `- ${line}`) };
  }
  return null;
}

/** Listed totals first, with what the items really add up to; then sentences on a cost. */
function needsIn(passages: readonly Passage[]): Need[] {
  const listed = listedTotals(passages).filter(({ total }) => isMoney(total));
  const totals = listed.map(
    ({ total, sum, from, section, at }): Need => ({
      amount: total,
      value: sum,
      isWrong: sum !== total.value,
      source: `the sum of the items of line ${from}`,
      section,
      at,
    }),
  );
  const inLists = new Set(listed.map(({ at }) => at));
  const stated = passages.flatMap((passage): Need[] => {
    if (inLists.has(passage.at) || !needing.test(passage.text) || uncertain.test(passage.text)) return [];
    const amounts = passage.amounts.filter(isMoney);
    return amounts.length !== 1
      ? []
      : [
          {
            amount: amounts[0]!,
            value: amounts[0]!.value,
            isWrong: false,
            source: cited(passage),
            section: passage.section,
            at: passage.at,
          },
        ];
  });
  return [...totals, ...stated];
}

/** Amounts that the section says are there. */
function heldIn(passages: readonly Passage[], need: Need) {
  return passages.flatMap((passage) => {
    if (passage.section !== need.section || passage.at === need.at) return [];
    if (!holding.test(passage.text) || uncertain.test(passage.text) || stating.test(passage.text)) return [];
    const amounts = passage.amounts.filter(({ unit }) => unit === need.amount.unit);
    return amounts.length === 1 ? [{ amount: amounts[0]!, passage }] : [];
  });
}

/** Money that the section hopes for, or that the text has elsewhere. */
function mayHelp(passages: readonly Passage[], need: Need): Passage[] {
  return passages
    .filter((passage) => {
      const has = passage.amounts.some(({ unit }) => unit === need.amount.unit) && passage.at !== need.at;
      if (!has || stating.test(passage.text)) return false;
      return passage.section === need.section ? holdingMaybe.test(passage.text) : account.test(passage.text);
    })
    .slice(0, 3);
}

function statedShortfall(passages: readonly Passage[], { section, amount }: Need, missing: number): string[] {
  return passages.flatMap((passage) => {
    if (passage.section !== section || !stating.test(passage.text)) return [];
    const own = passage.amounts.filter(({ unit }) => unit === amount.unit);
    return own.length === 1 && own[0]!.value !== missing ? [`The text says otherwise: ${cited(passage)}.`] : [];
  });
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
