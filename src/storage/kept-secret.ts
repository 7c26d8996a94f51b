/** Secrets an installation makes for itself on first use and keeps in DATA_DIR, readable by the service's user alone. */
import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The 32 random bytes kept at `path`, as 64 hexadecimal digits; made and written to disk first when there is no such file. Of two processes
 * that make one at once both get the first one's. Rejects when the file holds something else, rather than replace what others depend on.
 */
export async function keptSecret(path: string): Promise<string> {
  const secret = (await read(path)) ?? (await make(path));
  if (!/^[0-9a-f]{64}$/.test(secret))
    throw new Error(`${path} does not hold the 64 hexadecimal digits it was made with: restore it from a backup`);
  return secret;
}

async function read(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** `link` refuses to replace, so the name appears once, with whole content; the syncs make it outlive the machine's next failure. */
async function make(path: string): Promise<string> {
  const draft = `${path}-draft-${randomUUID()}`;
  await synced(draft, 'wx', (file) => file.writeFile(randomBytes(32).toString('hex')));
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
  await synced(dirname(path), 'r', async () => {});
  return (await readFile(path, 'utf8')).trim();
}

async function synced(path: string, flags: string, work: (file: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await work(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
