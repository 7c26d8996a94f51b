/** Amounts, shares and counted things of a text. */
import { findDates } from './dates.ts';
import { countingWord } from './number-words.ts';

const unit =
  '(?:%|percent|per cent|Prozent|million|billion|thousand|Millionen|Milliarden|Mio\\.?|Mrd\\.?|bn|millions?|millones|millón|milioni|milliards?|miliardi|per cento|pour cent|por ciento|hours?|days?|weeks?|months?|years?|minutes?|seconds?|Stunden|Tagen?|Wochen|Monaten?|Jahren?|Minuten|ans|mois|jours|semaines|heures|años|meses|días|semanas|horas|anni|mesi|giorni|settimane|ore|km|cm|mm|kilomet(?:er|re)s?|centimet(?:er|re)s?|millimet(?:er|re)s?|met(?:er|re)s?|miles|degrees|pairs|kg|tonnes?|tons|litres?|hectares?|GB|MB|TB|ms|kWh|MW|people|users|customers|residents|visitors|employees|staff|votes|voix|votos|voti|habitants|habitantes|abitanti|personnes|personas|persone|jobs|homes|seats|members|participants|points?|tickets|orders|units|pieces|copies|pages|steps|euros?|dollars?|pounds?|Euro|USD|EUR|GBP|CHF|€|\\$|£)';
const figurePattern = new RegExp(
  `(?<![\\p{L}\\p{N}.,/:#+-])(?:[$€£] ?|(?:USD|EUR|GBP|CHF) )?[-−]?(?:\\d{1,3}(?:[ \u00a0\u202f]\\d{3}){1,3}(?:,\\d{1,2})?(?=[ \u00a0\u202f]?(?:€|euros?|EUR|CHF|francs?|habit|personnes|visiteurs|kilom))|\\d{1,3}(?:[ \u00a0\u202f]\\d{3}){1,3},\\d{2}(?!\\d)|\\d{1,3}(?:[.,'’]?\\d{1,3}){0,6})(?:[ \u00a0\u202f]?(?:million|billion|thousand|Millionen|Milliarden|Mio\\.?|Mrd\\.?|bn|millions|millones|millón|milioni|milione|milliards?|miliardi|[mk](?![\\p{L}]))(?: de(?= euros?)| di(?= euro)| d['’](?=euros?))?)?(?:(?:[ \u00a0\u202f-]|(?<=['’])|(?=[%€$£]))${unit})?(?![\\p{L}\\p{N}]|[:/-]\\d|\\.\\d)`,
  'gu',
);

const maxReadChars = 4000;
/** "Twenty-two children", "eleven of its nineteen windows". */
const inWords = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?:${countingWord})(?![\\p{L}\\p{N}-])(?: (?:\\p{L}{2,19}s|children|people|men|women)(?![\\p{L}]))?`,
  'giu',
);

/** In the order of the text, as written; without dates, times, versions and list numbers. Reads the first 4,000 characters. */
export function figuresIn(text: string): string[] {
  const words = [...text.slice(0, maxReadChars).matchAll(inWords)].map(({ 0: written, index }) => ({ written, index }));
  return [...figuresWithPlaces(text), ...words].toSorted((a, b) => a.index - b.index).map(({ written }) => written);
}

/** Those in digits. */
export function figuresWithPlaces(text: string): { written: string; index: number }[] {
  const read = text.slice(0, maxReadChars);
  const dates = findDates(read);
  return [...read.matchAll(figurePattern)].flatMap(({ 0: match, index }) => {
    const written = match.trim();
    const inDate = dates.some(({ index: from, written: date }) => index < from + date.length && index + written.length > from);
    if (inDate || namedLeads.test(read.slice(Math.max(0, index - 14), index))) return [];
    if (!/^\d+$/.test(written)) return [{ written, index }];
    const isYear = written.length === 4 && /^(?:19|20)/.test(written);
    const after = read.slice(index + written.length, index + written.length + 5);
    // "1) the roof" is a number of a list, "(780)" is a figure.
    const isListed = after.startsWith(')') && read[index - 1] !== '(';
    return isYear || isListed || /^ ?(?:am|pm|uhr|h|st|nd|rd|th)\b|^:\d/i.test(after) ? [] : [{ written, index }];
  });
}

/** Words before a number that is a name: "page 3". */
const namedLeads =
  /(?<![\p{L}])(?:\d h|page|section|clause|room|no\.?|nr\.?|item|version|line|§|article|chapter|step|phase|q|figure|table|raum|seite|punkt|top|#) ?$/iu;
