/**
 * Reads a file's bytes once before parsing: which encoding they have, and whether they are text. A file that is not text is refused with an
 * error that names its kind.
 */

import { isAscii } from 'node:buffer';
import { type Readable, Transform } from 'node:stream';
import { ToolError } from '../../errors.ts';
import { paced } from './paced.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** `sample` is the decoded beginning of the file, without a byte order mark. */
export type TextInspection = { encoding: Encoding; sizeBytes: number; sample: string; warnings: string[] };

const sampleBytes = 128 * 1024;

const signatures: { bytes: number[]; what: string }[] = [
  { bytes: [0x25, 0x50, 0x44, 0x46], what: 'a PDF document' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], what: 'a ZIP container (a DOCX or XLSX file is one)' },
  { bytes: [0x89, 0x50, 0x4e, 0x47], what: 'a PNG image' },
  { bytes: [0xff, 0xd8, 0xff], what: 'a JPEG image' },
  { bytes: [0x47, 0x49, 0x46, 0x38], what: 'a GIF image' },
  { bytes: [0x1f, 0x8b], what: 'gzip-compressed data' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], what: 'an old Office file (DOC or XLS)' },
  { bytes: [0x50, 0x41, 0x52, 0x31], what: 'a Parquet file' },
  { bytes: [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65], what: 'an SQLite database' },
  { bytes: [0x7f, 0x45, 0x4c, 0x46], what: 'a program' },
];
const office: Record<string, string> = {
  xlsx: 'an Excel workbook',
  pptx: 'a presentation',
  odt: 'a text document',
  ods: 'a spreadsheet',
};

/** Throws `ToolError` for a binary file. `name` is for the message. */
export async function inspectText(source: Readable, name: string, signal?: AbortSignal): Promise<TextInspection> {
  const head: Buffer[] = [];
  let headBytes = 0;
  let sizeBytes = 0;
  let encoding: Encoding | undefined;
  const utf8 = new Utf8Check();
  for await (const chunk of paced(source, signal)) {
    sizeBytes += chunk.length;
    if (headBytes < sampleBytes) {
      head.push(chunk.subarray(0, sampleBytes - headBytes));
      headBytes += head.at(-1)!.length;
    }
    if (encoding === undefined && headBytes >= 4) {
      const start = Buffer.concat(head);
      refuseKnownBinary(start, name);
      encoding = wideEncoding(start);
    }
    if (encoding === undefined) {
      if (chunk.includes(0)) {
        // A short first chunk may not have shown that every second byte is zero.
        encoding = wideEncoding(Buffer.concat(head));
        if (encoding === undefined) throw notATable(name, 'binary data (it holds zero bytes)');
      } else {
        utf8.add(chunk);
      }
    }
  }
  const start = Buffer.concat(head);
  refuseKnownBinary(start, name);
  encoding ??= wideEncoding(start);
  const warnings: string[] = [];
  if (encoding === undefined) {
    encoding = utf8.verdict();
    if (encoding === 'utf-8' && utf8.broken > 0)
      warnings.push(`${utf8.broken} broken UTF-8 sequences were read as the replacement character.`);
  }
  const sample = new TextDecoder(encoding).decode(start, { stream: true });
  const controls = sample.match(/[\x00-\x08\x0e-\x1f]/g)?.length ?? 0;
  if (controls > 8 && controls > sample.length * 0.01) throw notATable(name, 'binary data');
  return { encoding, sizeBytes, sample, warnings };
}

/** Converts the file's bytes to UTF-8 without a byte order mark, in chunks. */
export function utf8Stream(encoding: Encoding): Transform {
  const decoder = new TextDecoder(encoding);
  return new Transform({
    transform(chunk, _encoding, done) {
      done(null, Buffer.from(decoder.decode(chunk, { stream: true })));
    },
    flush(done) {
      done(null, Buffer.from(decoder.decode()));
    },
  });
}

export function notATable(name: string, what: string): ToolError {
  return new ToolError(
    `${name} is ${what}, not a table. profile_table reads CSV, TSV, JSON, XLSX and DOCX only; save the data in one of these forms.`,
  );
}

/** Distinguishes UTF-8 with a few damaged characters from a single-byte encoding, by the more common kind of non-ASCII byte. */
class Utf8Check {
  broken = 0;
  private good = 0;
  private readonly decoder = new TextDecoder('utf-8');
  private pending = false;

  add(chunk: Buffer): void {
    if (!this.pending && isAscii(chunk)) return;
    const text = this.decoder.decode(chunk, { stream: true });
    this.pending = chunk[chunk.length - 1]! > 0x7f;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 0xfffd) this.broken++;
      else if (code > 0x7f) this.good++;
    }
  }

  verdict(): Encoding {
    // A file that ends within a character is still UTF-8.
    const tail = this.decoder.decode();
    if (tail.length > 0 && this.good > 0) this.broken++;
    else if (tail.length > 0) return 'windows-1252';
    return this.broken * 10 <= this.good ? 'utf-8' : 'windows-1252';
  }
}

function refuseKnownBinary(start: Buffer, name: string): void {
  const known = signatures.find(({ bytes }) => bytes.every((byte, i) => start[i] === byte));
  if (known === undefined) return;
  const extension = name.split('.').at(-1)?.toLowerCase() ?? '';
  throw notATable(name, known.bytes[0] === 0x50 && known.bytes[1] === 0x4b ? (office[extension] ?? known.what) : known.what);
}

/** UTF-16 by its mark, or by zeros in every second byte; otherwise undefined. */
function wideEncoding(start: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  const pairs = Math.min(start.length >> 1, 2048);
  if (pairs < 2) return undefined;
  let evenZeros = 0;
  let oddZeros = 0;
  for (let i = 0; i < pairs * 2; i += 2) {
    if (start[i] === 0) evenZeros++;
    if (start[i + 1] === 0) oddZeros++;
  }
  if (oddZeros > pairs * 0.4 && evenZeros < pairs * 0.05) return 'utf-16le';
  if (evenZeros > pairs * 0.4 && oddZeros < pairs * 0.05) return 'utf-16be';
  return undefined;
}
