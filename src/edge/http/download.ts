/** Sends a stored file: RFC 9110 ranges and preconditions, RFC 6266 names, and no content type that a browser would run. */
import type { FileStore } from '../../storage/files.ts';
import { matchesTag, mayUseTag } from './conditional.ts';
import type { HttpRequest, HttpResponse } from './message.ts';

export type Download = {
  key: string;
  sizeBytes: number;
  /** Hex; used as the strong ETag. */
  sha256: string;
  fileName: string;
  /** MIME type; a malformed one is sent as `application/octet-stream`. */
  type: string;
};

/** How long an address at the storage service is valid: long enough to follow a redirect. */
const presignedForS = 300;

/**
 * Answers GET and HEAD of a file: all of it (200), one range (206), unchanged (304), another version than wanted (412) or an impossible range
 * (416). A request for several ranges gets all of it. Files have no time of modification, so conditions on it are ignored.
 *
 * @param redirect where the store can make an address of its own, redirect the client there (302) instead of sending the bytes
 */
export async function sendFile(request: HttpRequest, store: FileStore, file: Download, redirect = false): Promise<HttpResponse> {
  const etag = `"${file.sha256}"`;
  const type = safeType(file.type);
  if (redirect) {
    const url = await store.presignedUrl(file.key, { expiresInS: presignedForS, fileName: file.fileName, type });
    if (url !== null) return { status: 302, headers: { Location: url, 'Cache-Control': 'private, no-store' }, body: null };
  }
  const headers: Record<string, string> = { ETag: etag, 'Cache-Control': 'private, no-cache', 'Accept-Ranges': 'bytes' };
  if (!mayUseTag(request.header('if-match'), etag))
    return { status: 412, headers: { ...headers, 'Content-Type': 'application/json' }, body: '{"detail":"Precondition Failed"}' };
  if (matchesTag(request.header('if-none-match'), etag)) return { status: 304, headers, body: null };
  headers['Content-Type'] = type;
  headers['Content-Disposition'] = contentDisposition(file.fileName);
  headers['Content-Security-Policy'] = "sandbox; default-src 'none'";

  const range = wantedRange(request, etag, file.sizeBytes);
  if (range === 'impossible') {
    return {
      status: 416,
      headers: { 'Content-Type': 'application/json', 'Content-Range': `bytes */${file.sizeBytes}` },
      body: '{"detail":"Range Not Satisfiable"}',
    };
  }
  const bodyBytes = range === null ? file.sizeBytes : range.end - range.start + 1;
  if (range !== null) headers['Content-Range'] = `bytes ${range.start}-${range.end}/${file.sizeBytes}`;
  const body = request.method === 'HEAD' || bodyBytes === 0 ? null : await store.open(file.key, range ?? undefined);
  return { status: range === null ? 200 : 206, headers, body, bodyBytes };
}

/** `attachment` with the name twice: in ASCII for old clients, in UTF-8 for others. No character of the name can end the header. */
export function contentDisposition(fileName: string): string {
  const wellFormed = fileName.toWellFormed();
  const plain = wellFormed.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const encoded = encodeURIComponent(wellFormed).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

function safeType(type: string): string {
  return /^[\w.+-]+\/[\w.+-]+(; ?charset=[\w-]+)?$/.test(type) ? type : 'application/octet-stream';
}

type Range = { start: number; end: number };

/** null: send the whole file. Also for ranges that are malformed, several, or of an older version. */
function wantedRange(request: HttpRequest, etag: string, sizeBytes: number): Range | 'impossible' | null {
  const parts = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(request.header('range').trim());
  if (parts === null) return null;
  const condition = request.header('if-range');
  if (condition !== '' && condition !== etag) return null;
  const [, first = '', last = ''] = parts;
  if (first === '' && last === '') return null;
  if (first === '') {
    const tailBytes = Math.min(Number(last), sizeBytes);
    return tailBytes === 0 ? 'impossible' : { start: sizeBytes - tailBytes, end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= sizeBytes) return 'impossible';
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}
