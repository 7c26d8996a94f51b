/**
 * The PostgreSQL main process of a cluster folder: its pid, when it is ready, how it is stopped. Reads only the files in the folder, so it
 * also works for a process that another process started.
 */
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine, processesIn, processIdentity, signalProcess } from './live-process.ts';

/** Contents of `postmaster.pid`; pid 0 if a crash of the machine left the file incomplete. */
export type Postmaster = { pid: number; port: number; ready: boolean };

const pollMs = 10;
/** Recovery after a crash of the machine may replay up to `max_wal_size`. */
const startTimeoutMs = 120_000;
const immediateStopTimeoutMs = 5_000;
/** Fast: roll back open transactions, checkpoint, exit. Immediate: exit now and recover at the next start; neither loses commits. */
const stopSteps = [
  { signal: 'SIGINT', timeoutMs: 30_000 },
  { signal: 'SIGQUIT', timeoutMs: immediateStopTimeoutMs },
  { signal: 'SIGKILL', timeoutMs: immediateStopTimeoutMs },
] as const;

/** Null if the folder names no process, as after every orderly stop. */
export async function readPostmaster(folder: string): Promise<Postmaster | null> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const lines = text.split('\n');
  return {
    pid: Number.parseInt(lines[0] ?? '', 10) || 0,
    port: Number.parseInt(lines[3] ?? '', 10) || 0,
    ready: lines[7]?.trim() === 'ready',
  };
}

/** Also false if another process has the pid now. */
export async function isPostmasterOf(pid: number, folder: string): Promise<boolean> {
  if ((await processIdentity(pid)) === null) return false;
  if (platform() === 'linux') return (await processesIn(folder)).includes(pid);
  return (await commandLine(pid)).includes(folder);
}

/** Resolves when it accepts connections. Rejects if it ends instead, or is not ready in two minutes; then it is stopped. */
export async function waitUntilReady(folder: string, pid: number): Promise<Postmaster> {
  const identity = await processIdentity(pid);
  for (const deadlineMs = performance.now() + startTimeoutMs; performance.now() < deadlineMs; await delay(pollMs)) {
    // PostgreSQL reports its state to pg_ctl in this file.
    const postmaster = await readPostmaster(folder);
    if (postmaster?.ready && postmaster.pid === pid) return postmaster;
    if (identity === null || (await processIdentity(pid)) !== identity) throw new Error('it ended at once');
  }
  await stopPostmaster(pid);
  throw new Error(`it was not ready after ${startTimeoutMs / 1000} seconds`);
}

/** Stops it, with a fast stop first, within 40 seconds; commits are not lost. A process that has ended is not an error. */
export async function stopPostmaster(pid: number): Promise<void> {
  const identity = await processIdentity(pid);
  const hasEnded = async () => identity === null || (await processIdentity(pid)) !== identity;
  for (const { signal, timeoutMs } of stopSteps) {
    if (await hasEnded()) return;
    signalProcess(pid, signal);
    await holdsWithin(timeoutMs, hasEnded);
  }
}

/**
 * Server processes that outlive a killed postmaster soon end by themselves; a new postmaster must wait, because two generations on the same
 * files would corrupt them.
 */
export async function endLeftovers(folder: string): Promise<void> {
  const allEnded = async () => (await processesIn(folder)).length === 0;
  if (await holdsWithin(immediateStopTimeoutMs, allEnded)) return;
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    for (const pid of await processesIn(folder)) signalProcess(pid, signal);
    if (await holdsWithin(immediateStopTimeoutMs, allEnded)) return;
  }
  const pids = (await processesIn(folder)).join(', ');
  throw new Error(`Processes ${pids} of an earlier PostgreSQL are still at work in ${folder}: end them and start again`);
}

async function holdsWithin(timeoutMs: number, condition: () => Promise<boolean>): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) return false;
    await delay(pollMs);
  }
  return true;
}
