/** Which amounts of money a text names, each with its sentence. */
import { isMoney } from '../amounts.ts';
import type { TextFacts } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { replacedNote } from './open-points.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

/** Smaller figures count things as often as money. */
const leastBareSum = 100;
const partly =
  /^(?:Of (?:this|that|these|which|the)|The (?:rest|remainder|remaining)|Davon|Hiervon|Dont|De ellos|De esta suma|Di quest[oi])(?![\p{L}])/u;

/** "Of this the region will pay 1.4 million, the trust 900,000": parts of the sum in the sentence before, without its currency. */
function isPartOfSum({ text, amounts, before, line }: Passage): boolean {
  return (
    before !== null && before.line === line && before.amounts.some(isMoney) && partly.test(text) && amounts.some(({ unit }) => unit === '')
  );
}

const paying =
  /(?<![\p{L}])(?:pays?|paid|contribut\p{L}{1,3}|gives?|gave|donat\p{L}{1,3}|covers?|bears?|funds?|funded|financ\p{L}{1,3}|grants?|subsid\p{L}{1,4}|collected|raised|sponsor\p{L}{0,3}|(?:be)?zahlt|zahlen|übernimmt|trägt|steuert|fördert|paie|verse|finance|paga|aporta|financia|versa|finanzia)(?![\p{L}])/iu;

/** Who pays: sums with a verb of paying, and who pays the rest; null where the text names none. */
export function payersIn(passages: readonly Passage[]): Told | null {
  const found = quotesWhere(
    passages,
    ({ text, amounts, kind }) =>
      kind !== 'field' &&
      paying.test(text) &&
      (amounts.some(isMoney) || /(?<![\p{L}])(?:the (?:rest|remainder)|den Rest|le reste|el resto|il resto)(?![\p{L}])/u.test(text)),
  );
  return found.length === 0 ? null : { short: quotesShort(found), lines: [quoteTable(found)] };
}

/** In a chat "the one for 340" has no currency. */
function isBareSum({ amounts, speaker }: Passage): boolean {
  return speaker !== '' && amounts.some(({ unit, value }) => unit === '' && value >= leastBareSum);
}

/** In letters a sum often has no currency: two places behind the point, or a word that only money has. */
function isWrittenSum({ amounts, text }: Passage): boolean {
  return amounts.some(
    ({ unit, value, written }) => unit === '' && (/\d[.,]\d{2}$/.test(written) || (value >= leastBareSum && moneyWord.test(text))),
  );
}

const moneyWord =
  /(?<![\p{L}])(?:quotations?|quotes?|invoices?|excess|prices?|costs?|claims?|fees?|deposits?|bills?|paid|pays?|Rechnung(?:en)?|Angebot|Kosten|Preis|Gebühr|Selbstbehalt|Anzahlung|devis|factures?|prix|coûts?|frais|acompte|franchise)(?![\p{L}])/iu;

/** Null where the text names none. */
export function moneyIn(facts: TextFacts, passages: readonly Passage[]): Told | null {
  const isThread = facts.messages.length > 0;
  const found = quotesWhere(
    passages,
    (passage) =>
      passage.kind !== 'field' &&
      (passage.amounts.some(isMoney) ||
        isPartOfSum(passage) ||
        (isThread && isBareSum(passage)) ||
        (facts.kind === 'e-mail' && isWrittenSum(passage))),
  ).map((quote) => ({ ...quote, text: quote.text + replacedNote(facts, quote) }));
  return found.length === 0 ? null : { short: quotesShort(found), lines: [quoteTable(found)] };
}
