/** Walks the directory of a local file store, with one open folder per level and no list. */
import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredContent } from './files.ts';

/** Every stored content under `directory`, in no order. Contents that are removed meanwhile are left out; hidden names are not contents. */
export async function* localContents(directory: string, prefix = ''): AsyncGenerator<StoredContent> {
  const folder = await opendir(join(directory, prefix)).catch(absent);
  if (folder === null) return;
  for await (const entry of folder as AsyncIterable<Dirent>) {
    if (entry.name.startsWith('.')) continue;
    const key = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) yield* localContents(directory, key);
    else if (entry.isFile()) {
      const found = await stat(join(directory, key)).catch(absent);
      if (found !== null) yield { key, modifiedAtMs: found.mtimeMs };
    }
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
