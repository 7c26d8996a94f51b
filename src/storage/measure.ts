/** Counts and hashes bytes on their way to a store, and fails when there are too many. */
import { createHash } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { AppError } from '../errors.ts';
import type { StoredFile } from './files.ts';

/** Passes bytes through; fails with `payload_too_large` at the first byte above `maxBytes`. */
export class Measure extends Transform {
  private readonly maxBytes: number;
  private readonly hash = createHash('sha256');
  private sizeBytes = 0;

  constructor(maxBytes: number) {
    super();
    this.maxBytes = maxBytes;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.sizeBytes += chunk.length;
    if (this.sizeBytes > this.maxBytes) return done(new AppError('payload_too_large', `A file may have at most ${this.maxBytes} bytes`));
    this.hash.update(chunk);
    done(null, chunk);
  }

  /** Size and hash of the bytes that passed. Call once, after the end. */
  result(): StoredFile {
    return { sizeBytes: this.sizeBytes, sha256: this.hash.digest('hex') };
  }
}
