/** Where file contents live, by key. Rows in PostgreSQL say what a key means; here are only bytes, streamed, never whole in memory. */
import type { Readable } from 'node:stream';

export type StoredFile = { sizeBytes: number; sha256: string };
export type StoredContent = { key: string; modifiedAtMs: number };

export interface FileStore {
  /**
   * Stores the stream under `key`, replacing nothing that readers could see half-written. Rejects and leaves nothing behind when the
   * stream fails, is aborted or is longer than `maxBytes` (`AppError('payload_too_large')`).
   */
  put(key: string, content: Readable, maxBytes: number): Promise<StoredFile>;
  /** The bytes from `start` to `end`, both inclusive; the whole file without a range. Throws `AppError('not_found')`. */
  open(key: string, range?: { start: number; end: number }): Promise<Readable>;
  /** Removes the content; a key that is not there is no error. */
  remove(key: string): Promise<void>;
  /** A short-lived address of the content at the storage service; null where it is local and this service sends the bytes itself. */
  presignedUrl(key: string, options: { expiresInS: number; fileName: string; type: string }): Promise<string | null>;
  /** All that is stored, in any order; what comes or goes during the walk may be left out. */
  contents(): AsyncIterable<StoredContent>;
  /** Rejects where contents cannot be stored now. */
  check(): Promise<void>;
}
