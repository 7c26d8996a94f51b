/** Content that does not change while the service runs: compressed once at the highest level, identified by a tag. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { accepts } from './compression.ts';
import { matchesTag, weakTag } from './conditional.ts';
import type { HttpRequest, HttpResponse } from './message.ts';

const brotliQuality = 5;

export type StaticContent = { plain: Buffer; gzip: Buffer; br: Buffer; headers: Record<string, string> };

/** @param headers sent with the content, `Content-Type` among them */
export async function staticContent(text: string, headers: Record<string, string>): Promise<StaticContent> {
  const plain = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const [gzipped, br] = await Promise.all([promisify(gzip)(plain), promisify(brotliCompress)(plain, { params })]);
  return { plain, gzip: gzipped, br, headers: { ...headers, ETag: weakTag(plain), Vary: 'Accept-Encoding' } };
}

/** The answer to GET and HEAD: 304 where the caller has it, otherwise the smallest encoding that the caller accepts. */
export function sendStatic(request: HttpRequest, content: StaticContent): HttpResponse {
  const { headers } = content;
  if (matchesTag(request.header('if-none-match'), headers.ETag!)) {
    const { 'Content-Type': _, ...kept } = headers;
    return { status: 304, headers: kept, body: null };
  }
  const acceptEncoding = request.header('accept-encoding');
  for (const coding of ['br', 'gzip'] as const)
    if (accepts(acceptEncoding, coding)) return { status: 200, headers: { ...headers, 'Content-Encoding': coding }, body: content[coding] };
  return { status: 200, headers, body: content.plain };
}
