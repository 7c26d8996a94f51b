/** Reads a tar archive as it streams, one file after the other: the POSIX forms (ustar, pax) and GNU's long names. Links and devices are refused. */
import { Readable } from 'node:stream';
import { AppError } from '../../../errors.ts';

/** `content` must be read, or left, before the next file is asked for. */
export type TarFile = { name: string; sizeBytes: number; content: Readable };

const blockBytes = 512;
/** Of a header that holds a name. */
const maxNameBytes = 64 * 1024;

/** Throws `bad_request` for what is no archive, or not whole. */
export async function* tarFiles(archive: AsyncIterable<Buffer>): AsyncGenerator<TarFile> {
  const bytes = new Bytes(archive);
  let longName: string | null = null;
  for (;;) {
    const header = await bytes.take(blockBytes);
    if (header.every((byte) => byte === 0)) return;
    if (!hasRightSum(header)) throw malformed('a header is damaged');
    const sizeBytes = numberIn(header, 124, 12);
    const type = String.fromCharCode(header[156]!);
    const padding = (blockBytes - (sizeBytes % blockBytes)) % blockBytes;
    if (type === 'x' || type === 'g' || type === 'L') {
      if (sizeBytes > maxNameBytes) throw malformed('a name is too long');
      const text = await bytes.take(sizeBytes);
      await bytes.take(padding);
      if (type === 'L') longName = textIn(text, 0, sizeBytes);
      if (type === 'x') longName = pathIn(text) ?? longName;
      continue;
    }
    const name = (longName ?? nameIn(header)).replace(/^(\.\/)+/, '');
    longName = null;
    if (type === '5') continue;
    if (type !== '0' && type !== '\0') throw malformed(`${JSON.stringify(name.slice(0, 200))} is a link or no file`);
    let left = sizeBytes;
    const content = Readable.from(
      (async function* () {
        while (left > 0) {
          const chunk = await bytes.some(left);
          left -= chunk.length;
          yield chunk;
        }
      })(),
      { objectMode: false },
    );
    // A failure is told to who reads it.
    content.on('error', () => {});
    yield { name, sizeBytes, content };
    content.destroy();
    if (!content.closed) await new Promise((resolve) => content.once('close', resolve));
    while (left > 0) left -= (await bytes.some(left)).length;
    await bytes.take(padding);
  }
}

class Bytes {
  private readonly source: AsyncIterator<Buffer>;
  private held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Exactly so many. */
  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = count; left > 0; ) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** At least one and at most so many. */
  async some(most: number): Promise<Buffer> {
    while (this.held.length === 0) {
      const { done, value } = await this.source.next();
      if (done) throw malformed('it is not whole');
      this.held = value;
    }
    const part = this.held.subarray(0, most);
    this.held = this.held.subarray(part.length);
    return part;
  }
}

function hasRightSum(header: Buffer): boolean {
  let sum = 8 * 0x20;
  for (const [at, byte] of header.entries()) if (at < 148 || at >= 156) sum += byte;
  return numberIn(header, 148, 8) === sum;
}

function numberIn(header: Buffer, at: number, length: number): number {
  const text = textIn(header, at, length).trim();
  if (!/^[0-7]{1,11}$/.test(text)) throw malformed('a number is damaged or too large');
  return Number.parseInt(text, 8);
}

function nameIn(header: Buffer): string {
  const isPosix = textIn(header, 257, 6) === 'ustar';
  const folder = isPosix ? textIn(header, 345, 155) : '';
  return `${folder === '' ? '' : `${folder}/`}${textIn(header, 0, 100)}`;
}

/** Up to the first NUL. */
function textIn(bytes: Buffer, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
}

/** Of records such as `19 path=assets/a.css\n`, whose length is in bytes. */
function pathIn(records: Buffer): string | null {
  let path: string | null = null;
  for (let at = 0; at < records.length; ) {
    const space = records.indexOf(0x20, at);
    const length = space === -1 ? 0 : Number(records.subarray(at, space).toString('latin1'));
    if (!Number.isInteger(length) || length < 5) throw malformed('a header is damaged');
    const record = records.subarray(space + 1, at + length - 1).toString('utf8');
    if (record.startsWith('path=')) path = record.slice(5);
    at += length;
  }
  return path;
}

function malformed(why: string): AppError {
  return new AppError('bad_request', `The file is not a tar archive that can be read: ${why}`);
}
