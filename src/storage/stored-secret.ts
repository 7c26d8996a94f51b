/** Secrets that an installation generates on first use and keeps in DATA_DIR, readable only by the service's user. */
import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The 32 random bytes kept at `path`, as 64 hexadecimal digits; generated and written to disk if the file is missing. If two processes
 * generate one at once, both get the first. Rejects if the file has other contents, because replacing it would break what depends on it.
 */
export async function storedSecret(path: string): Promise<string> {
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

/** `link` refuses to replace, so the name appears once, with complete content; the syncs make it survive a crash of the machine. */
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
