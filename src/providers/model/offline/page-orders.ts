/**
 * Orders to publish, and to write the page that is published: "write a page that says 'Hello' and deploy it to netlify". Pure. What the task
 * dictates is all that such a page says.
 */

import { wordSet } from '../../table/word-set.ts';
import type { FileOrder } from './orders.ts';
import { endsSentence, type Token } from './prompt-tokens.ts';
import { stanceOf } from './stance.ts';

export const publishing = wordSet('deploy redeploy publish veröffentliche');
const hosts = new Map([...['vercel', 'netlify', 'cloudflare', 'expo'].map((host) => [host, host] as const), ['workers', 'cloudflare']]);
const making = wordSet('write create make build generate schreibe schreib erstelle');
const pages = wordSet('page webpage website site homepage seite webseite website');
const beforePage = wordSet(
  'a an the me us my our one new simple small little short static plain single html web landing home start eine einen kleine einfache',
);
const joins = wordSet('and then und dann , also please');
const naming = wordSet('called titled named title heading headed namens titel');
const saying = wordSet('says say saying with containing contains reading reads showing shows mit');
const between = wordSet('that which it : the a text words content heading title line only just dem der inhalt');
const mostWords = 12;

/** The host that a clause names after its verb. */
export function hostIn(clause: readonly Token[]): string | null {
  const named = clause.find(({ kind, lower }) => kind !== 'mark' && hosts.has(lower));
  return named === undefined ? null : hosts.get(named.lower)!;
}

/** Where an order to publish begins that follows on the line of token `i`, with the words that join it; null: none does. */
export function publishingAfter(tokens: readonly Token[], i: number): number | null {
  for (let at = i + 1; at < tokens.length && tokens[at]!.kind !== 'break'; at++) {
    if (!publishing.has(tokens[at]!.lower) || hostIn(clauseFrom(tokens, at)) === null) continue;
    const isJoined = joins.has(tokens[at - 1]!.lower) || endsSentence(tokens, at - 1);
    if (!isJoined) continue;
    let from = at;
    while (from > i && joins.has(tokens[from - 1]!.lower)) from--;
    return tokens[from]!.start;
  }
  return null;
}

/** The page whose text is dictated; where the task orders to publish it too, also one of which no more than its subject is said. */
export function findPages(tokens: readonly Token[]): FileOrder[] {
  const publishes = tokens.some(({ lower }, i) => publishing.has(lower) && stanceOf(tokens, i) === 'order');
  for (let i = 0; i < tokens.length; i++) {
    const page = making.has(tokens[i]!.lower) ? pageAt(tokens, i) : null;
    if (page === null || (page.text === null && !publishes) || stanceOf(tokens, i) !== 'order') continue;
    return [{ path: 'index.html', content: htmlOf(page) }];
  }
  return [];
}

type Page = { title: string | null; text: string | null };

/** @param i the position of the verb */
function pageAt(tokens: readonly Token[], i: number): Page | null {
  let at = i + 1;
  while (at <= i + mostWords && beforePage.has(tokens[at]?.lower ?? '')) at++;
  if (!pages.has(tokens[at]?.lower ?? '')) return null;
  const page: Page = { title: null, text: null };
  const end = Math.min(tokens.length, at + 1 + 3 * mostWords);
  for (at++; at < end && !endsSentence(tokens, at) && !publishing.has(tokens[at]!.lower); at++) {
    const { lower } = tokens[at]!;
    if (!naming.has(lower) && !saying.has(lower) && lower !== 'about') continue;
    let next = at + 1;
    while (next < end && (between.has(tokens[next]!.lower) || naming.has(tokens[next]!.lower))) next++;
    const given = tokens[next];
    if (given?.kind === 'quoted') {
      if (naming.has(lower)) page.title ??= given.text;
      else page.text ??= given.text;
      at = next;
    } else if (lower === 'about') page.title ??= subjectAt(tokens, next, end);
  }
  return page;
}

/** Words up to the end of the clause. */
function subjectAt(tokens: readonly Token[], from: number, end: number): string | null {
  let to = from;
  while (to < end && !endsSentence(tokens, to) && !joins.has(tokens[to]!.lower) && !saying.has(tokens[to]!.lower)) to++;
  const subject = tokens.slice(from, to).map(({ text }) => text);
  return subject.length === 0 ? null : subject.join(' ');
}

function clauseFrom(tokens: readonly Token[], at: number): Token[] {
  let to = at + 1;
  while (to < tokens.length && to - at < 3 * mostWords && !endsSentence(tokens, to)) to++;
  return tokens.slice(at + 1, to);
}

const maxTitleChars = 120;

function htmlOf({ title: named, text }: Page): string {
  if (text !== null && /^\s*<(?:!doctype|html|head|body|h[1-6]|p|main|div)\b/i.test(text)) return text;
  const title = (named ?? text?.trim().split('\n')[0] ?? 'A page').slice(0, maxTitleChars);
  const own = 'The offline model wrote this page. It works by fixed rules and writes no texts of its own.';
  const paragraphs = text === null ? [own] : text.trim() === title ? [] : text.trim().split(/\n{2,}/);
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>`,
    '<body>',
    `<h1>${escaped(title)}</h1>`,
    ...paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
