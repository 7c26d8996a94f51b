/** Comments on harm, danger or crime, and claims: quoted alone, since no count of topics shows them. In English, German, French, Spanish and Italian. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { quotedText } from './quotes.ts';
import { ratingBounds, ratingOf } from './ratings.ts';
import { groupingColumns } from './score.ts';

const harm =
  /(?<![\p{L}])(?:insects?|bed ?bugs?|cockroach(?:es)?|mice|rats?|bitten|killed|(?:could|might) have (?:been )?(?:died|killed|hurt|injured|drowned|fallen)|(?:almost|nearly) (?:fell|drowned|choked|died|hit|ran over|run over|killed|fainted|got (?:hit|hurt|run over))|(?:I|we|he|she|child|kid|son|daughter|mother|father|husband|wife|guest|passenger|man|woman|boy|girl|lady) (?:fell|tumbled|slipped|tripped)|gave way|while (?:the |it |we |he |she )?(?:\p{L}{1,12} )?(?:was |were |is )?(?:still )?moving|choked|drown(?:ed|ing)|fainted|unconscious|injur(?:y|ed|ies)|hurt (?:my|her|his|our|him)|bleeding|hospital|ambulance|police|stolen|theft|smoke|gas (?:smell|leak)|smell(?:s|ed|t)? (?:of |like )?gas|(?:bare|exposed|loose) (?:wires?|cables?)|sparks|on fire|caught fire|burn(?:t|ed) (?:my|her|his|our|him|herself|himself)|electric shock|poison(?:ed|ing)?|vomit(?:ed|ing)?|danger(?:ous)?|unsafe|harass(?:ed|ment)|racist|discriminat\p{L}{2,5}|allergic|collapsed|Ungeziefer|Wanzen|Kakerlaken|Ratten|getötet|ums Leben|(?:beinahe|fast) (?:gestürzt|gefallen|ertrunken|überfahren|erwischt)|gestürzt|ausgerutscht|während der Fahrt|verletzt|Verletzung|gebissen|Krankenhaus|Krankenwagen|Notarzt|Polizei|gestohlen|Diebstahl|Feuer|Rauch|gebrannt|Gasgeruch|Stromschlag|vergiftet|gefährlich\p{L}{0,2}|rassistisch|belästigt|blessée?s?|hôpital|volée?s?|incendie|brûlée?s?|dangereu(?:x|se)|punaises|cafards|(?:est|suis|sommes|failli) tomb(?:ée?s?|er)|odeur de gaz|fuite de gaz|herid[oa]s?|policía|robad[oa]s?|robaron|incendio|quemad[oa]s?|peligros[oa]s?|cucarachas|chinches|ratas|se cayó|olor a gas|fuga de gas|ferit[oa]|ospedale|polizia|rubat[oa]|pericolos[oa]|scarafaggi|cadut[oa]|odore di gas|fuga di gas)(?![\p{L}])/iu;
const claim =
  /(?<![\p{L}])(?:refund(?:ed)?|money back|compensation|lawyers?|legal action|sue|court|Geld zurück|Rückerstattung|Entschädigung|Anwalt|rembours\p{L}{2,6}|dédommag\p{L}{2,6}|avocat|reembolso|indemnización|abogado|rimborso|risarcimento|avvocato)(?![\p{L}])/iu;
/** "No insects", "not dangerous". */
const denied =
  /(?<![\p{L}])(?:no|not|never|without|kein\p{L}{0,2}|nicht|ohne|pas|aucun\p{L}?|sans|sin|ningún|nessun\p{L}?|senza) (?:\p{L}{1,12} )?$/iu;
const maxChars = 500;
const shown = 3;
/** What more answers claim is a topic. */
const rareShare = 0.05;
const rareCount = 2;
const maxRowsNamed = 6;
const maxGroups = 12;
const maxBeside = 5;
const maxValueChars = 40;

/** One comment and the rows in which it stands. */
type Repeated = { at: number; rows: number[] };

/**
 * `serious`: harm, danger or crime; `claims`: only where few answers have them.
 *
 * @param rows answers with content; where answers are rated, only those with a low rating count
 */
export function seriousComments(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  rows: readonly number[],
): { serious: number[]; claims: number[] } {
  const texts = table.texts(plan);
  const rating = ratingOf(table);
  const bounds = rating === undefined ? null : ratingBounds(rating);
  const numbers = rating === undefined || bounds === null ? null : table.numbers(rating);
  const low = rows.filter((at) => numbers === null || !(numbers[at]! > bounds!.low));
  const serious = low.filter((at) => isSaid(harm, texts[at]!));
  const claims = low.filter((at) => isSaid(claim, texts[at]!) && !serious.includes(at));
  const isRare = distinct(texts, claims).length <= Math.max(rareCount, rows.length * rareShare);
  return { serious, claims: isRare ? claims : [] };
}

export function seriousFindings(table: ColumnsInMemory, plan: ColumnPlan, found: readonly number[]): Finding[] {
  return quoted(table, plan, found, 'Serious, by its words (harm, danger or crime)');
}

export function claimFindings(table: ColumnsInMemory, plan: ColumnPlan, found: readonly number[]): Finding[] {
  return quoted(table, plan, found, 'Claims (money back, compensation, a lawyer)');
}

function quoted(table: ColumnsInMemory, plan: ColumnPlan, found: readonly number[], lead: string): Finding[] {
  if (found.length === 0) return [];
  const all = distinct(table.texts(plan), found);
  const quotes = all.slice(0, shown).map((each) => `${quotedText(table, plan, each.at)} (${placeOf(table, plan, each)})`);
  const rest = all.length > shown ? `; and ${countOf(all.length - shown, 'more comment')}` : '';
  return [{ kind: 'serious', text: `${lead}: ${quotes.join('; ')}${rest}.` }];
}

/** The same comment several times is one entry. */
function distinct(texts: readonly string[], found: readonly number[]): Repeated[] {
  return [...Map.groupBy(found, (at) => texts[at]!).values()].map((rows) => ({ at: rows[0]!, rows }));
}

/** The rows; for a single one also what identifies it, its date, its groups and its rating. */
function placeOf(table: ColumnsInMemory, plan: ColumnPlan, { at, rows }: Repeated): string {
  if (rows.length > 1)
    return `${rows.length} times: rows ${rows
      .slice(0, maxRowsNamed)
      .map((each) => table.row(each))
      .join(', ')}${rows.length > maxRowsNamed ? ', …' : ''}`;
  const groups = groupingColumns(table, maxGroups);
  const rating = ratingOf(table);
  const beside = table.plans.filter(
    (each) =>
      each !== plan &&
      (each === rating || each === table.labelPlan || each.role === 'identifier' || each.reads === 'date' || groups.includes(each)),
  );
  const values = beside.slice(0, maxBeside).flatMap((each) => {
    const text = table.texts(each)[at]!;
    return text === '' ? [] : [`${each.name} ${text.slice(0, maxValueChars)}`];
  });
  return [`row ${table.row(at)}`, ...values].join(', ');
}

function isSaid(words: RegExp, text: string): boolean {
  const read = text.slice(0, maxChars);
  const match = words.exec(read);
  // "Sue at the desk" is a person; "I will sue" is a claim.
  if (
    match !== null &&
    /^sue$/i.test(match[0]) &&
    !/(?:['’]ll|will|to|would|could|might|shall|can|must) $/iu.test(read.slice(Math.max(0, match.index - 8), match.index))
  )
    return isSaid(words, `${read.slice(0, match.index)}…${read.slice(match.index + match[0].length)}`);
  return match !== null && !denied.test(read.slice(Math.max(0, match.index - 24), match.index));
}
