/** Rare comments on harm, danger, crime or a claim: quoted alone, since no count of topics shows them. In English, German, French, Spanish and Italian. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { quote } from './quotes.ts';
import { ratingBounds, ratingOf } from './ratings.ts';

const serious =
  /(?<![\p{L}])(?:insects?|bed ?bugs?|cockroach(?:es)?|mice|rats?|bitten|injur(?:y|ed|ies)|hurt (?:my|her|his|our|him)|bleeding|hospital|ambulance|police|stolen|theft|smoke|on fire|caught fire|burn(?:t|ed|s)?|electric shock|poison(?:ed|ing)?|vomit(?:ed|ing)?|refund(?:ed)?|money back|lawyers?|legal action|sue|court|danger(?:ous)?|unsafe|harass(?:ed|ment)|racist|discriminat\p{L}{2,5}|allergic|collapsed|Ungeziefer|Wanzen|Kakerlaken|Ratten|verletzt|Verletzung|gebissen|Krankenhaus|Krankenwagen|Notarzt|Polizei|gestohlen|Diebstahl|Feuer|Rauch|gebrannt|Stromschlag|vergiftet|Geld zurück|Rückerstattung|Anwalt|gefährlich\p{L}{0,2}|rassistisch|belästigt|blessée?s?|hôpital|police|volée?s?|incendie|brûlée?s?|dangereu(?:x|se)|punaises|cafards|rembours\p{L}{2,6}|avocat|herid[oa]s?|policía|robad[oa]s?|robaron|incendio|quemad[oa]s?|peligros[oa]s?|cucarachas|chinches|ratas|reembolso|abogado|ferit[oa]|ospedale|polizia|rubat[oa]|pericolos[oa]|rimborso|avvocato|scarafaggi)(?![\p{L}])/iu;
/** "No insects", "not dangerous". */
const denied =
  /(?<![\p{L}])(?:no|not|never|without|kein\p{L}{0,2}|nicht|ohne|pas|aucun\p{L}?|sans|sin|ningún|nessun\p{L}?|senza) (?:\p{L}{1,12} )?$/iu;
const maxChars = 500;
const shown = 3;
/** What more answers say is a topic. */
const rareShare = 0.05;
const rareCount = 2;

/** @param rows answers with content; where answers are rated, only those with a low rating are serious */
export function seriousComments(table: ColumnsInMemory, plan: ColumnPlan, rows: readonly number[]): number[] {
  const texts = table.texts(plan);
  const rating = ratingOf(table);
  const bounds = rating === undefined ? null : ratingBounds(rating);
  const numbers = rating === undefined || bounds === null ? null : table.numbers(rating);
  const found = rows.filter((at) => isSerious(texts[at]!.slice(0, maxChars)) && (numbers === null || !(numbers[at]! > bounds!.low)));
  return found.length > Math.max(rareCount, rows.length * rareShare) ? [] : found;
}

export function seriousFindings(table: ColumnsInMemory, plan: ColumnPlan, found: readonly number[]): Finding[] {
  if (found.length === 0) return [];
  const rating = ratingOf(table);
  const quotes = found.slice(0, shown).map((at) => quote(table, plan, at, rating));
  const rest = found.length > shown ? `; and ${countOf(found.length - shown, 'more answer')}` : '';
  return [{ kind: 'serious', text: `Serious, by its words (harm, danger, crime or a claim), though rare: ${quotes.join('; ')}${rest}.` }];
}

function isSerious(text: string): boolean {
  const match = serious.exec(text);
  return match !== null && !denied.test(text.slice(Math.max(0, match.index - 24), match.index));
}
