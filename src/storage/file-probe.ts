/** Writes a small probe file to find out whether a store accepts writes. */
import { Readable } from 'node:stream';
import type { FileStore } from './files.ts';

/** The same few bytes under the same key for every node. */
export async function writeProbe(files: Pick<FileStore, 'put'>): Promise<void> {
  await files.put('health/probe', Readable.from([Buffer.from('ok')]), 16);
}
