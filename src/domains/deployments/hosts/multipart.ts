/** Bodies of the type multipart/form-data. */
import { randomUUID } from 'node:crypto';
import type { Piece } from './base64-body.ts';

export type Part = { name: string; content: Piece; filename?: string; type?: string };

/** The pieces of the body, for `bodyOf`, and its content type. */
export function multipart(parts: readonly Part[]): { type: string; pieces: Piece[] } {
  // No content holds a random boundary.
  const boundary = `troupe-${randomUUID()}`;
  const pieces = parts.flatMap(({ name, content, filename, type }) => {
    const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`;
    const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
    return [`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n${typeLine}\r\n`, content, '\r\n'];
  });
  return { type: `multipart/form-data; boundary=${boundary}`, pieces: [...pieces, `--${boundary}--\r\n`] };
}

/** As browsers write names. */
function quoted(text: string): string {
  return text.replace(/["\r\n]/g, encodeURIComponent);
}
