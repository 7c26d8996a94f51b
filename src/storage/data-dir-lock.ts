/**
 * One live process per DATA_DIR. The lock is a file `lock.<n>` that names its holder; the highest n counts and is never removed, only
 * followed by n + 1. Creating a file is one atomic step (`link` fails when the name exists). So if several processes see a dead holder,
 * exactly one becomes the next holder, and no process can remove another's lock by mistake.
 * Not detected: a process in another container on the same volume, whose pids have no meaning here.
 */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, truncate, unlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { processIdentity } from './live-process.ts';

export type DataDirLock = { release(): Promise<void> };

type Holder = { pid: number };

/**
 * Locks the folder for this process, creating it if it is missing. Rejects with one line that names the holder if another live process has
 * the lock; the lock of a killed process is taken over.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const folder = resolve(dataDir);
  // If the service is started as root, PostgreSQL runs as another user, who must pass through this folder to its own; secret files here
  // have mode 0600.
  await mkdir(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 }).catch((error: Error) => {
    throw new Error(`The data folder ${folder} cannot be created (${error.message}): set DATA_DIR to a folder this user may write`, {
      cause: error,
    });
  });
  const identity = (await processIdentity(process.pid)) ?? '';
  const draft = join(folder, `lock-draft-${randomUUID()}`);
  await writeFile(draft, `${process.pid} ${identity}`, { mode: 0o600 }).catch((error: Error) => {
    throw new Error(`The data folder ${folder} cannot be written (${error.message}): set DATA_DIR to a folder this user may write`, {
      cause: error,
    });
  });
  try {
    const path = await createNextLock(folder, draft);
    // An empty file is a released lock; it stays, so that numbers only grow.
    return { release: () => truncate(path, 0) };
  } finally {
    await unlink(draft);
  }
}

async function createNextLock(folder: string, draft: string): Promise<string> {
  for (;;) {
    const highest = Math.max(0, ...(await lockNumbers(folder)));
    const holder = await liveHolder(join(folder, `lock.${highest}`));
    if (holder !== null) {
      throw new Error(`Another process (pid ${holder.pid}) uses the data folder ${folder}: stop it, or set DATA_DIR to another folder`);
    }
    const mine = join(folder, `lock.${highest + 1}`);
    const won = await link(draft, mine).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
    if (!won) continue;
    const numbers = await lockNumbers(folder);
    // A slow start may have recreated a number that was already superseded and deleted.
    if (Math.max(...numbers) > highest + 1) {
      await unlink(mine).catch(ignoreMissing);
      continue;
    }
    const superseded = numbers.filter((number) => number <= highest);
    await Promise.all(superseded.map((number) => unlink(join(folder, `lock.${number}`)).catch(ignoreMissing)));
    return mine;
  }
}

async function lockNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => /^lock\.(\d+)$/.exec(name)?.[1] ?? []).map(Number);
}

async function liveHolder(path: string): Promise<Holder | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  // Released, or incomplete after the machine crashed: no process holds it.
  const [, pid, identity] = /^(\d+) (.*)$/.exec(text) ?? [];
  if (pid === undefined) return null;
  return (await processIdentity(Number(pid))) === identity ? { pid: Number(pid) } : null;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
