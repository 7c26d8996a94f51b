/** Numbers in words, English and German: 0 to 99. */

const ones: readonly (readonly string[])[] = [
  ['zero', 'no', 'none', 'keine', 'ohne', 'null'],
  ['one', 'eine', 'einer', 'ein', 'einem', 'eins', 'a', 'an'],
  ['two', 'zwei'],
  ['three', 'drei'],
  ['four', 'vier'],
  ['five', 'fünf'],
  ['six', 'sechs'],
  ['seven', 'sieben'],
  ['eight', 'acht'],
  ['nine', 'neun'],
  ['ten', 'zehn'],
  ['eleven', 'elf'],
  ['twelve', 'zwölf'],
  ['thirteen', 'dreizehn'],
  ['fourteen', 'vierzehn'],
  ['fifteen', 'fünfzehn'],
  ['sixteen', 'sechzehn'],
  ['seventeen', 'siebzehn'],
  ['eighteen', 'achtzehn'],
  ['nineteen', 'neunzehn'],
];
const tens: readonly (readonly string[])[] = [
  ['twenty', 'zwanzig'],
  ['thirty', 'dreißig', 'dreissig'],
  ['forty', 'vierzig'],
  ['fifty', 'fünfzig'],
  ['sixty', 'sechzig'],
  ['seventy', 'siebzig'],
  ['eighty', 'achtzig'],
  ['ninety', 'neunzig'],
];
const articles = ['a', 'an'];
const germanOnes = ['ein', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'];
const values = new Map<string, number>([
  ...ones.flatMap((words, value) => words.map((word) => [word, value] as const)),
  ...tens.flatMap((words, i) => words.map((word) => [word, (i + 2) * 10] as const)),
  ...tens.flatMap(([english, ...german], i) => [
    ...ones.slice(1, 10).flatMap(([one], value) => [[`${english}-${one}`, (i + 2) * 10 + value + 1] as const]),
    ...german.flatMap((ten) => germanOnes.map((one, value) => [`${one}und${ten}`, (i + 2) * 10 + value + 1] as const)),
  ]),
]);

/** An alternation of all number words but articles, for patterns with the flags `i` and `u`; longer words come first. */
export const numberWord = alternation([...values.keys()].filter((word) => !articles.includes(word)));
/** Those from two up, which are figures wherever they stand. */
export const countingWord = alternation([...values.keys()].filter((word) => values.get(word)! > 1));

/** The number that a word or a row of digits means; null if it is none. */
export function numberOfWord(written: string): number | null {
  return /^\d{1,6}$/.test(written) ? Number(written) : (values.get(written.toLowerCase()) ?? null);
}

function alternation(words: readonly string[]): string {
  return words.toSorted((a, b) => b.length - a.length).join('|');
}
