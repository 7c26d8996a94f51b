/** The PostgreSQL main process of a cluster folder: who it is, when it is ready, how it ends. Works by what it leaves in the folder, so also on one that another process started. */
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine, processesIn, processIdentity, signalProcess } from './live-process.ts';

/** What `postmaster.pid` says; pid 0 when the file was torn by the loss of the machine. */
export type Postmaster = { pid: number; port: number; ready: boolean };

const pollMs = 10;
/** Recovery after the loss of the machine may replay up to `max_wal_size`. */
const startTimeoutMs = 120_000;
const immediateStopTimeoutMs = 5_000;
/** Fast: roll back what runs, checkpoint, exit. Immediate: exit now and recover at the next start, which loses nothing either. */
const stopSteps = [
  { signal: 'SIGINT', timeoutMs: 30_000 },
  { signal: 'SIGQUIT', timeoutMs: immediateStopTimeoutMs },
  { signal: 'SIGKILL', timeoutMs: immediateStopTimeoutMs },
] as const;

/** Null when the folder names none, as after every orderly stop. */
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

/** False also when the pid lives but belongs to something else by now. */
export async function isPostmasterOf(pid: number, folder: string): Promise<boolean> {
  if ((await processIdentity(pid)) === null) return false;
  if (platform() === 'linux') return (await processesIn(folder)).includes(pid);
  return (await commandLine(pid)).includes(folder);
}

/** Resolves when it accepts connections. Rejects when it ends instead, or is not ready in two minutes, and then stops it. */
export async function waitUntilReady(folder: string, pid: number): Promise<Postmaster> {
  const identity = await processIdentity(pid);
  for (const giveUpAtMs = performance.now() + startTimeoutMs; performance.now() < giveUpAtMs; await delay(pollMs)) {
    // This is where PostgreSQL tells its own pg_ctl.
    const postmaster = await readPostmaster(folder);
    if (postmaster?.ready && postmaster.pid === pid) return postmaster;
    if (identity === null || (await processIdentity(pid)) !== identity) throw new Error('it ended at once');
  }
  await stopPostmaster(pid);
  throw new Error(`it was not ready after ${startTimeoutMs / 1000} seconds`);
}

/** Ends it, gently first, within 40 seconds; nothing that was committed is lost either way. One that has ended is no error. */
export async function stopPostmaster(pid: number): Promise<void> {
  const identity = await processIdentity(pid);
  const isGone = async () => identity === null || (await processIdentity(pid)) !== identity;
  for (const { signal, timeoutMs } of stopSteps) {
    if (await isGone()) return;
    signalProcess(pid, signal);
    await holdsWithin(timeoutMs, isGone);
  }
}

/** Server processes that outlived a killed postmaster end by themselves, soon; two generations on the same files would ruin them. */
export async function endLeftovers(folder: string): Promise<void> {
  const allGone = async () => (await processesIn(folder)).length === 0;
  if (await holdsWithin(immediateStopTimeoutMs, allGone)) return;
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    for (const pid of await processesIn(folder)) signalProcess(pid, signal);
    if (await holdsWithin(immediateStopTimeoutMs, allGone)) return;
  }
  const pids = (await processesIn(folder)).join(', ');
  throw new Error(`Processes ${pids} of an earlier PostgreSQL are still at work in ${folder}: end them and start again`);
}

async function holdsWithin(timeoutMs: number, condition: () => Promise<boolean>): Promise<boolean> {
  const giveUpAtMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAtMs) return false;
    await delay(pollMs);
  }
  return true;
}
