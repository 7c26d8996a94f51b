/** Brings a one-node service's files along when it becomes a cluster: from DATA_DIR/files into the store that all nodes see. */
import { createReadStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import type { FileStore } from './files.ts';
import { localContents } from './local-contents.ts';

/**
 * Copies every content under `directory` into `files`, then calls the folder `<directory>-adopted`, so that it is done once and nothing is
 * lost. A folder that is not there is nothing to do. Cut short, it begins anew at the next start; nodes that share the folder may do it at once.
 */
export async function adoptLocalFiles(directory: string, files: FileStore, log: Log): Promise<void> {
  let count = 0;
  for await (const { key } of localContents(directory)) {
    if (count++ === 0) log.info({ directory }, 'copying the files of this folder into the database');
    await files.put(key, createReadStream(join(directory, key)), Number.POSITIVE_INFINITY).catch(whereGone);
  }
  // Taken by another node that was here at the same time, or never there.
  await rename(directory, `${directory}-adopted`).catch(whereGone);
  if (count > 0) log.info({ directory, count }, 'the files are in the database; the folder is no longer used');
}

function whereGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
