/** Mails that a text orders: recipients, subject and text. No mail is sent to an address that is only mentioned. */
import { sentenceEnd, sentenceStart, type Token } from './prompt-tokens.ts';
import { refusalOf, sentenceText, stanceOf } from './stance.ts';

export type MailClause = {
  recipients: string[];
  subject: string | null;
  message: string | null;
  /** The part of the text that is the order, with the words that join it to the text before. */
  start: number;
  end: number;
  /** Why no mail is sent, as a sentence; null if one is to be sent. */
  refusal: string | null;
};

const mailVerbs = new Set(['e-mail', 'email', 'mail', 'send', 'forward', 'schicke', 'schick', 'sende', 'maile', 'verschicke', 'leite']);
const finalVerbs = new Set(['schicken', 'senden', 'mailen', 'verschicken', 'weiterleiten']);
const plainMail = new Set(['e-mail', 'email', 'mail', 'maile']);
const towards = new Set(['to', 'an', 'cc', 'bcc', 'at', 'for', 'für']);
const notTowards = new Set([
  'from',
  'von',
  'by',
  'about',
  'regarding',
  'über',
  'mentioning',
  'with',
  'mit',
  'not',
  'nicht',
  'without',
  'ohne',
  'except',
  'außer',
  'of',
  'instead',
  'than',
  'via',
  'using',
]);
const joining = new Set([
  'and',
  'then',
  'afterwards',
  'finally',
  'please',
  'also',
  'und',
  'dann',
  'bitte',
  'danach',
  'anschließend',
  ',',
  ';',
]);
const maxTokens = 60;
const maxClauses = 20;
const maxRecipients = 10;

export function findMailOrders(text: string, tokens: readonly Token[]): MailClause[] {
  const clauses: MailClause[] = [];
  for (let i = 0; i < tokens.length && clauses.length < maxClauses; i++) {
    const { lower } = tokens[i]!;
    if (!mailVerbs.has(lower) && !finalVerbs.has(lower)) continue;
    const clause = finalVerbs.has(lower) ? beforeVerb(text, tokens, i) : afterVerb(text, tokens, i);
    if (clause === null) continue;
    clauses.push(clause);
    // The text of the mail contains no further orders.
    while (i + 1 < tokens.length && tokens[i + 1]!.start < clause.end) i++;
  }
  return clauses;
}

function afterVerb(text: string, tokens: readonly Token[], i: number): MailClause | null {
  const limit = Math.min(lineEnd(tokens, i), i + maxTokens);
  let to = sentenceEnd(tokens, i, maxTokens);
  // "Send the report. The address is ann@example.com": one sentence more.
  if (
    to < limit &&
    !tokens.slice(i, to).some(isAddress) &&
    tokens.slice(to + 1, to + 5).some(({ lower }) => lower === 'address' || lower === 'adresse')
  )
    to = sentenceEnd(tokens, to + 1, maxTokens);
  const found = recipientsIn(tokens, i + 1, to, true);
  const stance = stanceOf(tokens, i);
  if (stance === 'none') return null;
  const quote = sentenceText(text, tokens, i);
  if (found.addresses.length === 0) {
    if (
      found.mentioned ||
      !plainMail.has(tokens[i]!.lower) ||
      !['it', 'the', 'this', 'them', 'me', 'us', 'him', 'her', 'a', 'den', 'die', 'das', 'mir', 'uns'].includes(tokens[i + 1]?.lower ?? '')
    )
      return null;
    const refusal =
      stance === 'order'
        ? `No e-mail was sent, because the task names no address: "${quote}"`
        : refusalOf(stance, 'No e-mail was sent', quote);
    return { recipients: [], subject: null, message: null, start: tokens[i]!.start, end: tokens[i]!.end, refusal };
  }
  const words = wordsOfMail(text, tokens, i, found.last);
  const start = joinedStart(tokens, i);
  if (stance !== 'order')
    return { recipients: [], subject: null, message: null, start, end: words.end, refusal: refusalOf(stance, 'No e-mail was sent', quote) };
  return { recipients: found.addresses, subject: words.subject, message: words.message, start, end: words.end, refusal: null };
}

/** German puts the verb last: "den Bericht bitte an ann@example.com schicken". */
function beforeVerb(text: string, tokens: readonly Token[], i: number): MailClause | null {
  const from = sentenceStart(tokens, i, maxTokens);
  const found = recipientsIn(tokens, from, i, false);
  if (found.addresses.length === 0) return null;
  const before = tokens.slice(from, i).map(({ lower }) => lower);
  const quote = sentenceText(text, tokens, i);
  const refused = before.some((word) => ['nicht', 'kein', 'keine', 'nie', 'niemals', 'ohne'].includes(word))
    ? 'negated'
    : before.some((word) => ['falls', 'wenn', 'sofern', 'ob'].includes(word))
      ? 'conditional'
      : null;
  const start = tokens[from]!.start;
  const end = tokens[i]!.end;
  if (refused !== null)
    return { recipients: [], subject: null, message: null, start, end, refusal: refusalOf(refused, 'No e-mail was sent', quote) };
  // "Ich werde … schicken" is a statement, not an order.
  if (['ich', 'er', 'sie', 'wir', 'hat', 'wollte'].includes(before[0] ?? '')) return null;
  const words = wordsOfMail(text, tokens, from, i);
  return {
    recipients: found.addresses,
    subject: words.subject,
    message: words.message,
    start: joinedStart(tokens, found.clause),
    end: Math.max(end, words.end),
    refusal: null,
  };
}

function isAddress({ kind, text }: Token): boolean {
  return kind === 'address' || (kind === 'quoted' && isQuotedAddress(text));
}

function isQuotedAddress(text: string): boolean {
  return text.length < 255 && /^[^\s@]{1,64}@[^\s@]{1,190}$/.test(text) && text.includes('.', text.indexOf('@'));
}

function recipientsIn(
  tokens: readonly Token[],
  from: number,
  to: number,
  direct: boolean,
): { addresses: string[]; mentioned: boolean; last: number; clause: number } {
  const addresses: string[] = [];
  let mentioned = false;
  let last = from;
  let clause = from;
  let toward: boolean | null = direct ? true : null;
  for (let at = from; at < to && addresses.length < maxRecipients; at++) {
    const token = tokens[at]!;
    if (isAddress(token)) {
      mentioned = true;
      if (toward !== true) continue;
      if (!addresses.includes(token.text)) addresses.push(token.text);
      last = at;
    } else if (towards.has(token.lower)) {
      const before = tokens[at - 1]?.lower ?? '';
      toward = before !== 'not' && before !== 'nicht';
      if (addresses.length === 0) clause = at;
    } else if (notTowards.has(token.lower)) toward = false;
    else if (token.lower === 'subject' || token.lower === 'betreff' || token.lower === 'saying') break;
  }
  return { addresses, mentioned, last, clause };
}

function lineEnd(tokens: readonly Token[], i: number): number {
  let to = i;
  while (to < tokens.length && to - i < maxTokens && tokens[to]!.kind !== 'break') to++;
  return to;
}

/** Subject and text of a mail whose last recipient is token `last`, and their end. */
function wordsOfMail(
  text: string,
  tokens: readonly Token[],
  verb: number,
  last: number,
): { subject: string | null; message: string | null; end: number } {
  let subject: string | null = null;
  let message: string | null = null;
  let end = tokens[last]!.end;
  if (tokens[last + 1]?.text === '>' || tokens[last + 1]?.text === ')') end = tokens[last + 1]!.end;
  const limit = Math.min(tokens.length, last + maxTokens);
  for (let at = verb + 1; at < limit; at++) {
    const { lower, kind } = tokens[at]!;
    if (at > last + 1 && mailVerbs.has(lower) && tokens[at - 1]!.kind === 'break') break;
    if (at > last && kind === 'break' && tokens[at + 1]?.kind === 'break') break;
    if (subject === null && (lower === 'subject' || lower === 'betreff')) {
      const found = subjectAt(text, tokens, at + 1);
      if (found === null) continue;
      subject = found.subject;
      if (at > last) end = Math.max(end, tokens[found.to]!.end);
      at = found.to;
      continue;
    }
    const from = message === null ? messageStart(tokens, at, last) : -1;
    if (from === -1 || tokens[from] === undefined) continue;
    const first: Token = tokens[from]!;
    if (first.kind === 'quoted') {
      message = first.text.trim();
      end = Math.max(end, first.end);
      at = from;
    } else if (first.kind !== 'break') {
      const lineStop = text.indexOf('\n', first.start);
      const stop = lineStop === -1 ? text.length : lineStop;
      message = text.slice(first.start, stop).trim();
      end = Math.max(end, stop);
      break;
    }
  }
  return { subject, message: message === '' ? null : message, end };
}

function subjectAt(text: string, tokens: readonly Token[], from: number): { subject: string; to: number } | null {
  let at = from;
  while (at < from + 4 && ['line', ':', 'is', '=', 'the'].includes(tokens[at]?.lower ?? '')) at++;
  const first = tokens[at];
  if (first === undefined || first.lower === 'of') return null;
  if (first.kind === 'quoted') return { subject: first.text.trim(), to: at };
  let to = at;
  while (
    to < tokens.length &&
    to < at + 12 &&
    tokens[to]!.kind !== 'break' &&
    !(tokens[to]!.kind === 'mark' && ',;.'.includes(tokens[to]!.text)) &&
    !['and', 'und', 'saying', 'with', 'mit', 'that'].includes(tokens[to]!.lower)
  )
    to++;
  return to === at ? null : { subject: text.slice(first.start, tokens[to - 1]!.end).trim(), to: to - 1 };
}

/** The position of a mail's first word, if token `at` announces it; otherwise -1. */
function messageStart(tokens: readonly Token[], at: number, last: number): number {
  const word = (offset: number) => tokens[at + offset]?.lower ?? '';
  let next = -1;
  if (word(0) === 'saying') next = at + 1;
  else if (word(0) === 'that' && word(1) === 'says') next = at + 2;
  else if (
    (word(0) === 'with' || word(0) === 'mit') &&
    ['the', 'dem', 'der', 'den'].includes(word(1)) &&
    ['text', 'message', 'words', 'body', 'nachricht', 'worten'].includes(word(2))
  )
    next = at + 3;
  else if ((word(0) === 'text' || word(0) === 'message' || word(0) === 'body') && tokens[at + 1]?.kind === 'quoted' && at > last)
    next = at + 1;
  else if (word(0) === 'telling' && ['them', 'him', 'her'].includes(word(1))) next = at + (word(2) === 'that' ? 3 : 2);
  else if (at === last + 1 && word(0) === ':') return tokens[at + 1]?.kind === 'quoted' ? at + 1 : -1;
  if (next !== -1 && tokens[next]?.text === ':') next++;
  return next;
}

/** Words such as ", then" and "and" before the order belong to it. */
function joinedStart(tokens: readonly Token[], i: number): number {
  let at = i;
  while (at > 0 && tokens[at - 1]!.kind !== 'break' && joining.has(tokens[at - 1]!.lower)) at--;
  if (at < i) return at > 0 ? tokens[at - 1]!.end : tokens[at]!.start;
  return tokens[i]!.start;
}
