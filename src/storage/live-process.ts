/** Which operating-system processes are alive: a pid alone is not enough, because pids are reused, especially soon in a container. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { platform } from 'node:os';
import { sep } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Distinguishes this run of a process from any other with the same pid: its start time, and the boot of the machine if known. Null if no
 * such process runs; a zombie (dead, but not yet reaped) does not run.
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (platform() === 'linux') return linuxIdentity(pid);
  const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim() || null;
}

/** Pids of the processes whose working directory is `folder` or inside it. Empty if the system does not show it (no /proc, or no permission). */
export async function processesIn(folder: string): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((name) => /^\d+$/.test(name));
  const inside = await Promise.all(
    pids.map(async (pid) => {
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      return cwd === folder || cwd.startsWith(folder + sep);
    }),
  );
  return pids.filter((_, i) => inside[i]).map(Number);
}

/** The command line of a process; empty if there is no such process. */
export async function commandLine(pid: number): Promise<string> {
  const { stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim();
}

/** Sends the signal; a process that has already ended is not an error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function linuxIdentity(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The second field is the name in brackets, which may contain spaces and brackets: count from the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (startTicks === undefined || state === 'Z' || state === 'X') return null;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '');
  return `${boot.trim()}:${startTicks}`;
}
