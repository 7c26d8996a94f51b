/** Copies the files of a single-node service when it becomes a cluster: from DATA_DIR/files into the store of all nodes. */
import { createReadStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import type { FileStore } from './files.ts';
import { localContents } from './local-contents.ts';

/**
 * Copies every content under `directory` into `files`, then renames the folder to `<directory>-adopted`, so that it is done once and
 * nothing is lost. Does nothing if the folder does not exist. After an interruption the next start begins again; nodes that share the
 * folder may run it at the same time.
 */
export async function adoptLocalFiles(directory: string, files: FileStore, log: Log): Promise<void> {
  let count = 0;
  for await (const { key } of localContents(directory)) {
    if (count++ === 0) log.info({ directory }, 'copying the files of this folder into the database');
    await files.put(key, createReadStream(join(directory, key)), Number.POSITIVE_INFINITY).catch(ignoreMissing);
  }
  // Another node has renamed it meanwhile, or it never existed.
  await rename(directory, `${directory}-adopted`).catch(ignoreMissing);
  if (count > 0) log.info({ directory, count }, 'the files are in the database; the folder is no longer used');
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
