/**
 * Whether a verb of a prompt is an order to be carried out now: not a noun, not about another person, not negated, conditional, postponed
 * or a question.
 */

import { wordSet } from '../../table/word-set.ts';
import { collapseWhitespace, endsSentence, sentenceEnd, sentenceStart, type Token } from './prompt-tokens.ts';

/** `none`: not an order. The others look like orders that must not be carried out, or not now. */
export type Stance = 'order' | 'negated' | 'conditional' | 'scheduled' | 'question' | 'none';

const leads = wordSet(
  'and then please also kindly just now finally afterwards next first second third lastly or directly immediately so otherwise instead und dann bitte auch danach anschließend zuletzt oder sofort nun jetzt abschließend but aber sondern',
);
const modals = wordSet('can could would will should must may might shall');
const infinitiveLeads = wordSet('you sure remember forget hesitate fail is need have want asked supposed');
const negators = wordSet(
  "not don't dont don’t never cannot can't can’t won't won’t shouldn't shouldn’t mustn't mustn’t doesn't doesn’t nicht nie niemals keinesfalls keine kein keinen nobody no",
);
const nearNegators = wordSet('without ohne avoid avoiding instead rather no need');
const doubleNegatives = wordSet('forget hesitate fail vergiss vergessen');
const separators = wordSet('but then instead sondern dann aber just only');
const conditions = wordSet('if unless whenever falls sofern sobald wenn provided assuming depending whether ob solange');
const completions = wordSet(
  'done finished complete completed ready written possible necessary needed you there available fertig erledigt möglich nötig any helpful',
);
const times = wordSet('tomorrow morgen übermorgen tonight hourly daily weekly monthly täglich wöchentlich monatlich later später');
const periods = wordSet(
  'day week month morning evening hour year monday tuesday wednesday thursday friday saturday sunday tag woche monat morgen',
);
const weekdays = wordSet(
  'monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag',
);
const asking = wordSet(
  'should did does has have had do how why who whom was were is are when where which what soll sollen hat hast wie warum wer wann wo',
);
const askedSubjects = wordSet('i we it he she they ich wir er sie es the a an this that');

/** @param i the position of the verb */
export function stanceOf(tokens: readonly Token[], i: number): Stance {
  const from = sentenceStart(tokens, i);
  if (!isImperative(tokens, i, from)) return 'none';
  const to = sentenceEnd(tokens, i);
  if (isNegated(tokens, i, from)) return 'negated';
  if (isQuestion(tokens, i, from, to)) return 'question';
  if (isConditional(tokens, from, to)) return 'conditional';
  return isScheduled(tokens, i, to) ? 'scheduled' : 'order';
}

function isImperative(tokens: readonly Token[], i: number, from: number): boolean {
  if (i === from) return true;
  const before = tokens[i - 1]!;
  if (before.kind === 'mark') return true;
  if (before.kind === 'quoted' || before.kind === 'address' || before.kind === 'url') return true;
  if (leads.has(before.lower) || negators.has(before.lower) || before.lower === 'let') return true;
  const earlier = tokens[i - 2];
  if (before.lower === 'to')
    return earlier !== undefined && i - 2 >= from && (infinitiveLeads.has(earlier.lower) || leads.has(earlier.lower));
  if (before.lower === 'you') return i - 2 < from || modals.has(earlier!.lower) || earlier!.kind === 'mark' || earlier!.lower === 'that';
  if (modals.has(before.lower)) return i - 2 >= from && earlier!.lower === 'you';
  // A form of address, or an unlisted adverb, ends with a comma; a figure numbers a list.
  return before.kind === 'figure' && i - 1 === from;
}

function isNegated(tokens: readonly Token[], i: number, from: number): boolean {
  for (let at = i - 1; at >= from; at--) {
    const { lower, kind } = tokens[at]!;
    if (doubleNegatives.has(lower)) return false;
    if (nearNegators.has(lower) && i - at <= 3 && lower !== 'no') return true;
    if (negators.has(lower)) return !tokens.slice(at + 1, i).some(({ lower: other }) => doubleNegatives.has(other));
    if (separators.has(lower)) return false;
    // ", and" and "," begin a new clause, but ", or" continues the old one; "do not, please, send" is one clause.
    if (kind === 'mark' && tokens[at]!.text === ',' && !negators.has(tokens[at - 1]?.lower ?? '')) {
      const next = tokens[at + 1]!.lower;
      const joined = tokens[i - 1]!.lower === 'or' || tokens[i - 1]!.lower === 'oder' || tokens[i - 1]!.lower === 'nor';
      const inserted = tokens
        .slice(Math.max(from, at - 8), at)
        .some(({ text }, k, list) => text === ',' && negators.has(list[k - 1]?.lower ?? ''));
      if (!joined && !inserted && next !== 'or' && next !== 'nor') return false;
    }
  }
  return false;
}

function isQuestion(tokens: readonly Token[], i: number, from: number, to: number): boolean {
  if (tokens[to]?.text !== '?') return false;
  const [first, second] = [tokens[from]!, tokens[from + 1]];
  if (!asking.has(first.lower) || second === undefined) return false;
  if (['how', 'why', 'who', 'whom', 'when', 'where', 'wie', 'warum', 'wer', 'wann', 'wo'].includes(first.lower)) return true;
  // "What is in it? …" has ended; "Have you read it and e-mailed it" is a question.
  return askedSubjects.has(second.lower) || (second.lower === 'you' && first.lower !== 'would') || i === from + 1;
}

function isConditional(tokens: readonly Token[], from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const { lower } = tokens[at]!;
    const next = tokens.slice(at + 1, Math.min(to, at + 5)).map((token) => token.lower);
    if (lower === 'only' && (next[0] === 'if' || next[0] === 'when')) return true;
    if (conditions.has(lower)) {
      if (lower === 'provided' && next[0] !== 'that') continue;
      if (next.slice(0, 2).some((word) => ['possible', 'necessary', 'needed', 'any', 'möglich', 'nötig', 'please'].includes(word)))
        continue;
      if (next[0] === 'you' && (next[1] === 'can' || next[1] === 'could' || next[1] === 'are' || next[1] === 'have')) continue;
      if (['wenn', 'sobald'].includes(lower) && next.some((word) => completions.has(word))) continue;
      return true;
    }
    if (['when', 'once', 'as', 'after', 'until', 'bis'].includes(lower)) {
      if (lower === 'as' && next[0] !== 'soon') continue;
      if (lower === 'until') return true;
      if (lower === 'after' || lower === 'bis') continue;
      if (next.some((word) => completions.has(word))) continue;
      if (lower === 'once' && (next[0] === undefined || next[0] === ',' || next[0] === 'more')) continue;
      return true;
    }
  }
  return false;
}

function isScheduled(tokens: readonly Token[], i: number, to: number): boolean {
  for (let at = i + 1; at < to; at++) {
    const { lower } = tokens[at]!;
    const next = tokens[at + 1];
    const last = at + 1 === to || tokens[at + 1]!.text === ',';
    if (times.has(lower) && last) return true;
    if ((lower === 'every' || lower === 'each' || lower === 'jeden' || lower === 'jede') && next !== undefined && periods.has(next.lower))
      return true;
    if (lower === 'next' && next !== undefined && periods.has(next.lower) && at + 2 >= to) return true;
    if ((lower === 'on' || lower === 'am' || lower === 'by') && next !== undefined && weekdays.has(next.lower) && at + 2 >= to) return true;
    if (
      (lower === 'at' || lower === 'um') &&
      next?.kind === 'figure' &&
      ['am', 'pm', 'uhr', "o'clock"].includes(tokens[at + 2]?.lower ?? '')
    )
      return true;
    if (
      lower === 'at' &&
      next !== undefined &&
      /^\d{1,2}(?::\d{2})?(?:am|pm)?$/.test(next.lower) &&
      next.kind === 'word' &&
      next.lower.length <= 7
    )
      return true;
  }
  return false;
}

/** The sentence about an order that is not carried out; null if it is not an order. */
export function refusalOf(stance: Stance, what: string, quote: string): string | null {
  const reasons: Partial<Record<Stance, string>> = {
    negated: 'the task says not to',
    conditional: 'it depends on a condition, which no rule of the offline model reads',
    scheduled: 'it is for another time, and the offline model cannot schedule anything',
    question: 'it is a question, not an order',
  };
  const reason = reasons[stance];
  return reason === undefined ? null : `${what}, because ${reason}: "${collapseWhitespace(quote)}"`;
}

/** The sentence of a token as written, for quoting it. */
export function sentenceText(text: string, tokens: readonly Token[], i: number): string {
  const from = sentenceStart(tokens, i);
  const to = sentenceEnd(tokens, i);
  const end = to < tokens.length && !endsSentence(tokens, to) ? tokens[to]!.start : (tokens[to - 1]?.end ?? text.length);
  return text.slice(tokens[from]!.start, Math.min(end, tokens[from]!.start + 200)).trim();
}
