/** Distinguishes text from binary and finds a text's encoding from its first bytes; files and pages have any encoding. */

export type TextKind = { kind: 'text'; encoding: string } | { kind: 'binary'; what: string };

const signatures: [string, number[]][] = [
  ['a PNG image', [0x89, 0x50, 0x4e, 0x47]],
  ['a JPEG image', [0xff, 0xd8, 0xff]],
  ['a GIF image', [0x47, 0x49, 0x46, 0x38]],
  ['a PDF document', [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['a ZIP archive or an Office document', [0x50, 0x4b, 0x03, 0x04]],
  ['a gzip archive', [0x1f, 0x8b]],
  ['an old Office document', [0xd0, 0xcf, 0x11, 0xe0]],
  ['a program', [0x7f, 0x45, 0x4c, 0x46]],
  ['a RIFF file (WebP, WAV or AVI)', [0x52, 0x49, 0x46, 0x46]],
  ['an Ogg file', [0x4f, 0x67, 0x67, 0x53]],
  ['an SQLite database', [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65]],
];

/**
 * The kind of a file from its first bytes, `head`. Encodings have the names of `TextDecoder`: by the byte order mark, by the zero bytes of
 * UTF-16, UTF-8 if it is valid, otherwise `declared`, otherwise windows-1252.
 *
 * @param complete `head` is the whole file; otherwise a character may be incomplete at its end
 */
export function detectText(head: Uint8Array, complete: boolean, declared?: string): TextKind {
  if (starts(head, [0xef, 0xbb, 0xbf])) return { kind: 'text', encoding: 'utf-8' };
  if (starts(head, [0xff, 0xfe])) return { kind: 'text', encoding: 'utf-16le' };
  if (starts(head, [0xfe, 0xff])) return { kind: 'text', encoding: 'utf-16be' };
  const known = signatures.find(([, bytes]) => starts(head, bytes));
  if (known) return { kind: 'binary', what: known[0] };
  const zeros = zeroPositions(head);
  if (zeros.even + zeros.odd > 0) {
    const pairs = head.length / 2;
    if (zeros.even === 0 && zeros.odd > pairs * 0.4) return { kind: 'text', encoding: 'utf-16le' };
    if (zeros.odd === 0 && zeros.even > pairs * 0.4) return { kind: 'text', encoding: 'utf-16be' };
    return { kind: 'binary', what: 'binary data' };
  }
  if (isUtf8(head, complete))
    return controlShare(head) > 0.1 ? { kind: 'binary', what: 'binary data' } : { kind: 'text', encoding: 'utf-8' };
  if (controlShare(head) > 0.02) return { kind: 'binary', what: 'binary data' };
  return { kind: 'text', encoding: declared && knownEncoding(declared) && !/^utf-?8$/i.test(declared) ? declared : 'windows-1252' };
}

/** Whether `TextDecoder` can read this encoding. */
export function knownEncoding(name: string): boolean {
  try {
    new TextDecoder(name);
    return true;
  } catch {
    return false;
  }
}

function starts(head: Uint8Array, bytes: number[]): boolean {
  return head.length >= bytes.length && bytes.every((byte, i) => head[i] === byte);
}

function zeroPositions(head: Uint8Array): { even: number; odd: number } {
  const zeros = { even: 0, odd: 0 };
  for (let i = 0; i < head.length; i++) if (head[i] === 0) zeros[i % 2 === 0 ? 'even' : 'odd']++;
  return zeros;
}

function isUtf8(head: Uint8Array, complete: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !complete });
    return true;
  } catch {
    return false;
  }
}

/** A share of control characters that no text has. */
function controlShare(head: Uint8Array): number {
  let controls = 0;
  for (const byte of head) if (byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32) || byte === 127) controls++;
  return head.length === 0 ? 0 : controls / head.length;
}
