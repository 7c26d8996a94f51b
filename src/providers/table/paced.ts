/**
 * Splits bytes into small pieces and lets the event loop run between them, so that a large table does not slow other work on the node, and
 * an abort takes effect at once.
 */
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

/** About two milliseconds of parsing. */
const pieceBytes = 16 * 1024;

/** Ends the source if the reader stops early. Throws the signal's reason once it is aborted. */
export async function* paced(source: Readable, signal?: AbortSignal): AsyncGenerator<Buffer> {
  for await (const piece of source) {
    const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      signal?.throwIfAborted();
      yield chunk.subarray(at, at + pieceBytes);
      await setImmediate();
    }
  }
}
