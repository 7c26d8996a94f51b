/**
 * Turns a web page into readable text, in one pass over it. Pages are untrusted: the available tree builders need a minute for 300 KB of
 * unclosed tags, and this code shares its process with other work. So there is no tree, only counters; time grows linearly with length, and
 * other work runs in between.
 */
import { setImmediate as otherWork } from 'node:timers/promises';
import { TextNode } from 'node-html-parser';

export type PageText = { title: string; description: string; text: string; links: { text: string; url: string }[] };

const maxLinks = 50;
const maxTagChars = 4096;
/** Processed at once, in a few milliseconds. */
const stretchChars = 64 * 1024;
/** Elements whose content is not text, up to the closing tag. */
const rawElements = new Set(['script', 'style', 'textarea', 'title', 'xmp']);
const hiddenElements = new Set([
  'svg',
  'math',
  'template',
  'noscript',
  'iframe',
  'object',
  'select',
  'button',
  'dialog',
  'canvas',
  'video',
  'audio',
]);
/** Elements around the main text: left out if enough text remains. */
const sideElements = new Set(['nav', 'aside', 'footer', 'form']);
const mainElements = new Set(['main', 'article']);
const blockElements = new Set(
  'p div section article main ul ol table tr blockquote pre figure figcaption dl dt dd header footer nav aside form fieldset address hr details summary body'.split(
    ' ',
  ),
);
/** A shorter part of the page does not count as its main text. */
const enoughChars = 200;

/** @param baseUrl the page's address, for relative links */
export async function pageText(html: string, baseUrl: string): Promise<PageText> {
  const page = new PageReader(baseUrl);
  const tagStart = /<(\/?)([a-z][^\s/>]{0,60})/iy;
  let at = 0;
  let pauseAt = stretchChars;
  while (at < html.length) {
    if (at > pauseAt) {
      pauseAt = at + stretchChars;
      await otherWork();
    }
    const open = html.indexOf('<', at);
    if (open < 0) {
      page.text(html.slice(at));
      break;
    }
    if (open > at) page.text(html.slice(at, open));
    if (html.startsWith('<!--', open)) {
      at = after(html, '-->', open + 4);
      continue;
    }
    tagStart.lastIndex = open;
    const match = tagStart.exec(html);
    if (!match) {
      const declaration = html[open + 1] === '!' || html[open + 1] === '?' || html[open + 1] === '/';
      if (!declaration) page.text('<');
      at = declaration ? after(html, '>', open) : open + 1;
      continue;
    }
    const end = tagEnd(html, tagStart.lastIndex);
    const name = match[2]!.toLowerCase();
    const tag = html.slice(open, Math.min(end, open + maxTagChars));
    at = end;
    if (match[1]) page.close(name);
    else if (rawElements.has(name)) {
      const close = html.slice(end).search(new RegExp(`</${name}`, 'i'));
      const stop = close < 0 ? html.length : end + close;
      page.raw(name, html.slice(end, stop));
      at = after(html, '>', stop);
    } else page.open(name, tag);
  }
  return page.result();
}

/** Collects the text in three versions: all of it, without side elements, and of the main element only. */
class PageReader {
  private readonly base: string;
  private readonly all = new TextFlow();
  private readonly body = new TextFlow();
  private readonly main = new TextFlow();
  private readonly depth = new Map<string, number>();
  private hidden = 0;
  private side = 0;
  private inMain = 0;
  private pre = 0;
  private title = '';
  private description = '';
  private link: { url: string; text: string } | null = null;
  private readonly links = new Map<string, string>();

  constructor(baseUrl: string) {
    this.base = baseUrl;
  }

  text(raw: string): void {
    if (this.hidden > 0) return;
    if (this.link && this.link.text.length < 400) this.link.text += raw.slice(0, 400);
    for (const flow of this.flows()) flow.add(raw, this.pre > 0);
  }

  raw(name: string, content: string): void {
    if (name === 'title' && !this.title) this.title = content;
    if (name === 'xmp' || name === 'textarea') this.text(content);
  }

  open(name: string, tag: string): void {
    if (name === 'meta' && /\bname\s*=\s*["']?description\b/i.test(tag)) this.description ||= attribute(tag, 'content');
    if (tag.endsWith('/>')) return this.mark(name);
    this.count(name, 1);
    if (name === 'a' && this.hidden === 0) this.startLink(attribute(tag, 'href'));
    this.mark(name);
  }

  close(name: string): void {
    if (name === 'a') this.endLink();
    if ((this.depth.get(name) ?? 0) > 0) this.count(name, -1);
    if (this.hidden > 0) return;
    for (const flow of this.flows()) {
      if (name === 'td' || name === 'th') flow.add(' | ', false);
      else if (/^h[1-6]$/.test(name)) flow.lineBreaks(2);
      else if (blockElements.has(name)) flow.lineBreaks(1);
    }
  }

  result(): PageText {
    this.endLink();
    const all = this.all.toString();
    const body = this.body.toString();
    const main = this.main.toString();
    const text = main.length >= enoughChars ? main : body.length >= enoughChars || body.length * 2 > all.length ? body : all;
    const links = [...this.links].map(([url, words]) => ({ text: words, url }));
    return {
      title: oneLine(this.title, 300),
      description: oneLine(this.description, 500),
      text: decode(text).replaceAll('\u00a0', ' ').trim(),
      links,
    };
  }

  private flows(): TextFlow[] {
    if (this.side > 0) return [this.all];
    return this.inMain > 0 ? [this.all, this.body, this.main] : [this.all, this.body];
  }

  private count(name: string, by: 1 | -1): void {
    const isTracked = hiddenElements.has(name) || sideElements.has(name) || mainElements.has(name) || name === 'pre';
    if (!isTracked) return;
    this.depth.set(name, (this.depth.get(name) ?? 0) + by);
    if (hiddenElements.has(name)) this.hidden += by;
    else if (sideElements.has(name)) this.side += by;
    else if (mainElements.has(name)) this.inMain += by;
    else this.pre += by;
  }

  /** The text that an opening tag adds. */
  private mark(name: string): void {
    if (this.hidden > 0) return;
    for (const flow of this.flows()) {
      const heading = /^h([1-6])$/.exec(name);
      if (heading) flow.lineBreaks(2).add(`${'#'.repeat(Number(heading[1]))} `, false);
      else if (name === 'li') flow.lineBreaks(1).add('- ', false);
      else if (name === 'br') flow.lineBreaks(1);
      else if (name === 'p') flow.lineBreaks(2);
      else if (blockElements.has(name)) flow.lineBreaks(1);
    }
  }

  private startLink(href: string): void {
    this.endLink();
    const url = decode(href).trim();
    if (!url || url.startsWith('#') || !URL.canParse(url, this.base)) return;
    const target = new URL(url, this.base);
    if (target.protocol === 'http:' || target.protocol === 'https:') this.link = { url: target.href, text: '' };
  }

  private endLink(): void {
    const link = this.link;
    this.link = null;
    const words = link ? oneLine(link.text, 200) : '';
    if (link && words && link.url.length <= 2000 && this.links.size < maxLinks && !this.links.has(link.url))
      this.links.set(link.url, words);
  }
}

/** Text with collapsed white space and counted line breaks. */
class TextFlow {
  private readonly parts: string[] = [];
  private breaks = 2;
  private space = false;

  add(raw: string, preformatted: boolean): void {
    const text = preformatted ? raw : raw.replace(/\s+/g, ' ');
    const startsWithSpace = !preformatted && text.startsWith(' ');
    const words = preformatted ? text : text.trim();
    this.space ||= startsWithSpace;
    if (words === '') return;
    if (this.breaks > 0 && this.parts.length > 0) this.parts.push('\n'.repeat(this.breaks));
    else if (this.space && this.parts.length > 0) this.parts.push(' ');
    this.parts.push(words);
    this.breaks = 0;
    this.space = !preformatted && text.length > 1 && text.endsWith(' ');
  }

  lineBreaks(count: number): this {
    this.breaks = Math.max(this.breaks, count);
    this.space = false;
    return this;
  }

  toString(): string {
    return this.parts.join('');
  }
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found < 0 ? html.length : found + mark.length;
}

/** The position after the tag's `>`, which may also occur inside quotes. */
function tagEnd(html: string, from: number): number {
  let quote = '';
  for (let at = from; at < html.length; at++) {
    const char = html[at]!;
    if (quote) quote = char === quote ? '' : quote;
    else if (char === '>') return at + 1;
    else if ((char === '"' || char === "'") && html[at - 1] === '=') quote = char;
  }
  return html.length;
}

function attribute(tag: string, name: string): string {
  const match = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag);
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? '';
}

function oneLine(raw: string, maxChars: number): string {
  return decode(raw).replace(/\s+/g, ' ').trim().slice(0, maxChars);
}

/** All two thousand character references: the only part that needs a parser. */
function decode(text: string): string {
  return text.includes('&') ? new TextNode(text).text : text;
}
