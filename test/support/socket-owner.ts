/** Which of some processes holds the near end of a TCP connection on this machine. Known on Linux alone, and for one's own processes. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** The pid of the one that dialled from this port on 127.0.0.1; null where it is none of them, or cannot be known. */
export async function socketOwner(port: number, pids: readonly number[]): Promise<number | null> {
  const inode = await inodeOf(port);
  if (inode === null) return null;
  for (const pid of pids) if (await holds(pid, `socket:[${inode}]`)) return pid;
  return null;
}

async function inodeOf(port: number): Promise<string | null> {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => '');
  for (const line of table.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields[1] === local && fields[9] !== '0') return fields[9] ?? null;
  }
  return null;
}

async function holds(pid: number, socket: string): Promise<boolean> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(descriptors.map((descriptor) => readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')));
  return targets.includes(socket);
}
