/** What a text says was changed or corrected: a figure, a date or a place with the one that it replaces. */
import { findDates } from '../dates.ts';
import type { Passage } from '../passages.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

const correcting =
  /(?<![\p{L}])(?:corrected|correction|wrong (?:price|date|figure|number|amount|sum|time|day|address)|instead of|no longer|not \p{Sc}?\d|moves? (?:from|to)|moved (?:from|to)|(?:brought|pushed|put) (?:forward|back) (?:from|to)|changed? (?:from|to)|changes (?:from|to)|rescheduled|postponed (?:from|to|until)|(?:goes|went|rises|rose|falls|fell) from [^.;]{1,30} to|replaces?|update:|(?:ok|okay|right|fine|well),? then|let(?:'|’)s (?:say|make it)|make (?:it|that)|korrigiert|Korrektur|statt|anstelle|nicht mehr|verschoben|verlegt|sondern|au lieu de|corrigée?|reportée? (?:au|à)|déplacée?|avancée? au|non plus|en lugar de|en vez de|corregid[oa]|se cambia|aplazad[oa] al|invece di|corrett[oa]|spostat[oa]|rinviat[oa] al|in plaats van|niet meer)(?![\p{L}])/iu;
const day =
  /(?<![\p{L}])(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)(?![\p{L}])/iu;

/** Null where the text names no such change of a figure, a date or a day. */
export function correctionsIn(passages: readonly Passage[]): Told | null {
  const found = quotesWhere(
    passages,
    ({ text, amounts, kind }) =>
      kind !== 'field' && correcting.test(text) && (amounts.length > 0 || findDates(text).length > 0 || day.test(text) || /\d/.test(text)),
  );
  return found.length === 0 ? null : { short: quotesShort(found), lines: [quoteTable(found)] };
}
