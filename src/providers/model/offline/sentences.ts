/** Finds the ends of sentences. One pass; abbreviations and numbers with a point do not end a sentence. */

const abbreviations = new Set(
  'mr mrs ms dr prof st rev hon capt lt sgt jr sr mme mlle sra srta dott ing vs etc e.g i.e z.b d.h u.a bzw ca nr no inc ltd co approx usw jan feb mar apr jun jul aug sep sept oct nov dec tel abs str vgl ggf inkl evtl max min mind zzgl exkl bspw sog gem ehem stellv vors std tsd mio mrd env av art'.split(
    ' ',
  ),
);
const endMarks = '.!?…';
const closingMarks = '"\'”’»)';
const openingMarks = '"\'“„«(';
const maxAbbreviationChars = 12;
/** "priority 3. It stayed": such a word begins a sentence, so the number before it is no ordinal. */
const openingWords =
  /^(?:It|The|This|That|These|Those|He|She|They|We|You|There|Nobody|If|When|After|Then|But|Es|Sie|Er|Wir|Das|Die|Dies|Dann|Danach|Niemand|Ein|Eine)(?![\p{L}])/u;

/** The sentences of a text without line breaks. */
export function sentencesOf(flat: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (let at = 0; at < flat.length; at++) {
    if (!endMarks.includes(flat[at]!)) continue;
    let end = at + 1;
    while (end < flat.length && (closingMarks.includes(flat[end]!) || endMarks.includes(flat[end]!))) end++;
    if (end < flat.length && flat[end] !== ' ') {
      at = end - 1;
      continue;
    }
    let next = end + 1;
    while (next < flat.length && openingMarks.includes(flat[next]!)) next++;
    const begins = next < flat.length && /[\p{Lu}\p{N}\p{Lo}§]/u.test(String.fromCodePoint(flat.codePointAt(next)!));
    if (begins && !(flat[at] === '.' && end === at + 1 && isAbbreviation(flat, from, at, flat.slice(next, next + 12)))) {
      sentences.push(flat.slice(from, end).trim());
      from = end;
    }
    at = end - 1;
  }
  if (from < flat.length) sentences.push(flat.slice(from).trim());
  return sentences.filter((sentence) => sentence !== '');
}

/** Whether the point at `at` belongs to the word before it: "Dr.", "e.g.", "3." and single capitals. */
function isAbbreviation(flat: string, from: number, at: number, after: string): boolean {
  let start = at;
  while (start > from && at - start < maxAbbreviationChars && flat[start - 1] !== ' ' && !openingMarks.includes(flat[start - 1]!)) start--;
  const word = flat.slice(start, at);
  // "by 7 votes to 2. The swings": the number after such a word is no ordinal.
  if (
    /^\d{1,2}$/.test(word) &&
    /(?:^|[^\p{L}])(?:to|by|of|than|is|was|were|only|nearly|about|around|least|most|and|with) $/iu.test(
      flat.slice(Math.max(from, start - 8), start),
    )
  )
    return false;
  if (/^\d{1,2}$/.test(word) && openingWords.test(after)) return false;
  return abbreviations.has(word.toLowerCase()) || /^\d{1,2}$/.test(word) || /^(?:\p{L}\.-?){0,4}\p{L}$/u.test(word);
}
