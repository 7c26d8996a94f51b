/** Sends the files that a host lacks: ten at once for a deployment, within the node's limit of contents in memory. */
import { addAbortSignal } from 'node:stream';
import type { SiteFile } from '../snapshot/site.ts';
import { ByteBudget } from './byte-budget.ts';
import type { Publication } from './host.ts';

const atOnce = 10;
/** Of this node, for all deployments. A larger file is read alone. */
const bytesInMemory = new ByteBudget(96 * 2 ** 20);

export type Uploading<T> = {
  /** What is sent together, by default a file. */
  items: readonly T[];
  bytesOf(item: T): number;
  /** Its signal ends when another item has failed. */
  send(item: T, signal: AbortSignal): Promise<unknown>;
  signal: AbortSignal;
  atOnce?: number;
};

/** Rejects with the first failure, after all that was under way has ended. */
export async function uploadAll<T>({ items, bytesOf, send, signal, atOnce: most = atOnce }: Uploading<T>): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const left = items.values();
  const worker = async () => {
    try {
      for (const item of left) {
        const release = await bytesInMemory.take(bytesOf(item), either);
        try {
          await send(item, either);
        } finally {
          release();
        }
      }
    } catch (error) {
      failed.abort(error);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  either.throwIfAborted();
}

/** Throws when the content is not as long as the snapshot says: what is sent would not be what was hashed. */
export async function contentOf({ open, signal }: Pick<Publication, 'open' | 'signal'>, file: SiteFile): Promise<Uint8Array> {
  // Filled in place: chunks and their concatenation would need the memory twice.
  const bytes = Buffer.allocUnsafeSlow(file.sizeBytes);
  let filled = 0;
  for await (const chunk of addAbortSignal(signal, await open(file)) as AsyncIterable<Buffer>) {
    filled += chunk.length;
    if (filled > bytes.length) break;
    chunk.copy(bytes, filled - chunk.length);
  }
  if (filled !== bytes.length) throw new Error(`The content of ${file.path} is not of ${bytes.length} bytes`);
  return bytes;
}
