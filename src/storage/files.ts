/** The port of file stores, by key. Rows in PostgreSQL say what a key means; a store has only bytes, streamed, never whole in memory. */
import type { Readable } from 'node:stream';

export type StoredFile = { sizeBytes: number; sha256: string };
export type StoredContent = { key: string; modifiedAtMs: number };

export interface FileStore {
  /**
   * Stores the stream under `key`; readers see the old or the new content, never a part. Rejects and leaves nothing behind when the stream
   * fails, is aborted or is longer than `maxBytes` (`AppError('payload_too_large')`).
   */
  put(key: string, content: Readable, maxBytes: number): Promise<StoredFile>;
  /** The bytes from `start` to `end`, both inclusive; the whole file without a range. Throws `AppError('not_found')`. */
  open(key: string, range?: { start: number; end: number }): Promise<Readable>;
  /** Removes the content; a missing key is not an error. */
  remove(key: string): Promise<void>;
  /** A short-lived address of the content at the storage service; null if the store is local and this service sends the bytes itself. */
  presignedUrl(key: string, options: { expiresInS: number; fileName: string; type: string }): Promise<string | null>;
  /** All stored contents, in any order; contents that are added or removed during the walk may be left out. */
  contents(): AsyncIterable<StoredContent>;
  /** Rejects if contents cannot be stored now. */
  check(): Promise<void>;
}
