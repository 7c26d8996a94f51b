/** What a store is asked to write when somebody wants to know whether it can. */
import { Readable } from 'node:stream';
import type { FileStore } from './files.ts';

/** Always the same few bytes under the same key, whichever node asks. */
export async function writeProbe(files: Pick<FileStore, 'put'>): Promise<void> {
  await files.put('health/probe', Readable.from([Buffer.from('ok')]), 16);
}
