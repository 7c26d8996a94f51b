/** Requests beyond the rules: the answer says so, names what the rules can do, and how to get a language model. */
import { wordSet } from '../../table/word-set.ts';
import { findPages } from './page-orders.ts';
import { readTokens, type Token } from './prompt-tokens.ts';
import { stanceOf } from './stance.ts';

export const abilities =
  'The offline model works by fixed rules. It can profile tables (CSV, TSV, JSON), summarise texts and web pages in their own sentences, list their decisions, actions, dates and figures, compare two texts, compute, write files you dictate, search where a search endpoint is configured, and send an e-mail, place an order, publish the files or call a tool of a connected service where that is stated plainly.';
export const realModel =
  'For anything else configure a language model: MODEL_BASE_URL, MODEL_API_KEY and MODEL_NAME, or ANTHROPIC_API_KEY.';

const verbs = new Map<string, string>([
  ...['translate', 'übersetze', 'übersetz', 'übertrage'].map((verb) => [verb, 'translate'] as const),
  ...['rewrite', 'rephrase', 'paraphrase', 'reword', 'proofread', 'polish', 'shorten', 'formuliere', 'umformulieren', 'kürze'].map(
    (verb) => [verb, 'rewrite texts'] as const,
  ),
  ...['compose', 'draft', 'brainstorm', 'imagine', 'invent', 'entwirf', 'dichte'].map((verb) => [verb, 'write texts of its own'] as const),
  ...['predict', 'forecast', 'prognostiziere'].map((verb) => [verb, 'predict'] as const),
  ...['design', 'program', 'code', 'implement', 'refactor', 'debug', 'programmiere'].map((verb) => [verb, 'write code'] as const),
]);
const making = new Set(['write', 'create', 'make', 'build', 'generate', 'schreibe', 'schreib', 'erstelle', 'draw', 'paint']);
const works = new Map<string, string>([
  ...'poem story song haiku limerick essay joke slogan letter reply speech blog article tweet novel screenplay lyrics gedicht geschichte brief lied rede aufsatz'
    .split(' ')
    .map((noun) => [noun, 'write texts of its own'] as const),
  ...'website webpage page app application script program game code api landing'.split(' ').map((noun) => [noun, 'write code'] as const),
  ...'picture image logo photo painting illustration bild'.split(' ').map((noun) => [noun, 'make pictures'] as const),
  ...'presentation slides powerpoint'.split(' ').map((noun) => [noun, 'make presentations'] as const),
]);
const mostWords = 6;
const nounLeads = wordSet('by per each every je pro nach für par por per à a para');
const nounLinks = wordSet('and or und oder et ou y o e is are ist sind has have');

/** "By code", "code by code", "code, design and colour": a column. An order names what it is for: "code a page". */
function isNoun(tokens: readonly Token[], i: number): boolean {
  const [before, next, after] = [tokens[i - 1]?.lower ?? '', tokens[i + 1]?.lower ?? '', tokens[i + 2]?.lower ?? ''];
  return nounLeads.has(before) || (nounLeads.has(next) && after === tokens[i]!.lower) || nounLinks.has(next);
}

/** A sentence for each kind of request that no rule can follow. */
export function cannotDo(task: string): string[] {
  const tokens = readTokens(task);
  const found = new Set<string>();
  const writesPage = findPages(tokens).length > 0;
  for (let i = 0; i < tokens.length && found.size < 3; i++) {
    const { lower } = tokens[i]!;
    const what = verbs.get(lower);
    if (what !== undefined && !isNoun(tokens, i) && stanceOf(tokens, i) === 'order') found.add(what);
    if (!making.has(lower)) continue;
    for (let at = i + 1; at <= i + mostWords && at < tokens.length; at++) {
      const noun = works.get(tokens[at]!.lower);
      if (noun === undefined) continue;
      if (stanceOf(tokens, i) === 'order' && !(writesPage && noun === 'write code')) found.add(noun);
      break;
    }
  }
  return [...found].map((what) => `Not done: the offline model cannot ${what}, because it has no language model. ${realModel}`);
}
