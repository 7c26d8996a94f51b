/** Plain orders that rules find in a text: mails, purchases, files to write, addresses to read, things to search. Pure; independent of tools. */
import { findMailOrders, type MailClause } from './mail-orders.ts';
import { amountAt } from './money.ts';
import { findPages, publishingAfter } from './page-orders.ts';
import { collapseWhitespace, readTokens, sentenceEnd, sentenceStart, type Token } from './prompt-tokens.ts';
import { refusalOf, sentenceText, stanceOf } from './stance.ts';

export { parseAmount, parseFigure } from './money.ts';

export type MailOrder = { to: string; subject: string | null; message: string | null };
export type PurchaseOrder = { description: string; amount: number; vendor: string };
export type FileOrder = { path: string; content: string };

export type Orders = {
  mails: MailOrder[];
  purchases: PurchaseOrder[];
  files: FileOrder[];
  urls: string[];
  search: string | null;
  /** Texts that look like orders and are not carried out, with the reason, as sentences for the closing words. */
  refused: string[];
};

const maxOrders = 10;
const maxUrls = 5;
const maxQueryChars = 300;
const maxContentChars = 20_000;
const maxDescriptionTokens = 30;

export function parseOrders(text: string): Orders {
  const tokens = readTokens(text);
  const urls = urlsOf(tokens);
  const clauses = findMailOrders(text, tokens);
  const buying = findPurchases(text, tokens);
  return {
    mails: mailsOf(clauses),
    purchases: buying.purchases.slice(0, maxOrders),
    files: filesOf(text, tokens).slice(0, maxOrders),
    urls,
    search: urls.length > 0 ? null : findSearch(text, tokens),
    refused: [...clauses.flatMap(({ refusal }) => (refusal === null ? [] : [refusal])), ...buying.refused].slice(0, maxOrders),
  };
}

/** The text without its mail orders, for another agent. */
export function withoutMailOrders(text: string): string {
  let rest = '';
  let from = 0;
  for (const clause of findMailOrders(text, readTokens(text))) {
    if (clause.recipients.length === 0 || clause.start < from) continue;
    rest += text.slice(from, clause.start);
    from = clause.end;
  }
  return (rest + text.slice(from)).trim();
}

export function findUrls(text: string): string[] {
  return urlsOf(readTokens(text));
}

export function findAddresses(text: string): string[] {
  return [...new Set(readTokens(text).flatMap(addressesOf))];
}

/** Addresses in a token, also a single one in quotes or brackets. */
function addressesOf({ kind, text }: Token): string[] {
  if (kind === 'address') return [text];
  return kind === 'quoted' && text.length < 300 && text.includes('@')
    ? readTokens(text).flatMap((token) => (token.kind === 'address' ? [token.text] : []))
    : [];
}

function urlsOf(tokens: readonly Token[]): string[] {
  const found = tokens.flatMap(({ kind, text }) => {
    if (kind === 'url') return [text];
    return kind === 'quoted' && text.length < 2000 && text.startsWith('http')
      ? readTokens(text).flatMap((token) => (token.kind === 'url' ? [token.text] : []))
      : [];
  });
  return [...new Set(found)].slice(0, maxUrls);
}

function mailsOf(clauses: readonly MailClause[]): MailOrder[] {
  const mails: MailOrder[] = [];
  for (const { recipients, subject, message } of clauses) {
    for (const to of recipients) if (!mails.some((mail) => mail.to === to)) mails.push({ to, subject, message });
  }
  return mails.slice(0, maxOrders);
}

const buyVerbs = new Set(['order', 'buy', 'purchase', 'get', 'bestelle', 'bestell', 'kaufe', 'kauf']);
const vague = new Set([
  'about',
  'around',
  'approximately',
  'under',
  'below',
  'most',
  'least',
  'up',
  'maximum',
  'between',
  'roughly',
  'less',
  'more',
  'ca',
  'etwa',
  'maximal',
  'over',
]);

function findPurchases(text: string, tokens: readonly Token[]): { purchases: PurchaseOrder[]; refused: string[] } {
  const purchases: PurchaseOrder[] = [];
  const refused: string[] = [];
  for (let i = 0; i < tokens.length && purchases.length < maxOrders; i++) {
    if (!buyVerbs.has(tokens[i]!.lower)) continue;
    const found = purchaseAt(text, tokens, i);
    if (found === null) continue;
    const stance = stanceOf(tokens, i);
    if (stance === 'order' && !found.vague) purchases.push(found.order);
    else if (stance === 'order')
      refused.push(`Nothing was ordered, because no exact amount is named: "${collapseWhitespace(sentenceText(text, tokens, i))}"`);
    else {
      const refusal = refusalOf(stance, 'Nothing was ordered', sentenceText(text, tokens, i));
      if (refusal !== null) refused.push(refusal);
    }
  }
  return { purchases, refused };
}

/** "order 3 licences from Acme for 120 dollars" or "order 3 licences for $40 each from Acme". */
function purchaseAt(text: string, tokens: readonly Token[], i: number): { order: PurchaseOrder; vague: boolean } | null {
  const to = Math.min(sentenceEnd(tokens, i), i + 1 + 2 * maxDescriptionTokens);
  const find = (names: readonly string[], from: number) => {
    for (let at = from; at < to; at++) if (names.includes(tokens[at]!.lower)) return at;
    return -1;
  };
  const from = find(['from', 'von', 'bei'], i + 2);
  if (from === -1 || from + 1 >= to) return null;
  const pricing = ['for', 'at', 'costing', 'für', 'zu'];
  for (let at = find(pricing, i + 2); at !== -1; at = find(pricing, at + 1)) {
    let money = at + 1;
    let isVague = false;
    while (
      money < to &&
      (['a', 'total', 'of', 'the', 'price', 'insgesamt'].includes(tokens[money]!.lower) || vague.has(tokens[money]!.lower))
    ) {
      isVague ||= vague.has(tokens[money]!.lower);
      money++;
    }
    const amount = amountAt(tokens, money);
    if (amount === null) continue;
    let next = amount.next;
    const each = ['each', 'apiece', 'je', 'pro', 'per'].includes(tokens[next]?.lower ?? '');
    if (each) next += tokens[next]!.lower === 'per' || tokens[next]!.lower === 'pro' ? 2 : 1;
    // "for 12 people" is not a price.
    const ends =
      next >= to || tokens[next]!.kind === 'mark' || ['from', 'von', 'bei', 'and', 'und', 'then', 'please'].includes(tokens[next]!.lower);
    if ((amount.currency === null && (!ends || tokens[i]!.lower === 'get')) || amount.value <= 0) continue;
    const first = Math.min(at, from);
    const description = slice(text, tokens, i + 1, first);
    const vendorEnd = from < at ? at : vendorEndOf(tokens, from + 1, to);
    const vendor = slice(text, tokens, from + 1, vendorEnd);
    if (description === '' || vendor === '' || vendor.length > 80 || description.length > 160 || vendorEnd <= from + 1) continue;
    if (tokens.slice(i + 1, first).some(({ lower }) => /^(?:shares?|stocks?|aktien?)$/.test(lower))) return null;
    const counted = /^\d{1,9}$/.test(tokens[i + 1]!.text) ? Number(tokens[i + 1]!.text) : 1;
    const value = Math.round(amount.value * (each ? counted : 1) * 100) / 100;
    return { order: { description, amount: value, vendor }, vague: isVague };
  }
  return null;
}

function vendorEndOf(tokens: readonly Token[], from: number, to: number): number {
  let at = from;
  while (
    at < to &&
    !(tokens[at]!.kind === 'mark' && ',;.'.includes(tokens[at]!.text)) &&
    !['and', 'und', 'then', 'please', 'by', 'before'].includes(tokens[at]!.lower)
  )
    at++;
  return at;
}

function slice(text: string, tokens: readonly Token[], from: number, to: number): string {
  if (to <= from) return '';
  if (to === from + 1 && tokens[from]!.kind === 'quoted') return collapseWhitespace(tokens[from]!.text);
  return collapseWhitespace(text.slice(tokens[from]!.start, tokens[to - 1]!.end));
}

const writeVerbs = new Set(['write', 'create', 'save', 'make', 'schreibe', 'schreib', 'erstelle', 'speichere']);
const fillers = new Set([
  'me',
  'a',
  'an',
  'the',
  'new',
  'text',
  'file',
  'note',
  'called',
  'named',
  'eine',
  'einen',
  'neue',
  'datei',
  'namens',
  'as',
  'to',
  'in',
  'into',
  'die',
]);
const contentLeads = new Set(['with', 'containing', 'saying', 'mit']);
const contentNouns = new Set(['the', 'text', 'content', 'contents', 'words', 'line', 'lines', 'dem', 'inhalt', 'following', 'folgendem']);
/** "with the summary of …" requests a report of that name; it is not the text itself. */
const reportNouns = new Set([
  'summary',
  'report',
  'analysis',
  'result',
  'results',
  'findings',
  'list',
  'table',
  'overview',
  'totals',
  'figures',
  'zusammenfassung',
  'bericht',
  'ergebnis',
  'ergebnissen',
  'your',
  'a',
  'an',
  'all',
  'sum',
  'total',
]);

/** A page is written where no file of its name is dictated. */
function filesOf(text: string, tokens: readonly Token[]): FileOrder[] {
  const files = findFiles(text, tokens);
  return [...files, ...findPages(tokens).filter(({ path }) => !files.some((file) => file.path === path))];
}

function findFiles(text: string, tokens: readonly Token[]): FileOrder[] {
  const files: FileOrder[] = [];
  for (let i = 0; i < tokens.length && files.length < maxOrders; i++) {
    if (!writeVerbs.has(tokens[i]!.lower)) continue;
    let at = i + 1;
    while (at < i + 9 && fillers.has(tokens[at]?.lower ?? '')) at++;
    const path = tokens[at];
    if (path === undefined || (path.kind !== 'word' && path.kind !== 'quoted') || !isPlainFileName(path.text)) continue;
    at++;
    if (tokens[at]?.lower === 'that' && tokens[at + 1]?.lower === 'says') at += 2;
    else if (contentLeads.has(tokens[at]?.lower ?? '') || tokens[at]?.text === ':') at++;
    else continue;
    const plain = at;
    while (at < plain + 4 && contentNouns.has(tokens[at]?.lower ?? '')) at++;
    if (tokens[at]?.text === ':') at++;
    while (tokens[at]?.kind === 'break' && tokens[at + 1]?.kind === 'quoted') at++;
    const first = tokens[at];
    if (first === undefined || first.kind === 'break' || stanceOf(tokens, i) !== 'order') continue;
    if (first.kind !== 'quoted' && reportNouns.has(first.lower)) continue;
    const end = publishingAfter(tokens, at) ?? lineEnd(text, first.start);
    const content = first.kind === 'quoted' ? first.text : text.slice(first.start, end);
    if (content.trim() !== '') files.push({ path: path.text, content: content.trim().slice(0, maxContentChars) });
  }
  return files;
}

function isPlainFileName(name: string): boolean {
  return name.length <= 100 && /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*\.[A-Za-z]\w{0,7}$/u.test(name);
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

const searchStops = new Set([
  'then',
  'write',
  'summarise',
  'summarize',
  'report',
  'e-mail',
  'email',
  'send',
  'tell',
  'give',
  'create',
  'list',
]);

function findSearch(text: string, tokens: readonly Token[]): string | null {
  for (let i = 0; i < tokens.length; i++) {
    const from = searchPhraseEnd(tokens, i);
    if (from === 0 || tokens[from] === undefined || stanceOf(tokens, i) !== 'order') continue;
    let to = from;
    const limit = Math.min(tokens.length, from + 60);
    while (to < limit && tokens[to]!.kind !== 'break' && !stopsQuery(tokens, to)) to++;
    const query = to > from ? text.slice(tokens[from]!.start, tokens[to - 1]!.end).slice(0, maxQueryChars) : '';
    // A question that names a file is searched in the file.
    if (query !== '' && !tokens.slice(from, to).some(({ text: word }) => /\.[a-z]\w{1,4}$/i.test(word.slice(-8))))
      return collapseWhitespace(stripEnd(query));
  }
  return findQuestion(text, tokens);
}

function searchPhraseEnd(tokens: readonly Token[], i: number): number {
  const word = (offset: number) => tokens[i + offset]?.lower ?? '';
  switch (word(0)) {
    case 'search': {
      let at = 1;
      if (word(at) === 'the' && ['web', 'internet'].includes(word(at + 1))) at += 2;
      else if (word(at) === 'online') at++;
      if (word(at) === 'for') at++;
      return i + at;
    }
    case 'research':
    case 'google':
      return i + 1;
    case 'look':
      return word(1) === 'up' ? i + 2 : 0;
    case 'find':
      if (word(1) === 'out') return word(2) === 'about' ? i + 3 : i + 2;
      return ['information', 'news', 'facts'].includes(word(1)) && ['on', 'about'].includes(word(2)) ? i + 3 : 0;
    case 'suche':
      return word(1) === 'im' && ['internet', 'netz', 'web'].includes(word(2)) ? i + (word(3) === 'nach' ? 4 : 3) : 0;
    default:
      return 0;
  }
}

function stopsQuery(tokens: readonly Token[], i: number): boolean {
  const { kind, text, lower } = tokens[i]!;
  const next = tokens[i + 1]?.lower ?? '';
  return (
    (kind === 'mark' &&
      ',;.!?'.includes(text) &&
      (searchStops.has(next) || tokens[i + 1] === undefined || tokens[i + 1]!.kind === 'break')) ||
    (lower === 'and' && searchStops.has(next))
  );
}

function stripEnd(query: string): string {
  let end = query.length;
  while (end > 0 && '.?! '.includes(query[end - 1]!)) end--;
  return query.slice(0, end);
}

const questionWords = new Set(['who', 'when', 'where', 'which', 'what']);
const worldWords = new Set(['latest', 'current', 'today', 'news', 'president', 'capital', 'population', 'weather', 'founded', 'ceo']);

/** A question about the outside world at the beginning of the text. */
function findQuestion(text: string, tokens: readonly Token[]): string | null {
  if (!questionWords.has(tokens[0]?.lower ?? '')) return null;
  const to = sentenceEnd(tokens, 0, 60);
  if (tokens[to]?.text !== '?') return null;
  const asked = tokens.slice(sentenceStart(tokens, 0), to);
  if (!asked.some(({ lower }) => worldWords.has(lower)) || asked.some(({ text: word }) => /\.[a-z]\w{1,4}$/i.test(word.slice(-8))))
    return null;
  return collapseWhitespace(text.slice(asked[0]!.start, asked.at(-1)!.end)).slice(0, maxQueryChars);
}
