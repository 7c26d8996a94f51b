/** Entity tags: a conditional request for an unchanged resource gets 304 without the body. */
import { hash } from 'node:crypto';
import type { HttpRequest, HttpResponse } from './message.ts';

/** The browser may store the answer and revalidates it each time; shared caches may not store it. */
const revalidated = 'private, no-cache';

/** The weak tag of a text: the same for every compression of it. */
export function weakTag(text: string | Uint8Array): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, 27)}"`;
}

/** Headers of an answer whose text can be requested again; made once where the answer is kept. */
export function taggedHeaders(text: string): Record<string, string> {
  return { 'Content-Type': 'application/json', ETag: weakTag(text), 'Cache-Control': revalidated };
}

/** A successful answer to GET or HEAD with its tag, or 304 where the caller has it already. An answer that already has a tag keeps it. */
export function conditional(request: HttpRequest, response: HttpResponse): HttpResponse {
  if (response.status !== 200 || typeof response.body !== 'string') return response;
  const own = response.headers?.ETag;
  const headers: Record<string, string> =
    own === undefined ? { 'Cache-Control': revalidated, ...response.headers, ETag: weakTag(response.body) } : response.headers!;
  const wanted = request.header('if-none-match');
  if (wanted === '' || !matchesTag(wanted, headers.ETag!)) return own === undefined ? { ...response, headers } : response;
  const { 'Content-Type': _, ...kept } = headers;
  return { status: 304, headers: kept, body: null };
}

/** Whether If-None-Match names the tag. The comparison is weak: `W/` is ignored. */
export function matchesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = withoutWeakness(tag);
  return ifNoneMatch.split(',').some((one) => withoutWeakness(one.trim()) === opaque);
}

/** Whether If-Match names the strong tag; also if there is no such header. A weak tag matches nothing. */
export function mayUseTag(ifMatch: string, tag: string): boolean {
  const wanted = ifMatch.trim();
  return wanted === '' || wanted === '*' || wanted.split(',').some((one) => one.trim() === tag);
}

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
