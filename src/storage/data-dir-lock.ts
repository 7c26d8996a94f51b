/**
 * One live process per DATA_DIR. The lock is a file `lock.<n>` that names its holder; the highest n counts and is never removed, only
 * followed by n + 1, and creating that is one atomic step (`link` fails when the name exists). So of any number of processes that see a
 * dead holder at once exactly one becomes the next, and none can remove the lock of another by mistake.
 * Not seen: a process in another container on the same volume, whose pids mean nothing here.
 */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, truncate, unlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { processIdentity } from './live-process.ts';

export type DataDirLock = { release(): Promise<void> };

type Holder = { pid: number };

/**
 * Takes the folder for this process, creating it when it is missing. Rejects with one line that names the holder when another live process
 * has it; the lock of a process that was killed is taken over.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const folder = resolve(dataDir);
  // Started as root, PostgreSQL runs as another user, who must get through this folder to its own; what is secret in here is 0600.
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
    const path = await takeNext(folder, draft);
    // An empty file is a lock that was given back; it stays, so that numbers only grow.
    return { release: () => truncate(path, 0) };
  } finally {
    await unlink(draft);
  }
}

async function takeNext(folder: string, draft: string): Promise<string> {
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
    // A slow start may have recreated a number that was already superseded and tidied away.
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
  // Given back, or torn by the loss of the machine: either way nobody has it.
  const [, pid, identity] = /^(\d+) (.*)$/.exec(text) ?? [];
  if (pid === undefined) return null;
  return (await processIdentity(Number(pid))) === identity ? { pid: Number(pid) } : null;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
