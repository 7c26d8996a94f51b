/** The tokens of one question, with words without an elided article: "d'heures", "l'écart". */
import { readTokens, type Token } from '../prompt-tokens.ts';

export type Word = { text: string; lower: string; kind: Token['kind'] };

const elision = /^(?:[dlmnstj]|qu|dell|nell|all|sull|un)['’](?=\p{L}{2})/u;
const maxTokens = 120;

export function wordsOf(question: string, most = maxTokens): Word[] {
  return readTokens(question.slice(0, 8000))
    .filter(({ kind }) => kind !== 'break')
    .slice(0, most)
    .map(({ text, lower, kind }) => ({ text, lower: lower.replace(elision, ''), kind }));
}
