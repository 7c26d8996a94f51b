/** Which operating-system processes are alive: a pid alone says little, since pids are used again, soon in a container. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { platform } from 'node:os';
import { sep } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * What tells this run of a process from any other that ever has the same pid: its start time, and the boot of the machine where it is
 * known. Null when no such process runs; a zombie, dead but not yet waited for, does not run.
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (platform() === 'linux') return linuxIdentity(pid);
  const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim() || null;
}

/** Pids of the processes whose working directory is `folder` or inside it. Empty where the system does not tell (no /proc, not ours to see). */
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

/** How a process was started; empty when there is none. */
export async function commandLine(pid: number): Promise<string> {
  const { stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim();
}

/** Sends the signal; a process that is already gone is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function linuxIdentity(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The second field is the name in brackets, which may itself hold spaces and brackets: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (startTicks === undefined || state === 'Z' || state === 'X') return null;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '');
  return `${boot.trim()}:${startTicks}`;
}
