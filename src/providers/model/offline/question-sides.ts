/** A question for what one of two joined files has and the other lacks: "Which prices belong to no wine?" asks for the keys of the prices alone. */

import { nameTokens } from '../../table/column-role.ts';
import type { JoinProfile } from '../../table/join.ts';
import type { TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { columnFor } from './column-synonyms.ts';
import { safe } from './figure.ts';
import { readTokens } from './prompt-tokens.ts';

const negations = wordSet(
  'no none not never nobody niemand nadie personne nessuno without missing lack lacks lacking kein keine keinen keiner keinem nicht ohne fehlt fehlen sin ningún ninguno ninguna no sans aucun aucune pas senza nessun nessuna non geen zonder sem nenhum nenhuma',
);
const fileWeight = 2;
const minCompound = 4;

/** Findings on the keys of the side that is not asked for; empty if the question does not tell the side. */
export function otherSide(question: string, joins: readonly JoinProfile[], tables: readonly TableProfile[]): (text: string) => boolean {
  const words = readTokens(question)
    .filter(({ kind }) => kind === 'word' || kind === 'quoted')
    .map(({ lower }) => lower);
  const at = words.findIndex((word) => negations.has(word));
  if (at < 0) return () => false;
  const [before, after] = [words.slice(0, at), words.slice(at + 1)];
  const unasked = joins.flatMap(({ left, right }) => {
    const [a, b] = [left, right].map((file) => tables.find(({ name }) => name === file));
    if (a === undefined || b === undefined) return [];
    const forward = named(before, a) + named(after, b);
    const backward = named(before, b) + named(after, a);
    if (forward === backward) return [];
    const [here, there] = forward > backward ? [right, left] : [left, right];
    return [`Only in ${safe(here)}, not in ${safe(there)}: `, `In ${safe(here)} of a kind that has no row in ${safe(there)} `];
  });
  return (text) => unasked.some((start) => text.startsWith(start));
}

/** How many of the words mean the table: its file, which weighs more, or one of its columns. */
function named(words: readonly string[], { name, columns }: TableProfile): number {
  const file = nameTokens(name.replace(/\.[a-z]{1,6}$/i, ''));
  return words
    .filter((word) => word.length > 2)
    .reduce((sum, word) => {
      const isFile = word === name.toLowerCase() || file.some((token) => token.length > 2 && stem(token) === stem(word));
      const isColumn =
        columnFor(word, columns) !== undefined ||
        columns.some((column) => nameTokens(column.name).some((token) => isCompound(token, word)));
      return sum + (isFile ? fileWeight : isColumn ? 1 : 0);
    }, 0);
}

/** "Stundensatz" is a "Satz". */
function isCompound(token: string, word: string): boolean {
  return word.length >= minCompound && token.length > word.length && token.endsWith(word);
}

/** Without an ending, and with one spelling of umlauts. */
function stem(word: string): string {
  return word
    .replace(/[äöü]/g, (letter) => ({ ä: 'ae', ö: 'oe', ü: 'ue' })[letter]!)
    .replace(/([aou])e(?=[a-z]{2})/g, '$1')
    .replace(/(?:ies|es|en|s|e|y|n)$/, '');
}
