/**
 * Small contents that were read to be hashed, kept in memory for a moment: most are sent to the host right after. A content never changes under
 * its key, so what is kept is never out of date.
 */
import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';

/** Of this node, for all deployments. */
const maxBytes = 16 * 2 ** 20;
const maxContentBytes = 64 * 2 ** 10;
const keepMs = 60_000;

export class RecentContents {
  private readonly contents = new LRUCache<string, Buffer>({
    ...{ maxSize: maxBytes, maxEntrySize: maxContentBytes, ttl: keepMs },
    sizeCalculation: ({ length }) => Math.max(1, length),
  });

  static keeps(sizeBytes: number): boolean {
    return sizeBytes <= maxContentBytes;
  }

  add(key: string, content: Buffer): void {
    this.contents.set(key, content);
  }

  /** Removes the content: it is sent once. */
  take(key: string): Readable | null {
    const content = this.contents.get(key);
    if (content === undefined) return null;
    this.contents.delete(key);
    return Readable.from([content], { objectMode: false });
  }
}
