/** DOCX and XLSX are ZIP archives with certain entries. The directory of a ZIP is at its end, so the last bytes are buffered and read. */
import type { ContentCheck } from './content-check.ts';

/** Enough for the directory of about ten thousand entries. */
const tailBytesMax = 2 ** 20;
const localEntry = Buffer.from('PK\x03\x04', 'latin1');
const directoryEntry = 0x02014b50;
const directoryEntryBytes = 46;
const directoryEnd = Buffer.from('PK\x05\x06', 'latin1');
const directoryEndBytes = 22;

export class OfficeCheck implements ContentCheck {
  private readonly folder: string;
  private head = Buffer.alloc(0);
  private tail: Buffer[] = [];
  private tailBytes = 0;

  /** @param folder of the document in the archive: `word/` or `xl/` */
  constructor(folder: string) {
    this.folder = folder;
  }

  take(chunk: Buffer): boolean {
    if (this.head.length < localEntry.length) {
      this.head = Buffer.concat([this.head, chunk.subarray(0, localEntry.length - this.head.length)]);
      if (!localEntry.subarray(0, this.head.length).equals(this.head)) return false;
    }
    this.tail.push(chunk);
    this.tailBytes += chunk.length;
    while (this.tailBytes - this.tail[0]!.length >= tailBytesMax) this.tailBytes -= this.tail.shift()!.length;
    return true;
  }

  end(): boolean {
    const names = directoryNames(Buffer.concat(this.tail));
    return names.includes('[Content_Types].xml') && names.some((name) => name.startsWith(this.folder));
  }
}

/** Names of the archive's entries; empty if `tail` does not contain the whole directory. */
function directoryNames(tail: Buffer): string[] {
  const end = tail.lastIndexOf(directoryEnd);
  if (end === -1 || end + directoryEndBytes > tail.length) return [];
  const directoryBytes = tail.readUInt32LE(end + 12);
  const names: string[] = [];
  let at = end - directoryBytes;
  if (at < 0) return [];
  while (at + directoryEntryBytes <= end) {
    if (tail.readUInt32LE(at) !== directoryEntry) return [];
    const nameBytes = tail.readUInt16LE(at + 28);
    const restBytes = tail.readUInt16LE(at + 30) + tail.readUInt16LE(at + 32);
    names.push(tail.toString('utf8', at + directoryEntryBytes, at + directoryEntryBytes + nameBytes));
    at += directoryEntryBytes + nameBytes + restBytes;
  }
  return names;
}
