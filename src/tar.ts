/**
 * Tar archives: read from a stream, one file after the other, and written by the command line. The package `tar` encodes and decodes the headers: ustar, pax,
 * and GNU's long names. Its own stream of entries is not used: it damages a long name if a chunk of the stream ends within one of its characters.
 */
import { Readable } from 'node:stream';
import { Header } from 'tar/header';
import { Pax } from 'tar/pax';
import { AppError } from './errors.ts';

/** `content` must be read, or left, before the next file is requested. */
export type TarFile = { name: string; sizeBytes: number; content: Readable };
export type TarPart = Blob | Uint8Array<ArrayBuffer>;

const blockBytes = 512;
/** The first bytes of compressed files. */
const compressedMarks = ['1f8b', '504b0304', '425a68', 'fd377a585a00', '28b52ffd'].map((hex) => Buffer.from(hex, 'hex'));
const longestMark = 6;
/** Of a header that contains a name: each is decoded at once. */
const maxNameBytes = 64 * 1024;

/** Only folders and plain files are accepted. Throws `bad_request` for anything else, and for an archive that is damaged or not whole. */
export async function* tarFiles(archive: AsyncIterable<Buffer>): AsyncGenerator<TarFile> {
  const bytes = new Bytes(archive);
  /** About the next file. */
  let about: Pax | undefined;
  let isFirst = true;
  for (;;) {
    if (isFirst && (await bytes.isCompressed())) throw malformed('it is compressed; send it without compression');
    isFirst = false;
    const header = headerIn(await bytes.take(blockBytes), about);
    if (header.nullBlock) return;
    const { type, size: sizeBytes } = header;
    if (!header.cksumValid) throw malformed('a header is damaged');
    if (sizeBytes === undefined || !Number.isSafeInteger(sizeBytes)) throw malformed('a number is damaged or too large');
    if (namesWhatFollows.has(type)) {
      if (sizeBytes > maxNameBytes) throw malformed('a name is too long');
      about = aboutNext(type, (await bytes.take(sizeBytes)).toString('utf8'), about);
      await bytes.take(paddingOf(sizeBytes));
      continue;
    }
    const name = (about?.path ?? header.path ?? '').replace(/^(\.\/)+/, '');
    about = undefined;
    if (type === 'Directory') continue;
    if (type !== 'File' && type !== 'OldFile') throw malformed(`${JSON.stringify(name.slice(0, 200))} is a link or no file`);
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
    // The reader gets the failure.
    content.on('error', () => {});
    yield { name, sizeBytes, content };
    content.destroy();
    if (!content.closed) await new Promise((resolve) => content.once('close', resolve));
    while (left > 0) left -= (await bytes.some(left)).length;
    await bytes.take(paddingOf(sizeBytes));
  }
}

/** @param content exactly `sizeBytes` long; read from disk when it is sent */
export function tarParts({ name, sizeBytes }: { name: string; sizeBytes: number }, content: Blob): TarPart[] {
  const header = new Header({ path: 'file', size: sizeBytes, type: 'File', mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) });
  header.encode();
  const headers = Buffer.concat([new Pax({ path: name }).encode(), header.block!]);
  return [new Uint8Array(headers), content, new Uint8Array(paddingOf(sizeBytes))];
}

export const tarEnd: TarPart = new Uint8Array(2 * blockBytes);

const namesWhatFollows: ReadonlySet<string> = new Set([
  'ExtendedHeader',
  'OldExtendedHeader',
  'GlobalExtendedHeader',
  'NextFileHasLongPath',
  'OldGnuLongPath',
  'NextFileHasLongLinkpath',
]);

function headerIn(block: Buffer, about: Pax | undefined): Header {
  try {
    return new Header(block, 0, about);
  } catch (error) {
    throw malformed('a header is damaged', error);
  }
}

function aboutNext(type: string, text: string, about: Pax | undefined): Pax | undefined {
  if (type === 'NextFileHasLongPath' || type === 'OldGnuLongPath')
    return Object.assign(about ?? new Pax({}), { path: text.replace(/\0.*/s, '') });
  if (type !== 'ExtendedHeader' && type !== 'OldExtendedHeader') return about;
  const parsed = Pax.parse(text, about);
  if (/(^|\n)\d+ GNU\.sparse\./.test(text)) throw malformed('it contains a sparse file');
  // The package drops a value with a line break; the name in the header may be cut.
  if (parsed.path === undefined && /(^|\n)\d+ path=/.test(text)) throw malformed('a name contains a line break');
  return parsed;
}

function paddingOf(sizeBytes: number): number {
  return (blockBytes - (sizeBytes % blockBytes)) % blockBytes;
}

class Bytes {
  private readonly source: AsyncIterator<Buffer>;
  private held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Whether what follows begins as gzip, zip, bzip2, xz or zstd does: no name of a file begins so in practice. */
  async isCompressed(): Promise<boolean> {
    const first = await this.take(longestMark);
    this.held = Buffer.concat([first, this.held]);
    return compressedMarks.some((mark) => first.subarray(0, mark.length).equals(mark));
  }

  /** Exactly this number. */
  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = count; left > 0; ) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** At least one and at most this number. */
  async some(max: number): Promise<Buffer> {
    while (this.held.length === 0) {
      const { done, value } = await this.source.next();
      if (done) throw malformed('it is not whole');
      this.held = value;
    }
    const part = this.held.subarray(0, max);
    this.held = this.held.subarray(part.length);
    return part;
  }
}

function malformed(why: string, cause?: unknown): AppError {
  return new AppError('bad_request', `The file is not a tar archive that can be read: ${why}`, cause === undefined ? {} : { cause });
}
