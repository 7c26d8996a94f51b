/** What a reader works out from two figures of one sentence: how much more or less than before, and what is left of an income. */
import { type Amount, exactly, inNotationOf, isMoney } from './amounts.ts';
import type { Quote } from './facts.ts';
import type { Passage } from './passages.ts';
import { changesIn, difference } from './questions/changes.ts';

/** Without such a word two figures may be the ends of a range: "ages from 6 to 12". */
const changing =
  /(?<![\p{L}])(?:instead of|rather than|r(?:o|i)se|rises|risen|rising|gr[eo]w|grows|grown|grew|increase[sd]?|went up|climb(?:s|ed)|fell|falls?|fallen|drop(?:s|ped)?|declined?|decreased?|shrank|shrunk|sank|up from|down from|compared (?:with|to)|after|against|statt|gegenüber|gestiegen|stieg|steigt|gesunken|sank|sinkt|gewachsen|wuchs|nach|au lieu de|contre|en lugar de|frente a|invece di|contro)(?![\p{L}])/iu;
const income = /(?<![\p{L}])(?:income|revenues?|receipts|takings|Einnahmen|recettes|ingresos|entrate|incassi)(?![\p{L}])/iu;
const spending =
  /(?<![\p{L}])(?:spending|expenses|expenditures?|costs|outgoings|Ausgaben|Kosten|dépenses|gastos|uscite|spese)(?![\p{L}])/iu;
const most = 12;

/** `text` is the sentence that it follows from. */
export type Difference = Quote & { computed: string };

export function differencesIn(passages: readonly Passage[]): Difference[] {
  return passages
    .flatMap((passage): Difference[] => {
      const left = leftOver(passage);
      if (left !== null) return [{ computed: left, text: passage.text, line: passage.line }];
      if (!changing.test(passage.text)) return [];
      return changesIn(passage).map(({ from, to }) => ({ computed: difference(from, to), text: passage.text, line: passage.line }));
    })
    .slice(0, most);
}

/** "Income was 27,900 EUR, spending 24,350 EUR": 3,550 EUR are left. */
function leftOver({ text, amounts }: Passage): string | null {
  const [got, spent] = [income.exec(text), spending.exec(text)];
  const money = amounts.filter(isMoney);
  if (got === null || spent === null || money.length !== 2 || money[0]!.unit !== money[1]!.unit) return null;
  const [first, second] = money as [Amount, Amount];
  const isPaired = Math.min(got.index, spent.index) < first.index && Math.max(got.index, spent.index) > first.index;
  if (!isPaired || Math.max(got.index, spent.index) > second.index) return null;
  const [all, paid] = got.index < spent.index ? [first, second] : [second, first];
  const rest = exactly(all.value - paid.value);
  const amount = inNotationOf(all, Math.abs(rest));
  return `${got[0]} ${all.written}, ${spent[0]} ${paid.written}: ${amount} ${rest < 0 ? 'more spent than received' : 'more received than spent'}`;
}
