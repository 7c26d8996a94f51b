/**
 * The parts of an Office file, which is a ZIP archive. Everything in it is a claim of its author: sizes and offsets are checked, and the
 * bytes that all parts together inflate to are bounded, whatever the directory says (decision 76).
 */
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { ToolError } from '../../errors.ts';

const maxArchiveBytes = 64 * 1024 * 1024;
const maxInflatedBytes = 256 * 1024 * 1024;
const maxEntries = 10_000;
const endBytes = 22;
const maxCommentBytes = 65_535;
const endSignature = 0x06054b50;
const directorySignature = 0x02014b50;
const directoryEntryBytes = 46;
const localSignature = 0x04034b50;
const localHeaderBytes = 30;
const methods = { stored: 0, deflated: 8 };
const encryptedFlag = 1;

type Entry = { method: number; flags: number; packedBytes: number; offset: number };

export class ZipArchive {
  private readonly bytes: Buffer;
  private readonly name: string;
  private readonly entries = new Map<string, Entry>();
  private inflatedLeft = maxInflatedBytes;

  /** @param name of the file, for errors */
  constructor(bytes: Buffer, name: string) {
    this.bytes = bytes;
    this.name = name;
    this.readDirectory();
  }

  get sizeBytes(): number {
    return this.bytes.length;
  }

  has(part: string): boolean {
    return this.entries.has(part.toLowerCase());
  }

  /** The text of a part, in pieces. Throws `ToolError` if the part is missing, damaged, or too large. */
  async *text(part: string): AsyncGenerator<string> {
    const entry = this.entries.get(part.toLowerCase());
    if (entry === undefined) throw this.damaged(`the part ${part} is missing`);
    const packed = this.packed(entry, part);
    const pieces = entry.method === methods.stored ? [packed] : Readable.from([packed], { objectMode: false }).pipe(createInflateRaw());
    const decoder = new TextDecoder();
    try {
      for await (const piece of pieces as AsyncIterable<Buffer>) {
        this.inflatedLeft -= piece.length;
        if (this.inflatedLeft < 0)
          throw new ToolError(
            `${this.name} unpacks to more than ${maxInflatedBytes / 1024 / 1024} MiB. Save what is needed of it as CSV or text and upload that.`,
          );
        yield decoder.decode(piece, { stream: true });
      }
    } catch (error) {
      if (error instanceof ToolError) throw error;
      throw this.damaged(`the part ${part} cannot be unpacked`, error);
    }
    yield decoder.decode();
  }

  damaged(how: string, cause?: unknown): ToolError {
    return new ToolError(`${this.name} is damaged: ${how}. Open it in the program it comes from, save it anew, and upload that.`, {
      cause,
    });
  }

  private packed({ method, flags, packedBytes, offset }: Entry, part: string): Buffer {
    if ((flags & encryptedFlag) !== 0) throw new ToolError(`${this.name} is encrypted. Save it without a password and upload that.`);
    if (method !== methods.stored && method !== methods.deflated) throw this.damaged(`the part ${part} is packed in an unknown way`);
    if (offset + localHeaderBytes > this.bytes.length || this.bytes.readUInt32LE(offset) !== localSignature)
      throw this.damaged(`the part ${part} is not where the directory says`);
    const start = offset + localHeaderBytes + this.bytes.readUInt16LE(offset + 26) + this.bytes.readUInt16LE(offset + 28);
    if (start + packedBytes > this.bytes.length) throw this.damaged(`the part ${part} is cut off`);
    return this.bytes.subarray(start, start + packedBytes);
  }

  private readDirectory(): void {
    const { bytes } = this;
    const end = this.directoryEnd();
    const count = bytes.readUInt16LE(end + 10);
    let at = bytes.readUInt32LE(end + 16);
    if (count > maxEntries) throw this.damaged(`it has more than ${maxEntries} parts`);
    for (let i = 0; i < count; i++) {
      if (at + directoryEntryBytes > end || bytes.readUInt32LE(at) !== directorySignature) throw this.damaged('its directory is broken');
      const nameBytes = bytes.readUInt16LE(at + 28);
      const path = bytes.toString('utf8', at + directoryEntryBytes, at + directoryEntryBytes + nameBytes);
      this.entries.set(path.replaceAll('\\', '/').toLowerCase(), {
        flags: bytes.readUInt16LE(at + 8),
        method: bytes.readUInt16LE(at + 10),
        packedBytes: bytes.readUInt32LE(at + 20),
        offset: bytes.readUInt32LE(at + 42),
      });
      at += directoryEntryBytes + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    }
  }

  private directoryEnd(): number {
    const { bytes } = this;
    for (let at = bytes.length - endBytes; at >= Math.max(0, bytes.length - endBytes - maxCommentBytes); at--)
      if (bytes.readUInt32LE(at) === endSignature) return at;
    throw this.damaged('its directory is missing');
  }
}

/** Reads the whole archive. The parts are unpacked later, one at a time. */
export async function openArchive(source: Readable, name: string, signal?: AbortSignal): Promise<ZipArchive> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    signal?.throwIfAborted();
    const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
    size += chunk.length;
    if (size > maxArchiveBytes) throw new ToolError(`${name} has more than ${maxArchiveBytes / 1024 / 1024} MiB. Save parts of it as CSV.`);
    pieces.push(chunk);
  }
  return new ZipArchive(Buffer.concat(pieces), name);
}

/** The part that a relation of `from` leads to. A path that leaves the archive names no part of it. */
export function relatedPart(from: string, target: string): string {
  return target.startsWith('/') ? target.slice(1) : posix.normalize(posix.join(posix.dirname(from), target));
}
