/** One build: sends the workspace's files into its namespaces, runs the command, keeps the limit of time, and stores the output of the command as a snapshot. */
import { Readable } from 'node:stream';
import { AppError } from '../../../errors.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { NewSnapshot, Snapshot, Snapshots } from '../snapshot/site.ts';
import type { BuildJob } from './builder.ts';
import type { FromSupervisor } from './inside/frames.ts';
import { type BuildLimits, commandPrefix, type NamespaceOptions, supervisorCommand } from './namespaces.ts';
import { OutputLines } from './output-lines.ts';
import { SupervisorProcess } from './supervisor-process.ts';

const outputBytes = 2 ** 20;
const outputDirs = ['dist', 'build', 'out', 'public'];
/** Between SIGTERM and SIGKILL. */
const graceMs = 3_000;
/** More than the machine needs to end every process of a build. */
const killMs = 5_000;
const startMs = 30_000;
const logEveryMs = 200;
/** Files up to this size are stored several at a time. */
const smallBytes = 256 * 1024;
const smallAtOnce = 8;

export type BuildParts = { snapshots: Snapshots; namespaces: NamespaceOptions; timeoutMs: number };

/** Throws `DeployFailed`, the reason of the signal, or `unavailable` where the build could not be started. No process is left when it settles. */
export async function runBuild(job: BuildJob, { snapshots, namespaces, timeoutMs }: BuildParts): Promise<Snapshot> {
  job.signal.throwIfAborted();
  const { limits } = namespaces;
  const files = await snapshots.files(job.snapshotId);
  const made = await snapshots.begin({ id: job.workspaceId, accountId: job.accountId });
  const supervisor = new SupervisorProcess(...supervisorCommand(namespaces));
  const onAbort = () => supervisor.kill(job.signal.reason);
  job.signal.addEventListener('abort', onAbort, { once: true });
  if (job.signal.aborted) onAbort();
  try {
    await started(supervisor);
    for (const file of files) {
      const { path, sizeBytes } = file;
      await job.turn?.();
      await supervisor.send({ op: 'file', path, sizeBytes }, await snapshots.open(file));
    }
    const { memoryBytes, diskBytes, sharedBytes, running } = limits;
    const { command, outputDir } = job;
    const run = {
      argv: commandPrefix(namespaces),
      command,
      outputDir,
      outputDirs,
      outputBytes,
      memoryBytes,
      sharedBytes,
      running,
    };
    // From here on the command may end the supervisor: without root both have the same user id.
    supervisor.lost = new DeployFailed('build_failed', 'The build was ended by itself, or by its machine');
    await supervisor.send({ op: 'run', run });
    await commandEnds(supervisor, job, namespaces, timeoutMs);
    await storeFiles(supervisor, made, diskBytes, job.checks);
    await supervisor.ended(killMs);
    return await made.complete();
  } catch (error) {
    // The reading of its output ends first.
    await supervisor.end();
    await made.discard();
    throw error;
  } finally {
    job.signal.removeEventListener('abort', onAbort);
    await supervisor.end();
  }
}

async function started(supervisor: SupervisorProcess): Promise<void> {
  const timer = setTimeout(() => supervisor.kill(new AppError('unavailable', 'The build did not start in time')), startMs);
  try {
    await supervisor.next();
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the command has succeeded. */
async function commandEnds(supervisor: SupervisorProcess, job: BuildJob, { limits }: NamespaceOptions, timeoutMs: number): Promise<void> {
  const tooLate = () => new DeployFailed('timed_out', `The build took longer than ${timeoutMs / 1000} s`);
  let waiting: string[] = [];
  const flush = () => {
    if (waiting.length > 0) job.log(waiting);
    waiting = [];
  };
  const lines = new OutputLines((more) => {
    waiting = waiting.concat(more);
  });
  const logging = setInterval(flush, logEveryMs);
  const stopping = setTimeout(() => void supervisor.send({ op: 'stop', graceMs }), timeoutMs);
  const silent = setTimeout(
    () => supervisor.kill(new DeployFailed('build_failed', 'The build was ended because nothing watched it any more')),
    limits.silenceMs,
  );
  const killing = setTimeout(() => supervisor.kill(tooLate()), timeoutMs + graceMs + killMs);
  try {
    for (;;) {
      const message = await supervisor.next();
      silent.refresh();
      if (message.op === 'alive') continue;
      if (message.op === 'output') lines.add(await supervisor.whole(message.sizeBytes));
      else if (message.op === 'cut') {
        lines.skip();
        lines.add(await supervisor.whole(message.sizeBytes));
      } else if (message.op === 'ended') {
        lines.end();
        if (message.why === 'stopped') throw tooLate();
        const problem = problemOf(message, limits);
        if (problem !== null) throw new DeployFailed('build_failed', lines.tail === '' ? problem : `${problem}:\n${lines.tail}`);
        return;
      } else throw unexpected(message);
    }
  } finally {
    clearInterval(logging);
    clearTimeout(stopping);
    clearTimeout(killing);
    clearTimeout(silent);
    flush();
  }
}

function problemOf({ code, signal, why }: FromSupervisor & { op: 'ended' }, { memoryBytes, running }: BuildLimits): string | null {
  if (why === 'memory') return `The build needed more than ${memoryBytes / 2 ** 20} MiB of memory`;
  if (why === 'machine') return 'The build was ended because the memory of its machine ran out';
  if (why === 'processes') return `The build ran more than ${running} processes at once`;
  if (signal !== null) return `The build was ended by ${signal}`;
  return code === 0 ? null : `The build ended with code ${code}`;
}

async function storeFiles(supervisor: SupervisorProcess, made: NewSnapshot, maxBytes: number, checks: BuildJob['checks']): Promise<void> {
  const storing = new Set<Promise<void>>();
  let failed: { error: unknown } | null = null;
  let left = maxBytes;
  for (let files = 0; ; ) {
    const message = await supervisor.next();
    if (failed !== null) throw (failed as { error: unknown }).error;
    if (message.op === 'done') {
      if (files === 0) throw new DeployFailed('build_failed', 'The build left no files in its folder');
      break;
    }
    if (message.op === 'found') {
      checks?.count(message.files);
      continue;
    }
    if (message.op !== 'file') throw unexpected(message);
    const { path, sizeBytes } = message;
    // The count of the supervisor is not trusted.
    files++;
    checks?.count(files);
    checks?.file({ path, sizeBytes });
    // A file with holes takes less room than it has bytes.
    left -= sizeBytes;
    if (left < 0) throw new DeployFailed('build_failed', `The build left files of more than ${maxBytes / 2 ** 20} MiB`);
    if (sizeBytes > smallBytes) {
      await made.add({ path, sizeBytes, content: Readable.from(supervisor.bytes(sizeBytes)) });
      continue;
    }
    const content = await supervisor.whole(sizeBytes);
    const stored = made.add({ path, sizeBytes, content: Readable.from([content]) }).catch((error: unknown) => {
      failed ??= { error };
    });
    storing.add(stored);
    void stored.then(() => storing.delete(stored));
    if (storing.size >= smallAtOnce) await Promise.race(storing);
  }
  await Promise.all(storing);
  if (failed !== null) throw (failed as { error: unknown }).error;
}

function unexpected(message: FromSupervisor): Error {
  if (message.op === 'refused') return new DeployFailed(message.code, message.message);
  return new Error(`a supervisor sent ${message.op} at the wrong time`);
}
