/**
 * Reads XML as events while it is unpacked, so that a part is never in memory as a whole. Only what Office files contain: a document type
 * is refused, so there are no entities but the five of XML and characters by number. Names lose their prefix. Linear, and bounded in depth
 * and in the length of a tag.
 */

export type Attributes = Readonly<Record<string, string>>;
/** `text` is called with pieces: a long text comes in several. */
export type XmlHandler = {
  open?(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
};

const maxTagChars = 1024 * 1024;
const maxDepth = 256;
const longestEntity = 12;
const entities = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);
const none: Attributes = Object.freeze(Object.create(null));

export class BrokenXml extends Error {}

/** Throws `BrokenXml`. */
export async function eachXmlEvent(pieces: AsyncIterable<string>, handler: XmlHandler): Promise<void> {
  const reader = new XmlReader(handler);
  for await (const piece of pieces) reader.add(piece);
  reader.end();
}

class XmlReader {
  private readonly handler: XmlHandler;
  private readonly path: string[] = [];
  private rest = '';

  constructor(handler: XmlHandler) {
    this.handler = handler;
  }

  add(piece: string): void {
    const text = this.rest + piece;
    let at = 0;
    for (;;) {
      const start = text.indexOf('<', at);
      if (start === -1) {
        // The end of an entity may come with the next piece.
        const cut = text.lastIndexOf('&');
        const end = cut >= at && text.length - cut < longestEntity && !text.includes(';', cut) ? cut : text.length;
        this.text(text.slice(at, end));
        at = end;
        break;
      }
      this.text(text.slice(at, start));
      const end = this.markup(text, start);
      if (end === -1) {
        if (text.length - start > maxTagChars) throw new BrokenXml('a tag is too long');
        at = start;
        break;
      }
      at = end;
    }
    this.rest = text.slice(at);
  }

  end(): void {
    if (this.path.length > 0 || this.rest.trim() !== '') throw new BrokenXml('it ends within an element');
  }

  /** Reads the markup at `start`; returns the position behind it, or -1 if its end has not come yet. */
  private markup(text: string, start: number): number {
    const kind = text[start + 1];
    if (kind === '?') return behind(text, '?>', start);
    if (kind === '!') {
      const mark = text.slice(start, start + 9);
      if (mark.startsWith('<!--')) return behind(text, '-->', start + 4);
      if (mark === '<![CDATA[') {
        const end = behind(text, ']]>', start);
        if (end !== -1) this.handler.text?.(text.slice(start + 9, end - 3));
        return end;
      }
      if (mark.length < 9) return -1;
      throw new BrokenXml('it declares a document type');
    }
    const end = tagEnd(text, start + 1);
    if (end !== -1) this.tag(text.slice(start + 1, end));
    return end === -1 ? -1 : end + 1;
  }

  private tag(tag: string): void {
    if (tag[0] === '/') {
      const name = localName(tag.slice(1).trimEnd());
      if (this.path.pop() !== name) throw new BrokenXml('its elements are not nested');
      this.handler.close?.(name);
      return;
    }
    const isEmpty = tag.endsWith('/');
    let nameEnd = 0;
    while (nameEnd < tag.length && !isBlank(tag.charCodeAt(nameEnd)) && tag[nameEnd] !== '/') nameEnd++;
    const name = localName(tag.slice(0, nameEnd));
    if (name === '') throw new BrokenXml('a tag has no name');
    this.handler.open?.(name, attributesOf(tag, nameEnd));
    if (isEmpty) this.handler.close?.(name);
    else if (this.path.push(name) > maxDepth) throw new BrokenXml('its elements are nested too deeply');
  }

  private text(text: string): void {
    if (text !== '' && this.handler.text !== undefined) this.handler.text(decoded(text));
  }
}

function behind(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? -1 : at + mark.length;
}

/** The position of the `>` that ends the tag; a `>` within quotes does not. */
function tagEnd(text: string, from: number): number {
  let at = from;
  for (;;) {
    const end = text.indexOf('>', at);
    if (end === -1) return -1;
    let quote = -1;
    for (let i = at; i < end; i++) {
      if (text[i] !== '"' && text[i] !== "'") continue;
      quote = text.indexOf(text[i]!, i + 1);
      if (quote === -1) return -1;
      if (quote > end) break;
      i = quote;
    }
    if (quote <= end) return end;
    at = quote + 1;
  }
}

function attributesOf(tag: string, from: number): Attributes {
  let at = tag.indexOf('=', from);
  if (at === -1) return none;
  const attributes: Record<string, string> = Object.create(null);
  let start = from;
  while (at !== -1) {
    const name = localName(tag.slice(start, at).trim());
    let open = at + 1;
    while (isBlank(tag.charCodeAt(open))) open++;
    const quote = tag[open];
    const close = quote === '"' || quote === "'" ? tag.indexOf(quote, open + 1) : -1;
    if (close === -1) throw new BrokenXml('an attribute has no quotes');
    attributes[name] = decoded(tag.slice(open + 1, close));
    start = close + 1;
    at = tag.indexOf('=', start);
  }
  return attributes;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 9 || code === 13;
}

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#?\w{1,8});/g, (whole, name: string) => entities.get(name) ?? characterOf(name) ?? whole);
}

function characterOf(name: string): string | undefined {
  if (name[0] !== '#') return undefined;
  const code = name[1] === 'x' || name[1] === 'X' ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
