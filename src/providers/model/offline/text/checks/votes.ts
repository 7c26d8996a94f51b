/** Votes of a decision against the number of those present. */
import { countOf, exact } from '../../figure.ts';
import type { Quote } from '../facts.ts';
import { numberOfWord, numberWord } from '../number-words.ts';
import type { Passage } from '../passages.ts';

const count = `(?<![\\p{L}\\p{N}.,:/-])(?<n>\\d{1,4}|${numberWord})`;
const voices = '(?: votes?| voices?| members?| Stimmen?)?';
const kinds: readonly (readonly [string, RegExp])[] = [
  ['in favour', new RegExp(`${count}${voices} (?:in favou?r|for(?=[ ,;.)]|$)|yes|ayes?|dafür|Ja(?:-Stimmen?)?)(?![\\p{L}])`, 'iu')],
  ['against', new RegExp(`${count}${voices} (?:against|opposed|no|noes|nays?|dagegen|Nein(?:-Stimmen?)?|Gegenstimmen?)(?![\\p{L}])`, 'iu')],
  [
    'abstentions',
    new RegExp(`${count}${voices} (?:abstentions?|abstained|abstaining|abstains?|Enthaltung(?:en)?|enthielten sich)(?![\\p{L}])`, 'iu'),
  ],
];
const labelled: readonly (readonly [string, RegExp])[] = [
  ['in favour', /(?<![\p{L}])(?:in favou?r|for|yes|dafür|Ja): ?(?<n>\d{1,4})(?![\p{N}.,])/iu],
  ['against', /(?<![\p{L}])(?:against|no|dagegen|Nein): ?(?<n>\d{1,4})(?![\p{N}.,])/iu],
  ['abstentions', /(?<![\p{L}])(?:abstentions?|abstained|Enthaltung(?:en)?): ?(?<n>\d{1,4})(?![\p{N}.,])/iu],
];
const paired =
  /(?<![\p{L}\p{N}])(?:by|with|mit) (?<n>\d{1,4})(?: votes?| Stimmen)? (?:to|zu|against|gegen) (?<m>\d{1,4})(?![\p{N}%:]|[.,]\d)(?: votes?| Stimmen)?/iu;

export type Present = { count: number; line: number };

/** Votes whose number is not that of the people present: more of them, or fewer although the abstentions are counted too. */
export function votesAgainstPresent(passages: readonly Passage[], present: Present | null): Quote[] {
  if (present === null) return [];
  return passages.flatMap(({ text, line }) => {
    const votes = votesIn(text);
    const all = votes.reduce((sum, { value }) => sum + value, 0);
    const complete = votes.length === 3;
    if (votes.length < 2 || all === present.count || (all < present.count && !complete)) return [];
    const sum = votes.map(({ kind, value }) => `${exact(value)} ${kind}`).join(' + ');
    return [
      {
        text: `The votes (${sum}) are ${exact(all)} in all, but ${countOf(present.count, 'person').replace('persons', 'people')} ${present.count === 1 ? 'is' : 'are'} named as present (line ${present.line}).`,
        line,
      },
    ];
  });
}

/** How many sentences state votes that can be compared with those present. */
export function votesCompared(passages: readonly Passage[], present: Present | null): number {
  return present === null ? 0 : passages.filter(({ text }) => votesIn(text).length >= 2).length;
}

function votesIn(written: string): { kind: string; value: number }[] {
  const text = written.slice(0, 1000);
  for (const forms of [kinds, labelled]) {
    const found = forms.flatMap(([kind, form]) => {
      const n = form.exec(text)?.groups?.n;
      return n === undefined ? [] : [{ kind, value: numberOfWord(n) ?? 0 }];
    });
    if (found.length >= 2) return found;
  }
  const pair = paired.exec(text)?.groups;
  if (pair === undefined || !/vot|stimm|carried|approved|rejected|decided|adopted/i.test(text)) return [];
  const abstained = kinds[2]![1].exec(text)?.groups?.n;
  return [
    { kind: 'in favour', value: Number(pair.n) },
    { kind: 'against', value: Number(pair.m) },
    ...(abstained === undefined ? [] : [{ kind: 'abstentions', value: numberOfWord(abstained) ?? 0 }]),
  ];
}
