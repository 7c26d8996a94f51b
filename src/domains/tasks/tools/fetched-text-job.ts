/** The result of fetch_url for a page or document: text if it is text, otherwise its kind and size. */
import type { JobFunction } from '../../../providers/compute/port.ts';
import { pageText } from './html-text.ts';
import { detectText, knownEncoding } from './text-decoding.ts';

export type Fetched = {
  body: Uint8Array;
  /** The content was longer. */
  truncated: boolean;
  url: string;
  status: number;
  /** The header, empty where it is missing. */
  contentType: string;
};

const maxTextChars = 30_000;
/** The part of HTML that may declare its encoding; the standard reads 1,024 bytes. */
const metaBytes = 1024;

const describe: JobFunction<Fetched, object> = async ({ body, url, status, truncated: isCut, contentType }) => {
  const type = contentType.split(';')[0]!.trim().toLowerCase();
  const html = type === 'text/html' || type === 'application/xhtml+xml';
  const declared = /charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1] ?? (html ? metaCharset(body) : undefined);
  const found = detectText(body, !isCut, declared);
  if (found.kind === 'binary') {
    const size = isCut ? `more than ${body.length}` : String(body.length);
    return {
      url,
      status,
      type: type || 'unknown',
      text: null,
      note: `Not text: this is ${found.what} of ${size} bytes, which fetch_url cannot read.`,
    };
  }
  const text = new TextDecoder(found.encoding).decode(body);
  const page = html || (type === '' && /^\s*<(!doctype html|html)/i.test(text)) ? await pageText(text, url) : { text };
  const truncated = isCut || page.text.length > maxTextChars;
  return { url, status, type: type || 'text/plain', ...page, text: page.text.slice(0, maxTextChars), truncated };
};
export default describe;

function metaCharset(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.subarray(0, metaBytes)).toString('latin1');
  const name = /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]+)/i.exec(head)?.[1];
  return name && knownEncoding(name) ? name : undefined;
}
