/** Temporary folders of tests. */
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type TemporaryFolder = { path: string; remove(): Promise<void> };

/** A new, empty folder; other users may traverse it but not list it, because PostgreSQL runs as another user when the tests run as root. */
export async function temporaryFolder(prefix = 'troupe-'): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}
