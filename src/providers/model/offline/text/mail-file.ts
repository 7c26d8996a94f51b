/** A stored mail (.eml): the headers that a reader needs and its plain body, on the lines where the file has them. */

const shownHeaders = /^(?:from|to|cc|date|subject|reply-to):/i;
const encodedWord = /=\?[\w-]{1,40}\?[bq]\?/i;
const plainEncodings = /^(?:|7bit|8bit|binary)$/;
const maxHeaderLines = 2_000;
const maxParts = 50;

export type MailFile = {
  text: string;
  /** Why the body or a header is not read; null if all of it is. */
  problem: string | null;
};

type Headers = { values: ReadonlyMap<string, string>; end: number };

export function readMailFile(raw: string): MailFile {
  const lines = raw.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  const { values, end } = headersOf(lines, 0);
  const kept = lines.map(() => '');
  for (let i = 0; i < end; i++) {
    if (!shownHeaders.test(lines[i]!)) continue;
    kept[i] = lines[i]!;
    for (let next = i + 1; next < end && /^[ \t]/.test(lines[next]!); next++) kept[i] += ` ${lines[next]!.trim()}`;
  }
  const isEncoded = kept.some((line) => encodedWord.test(line));
  const body = bodyOf(lines, values, end);
  if ('problem' in body) return { text: kept.join('\n'), problem: body.problem };
  for (let i = body.from; i < body.to; i++) kept[i] = lines[i]!;
  return { text: kept.join('\n'), problem: isEncoded ? 'A header of this mail is encoded and is shown as it is written.' : null };
}

/** The header lines from `from` up to the first empty line; names in lower case. */
function headersOf(lines: readonly string[], from: number): Headers {
  const values = new Map<string, string>();
  let name = '';
  let at = from;
  for (; at < lines.length && at - from < maxHeaderLines && lines[at] !== ''; at++) {
    const line = lines[at]!;
    if (/^[ \t]/.test(line)) values.set(name, `${values.get(name) ?? ''} ${line.trim()}`);
    else {
      const colon = line.indexOf(':');
      name = line.slice(0, Math.max(0, colon)).toLowerCase();
      if (!values.has(name)) values.set(name, line.slice(colon + 1).trim());
    }
  }
  return { values, end: at };
}

type Body = { from: number; to: number } | { problem: string };

/** The lines of the plain text: of the whole body, or of the first part that is plain. One pass; parts may hold parts. */
function bodyOf(lines: readonly string[], headers: Headers['values'], end: number): Body {
  const type = headers.get('content-type') ?? 'text/plain';
  if (!isMultipart(type)) return plain(headers, end + 1, lines.length);
  const marks = new Set([markOf(type)]);
  let problem = 'This mail has no part in plain text.';
  let open: number | null = null;
  let parts = 0;
  for (let i = end; i < lines.length && parts < maxParts; i++) {
    const line = lines[i]!;
    if (!marks.has(line) && !marks.has(line.endsWith('--') ? line.slice(0, -2) : line)) continue;
    if (open !== null) return { from: open, to: i };
    parts++;
    const part = headersOf(lines, i + 1);
    const partType = part.values.get('content-type') ?? 'text/plain';
    if (isMultipart(partType)) marks.add(markOf(partType));
    else if (/^text\/plain/i.test(partType) && !/^attachment/i.test(part.values.get('content-disposition') ?? '')) {
      const found = plain(part.values, part.end + 1, lines.length);
      if ('problem' in found) problem = found.problem;
      else open = found.from;
    }
  }
  return open === null ? { problem } : { from: open, to: lines.length };
}

function isMultipart(type: string): boolean {
  return /^multipart\//i.test(type);
}

/** The line that begins each part. */
function markOf(type: string): string {
  return `--${/boundary="?([^";]{1,100})/i.exec(type)?.[1] ?? ''}`;
}

function plain(headers: Headers['values'], from: number, to: number): Body {
  const encoding = (headers.get('content-transfer-encoding') ?? '').toLowerCase();
  if (!plainEncodings.test(encoding))
    return { problem: `Only the headers were read: the body is encoded as ${encoding.slice(0, 40)}. Store it as plain text (.txt).` };
  return /^text\/plain/i.test(headers.get('content-type') ?? 'text/plain')
    ? { from, to }
    : { problem: 'Only the headers were read: the body is not plain text. Store it as .txt.' };
}
