/**
 * Builds on this machine. At most two at once, one of an account if another account waits; the queue is bounded. Owns the processes it starts: when
 * `build` settles, and after `stop`, none is left; when the node is killed, the system kills them. Nothing of a build is on a disk: its files are in
 * memory that goes with its processes.
 */
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { AppError } from '../../../errors.ts';
import { FairGate } from '../../../fair-queue.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { Snapshots } from '../snapshot/site.ts';
import { runBuild } from './build-process.ts';
import type { Builder, BuildJob } from './builder.ts';
import { type BuildLimits, type Means, type NamespaceOptions, trialCommand } from './namespaces.ts';

export type LocalBuilderOptions = {
  snapshots: Snapshots;
  allowed: boolean;
  network: boolean;
  timeoutMs: number;
  /** The operator's PATH. */
  path: string;
  dataDir: string;
  limits?: Partial<BuildLimits>;
  /** The first that this machine allows is taken. Default: what suits the user that the service runs as. */
  means?: readonly Means[];
};

const execFileAsync = promisify(execFile);
const gib = 2 ** 30;
const usualLimits: BuildLimits = {
  memoryBytes: 2 * gib,
  diskBytes: gib,
  files: 200_000,
  // Bundlers start a process for each processor, and a Node.js process has a dozen threads.
  processes: 128 + 64 * availableParallelism(),
  running: 24 + 4 * availableParallelism(),
  sharedBytes: 3 * gib,
  silenceMs: 30_000,
};
const atOnce = 2;
/** After a refusal the machine is tested again. */
const trialLastsMs = 30_000;

export function localBuilder({ snapshots, allowed, timeoutMs, limits, means = usualMeans(), ...options }: LocalBuilderOptions): Builder {
  const gate = new FairGate({
    maxRunning: atOnce,
    maxWaiting: 256,
    maxWaitingEach: 64,
    full: 'Too many builds are waiting; try again later',
    retryAfterS: 30,
  });
  const free = Array.from({ length: atOnce }, (_, slot) => slot);
  const stopping = new AbortController();
  const namespaces = { ...options, limits: { ...usualLimits, ...limits } };
  const running = new Set<Promise<unknown>>();
  let trial: { result: Promise<Trial>; atMs: number } | null = null;

  async function tried(): Promise<Trial> {
    if (!allowed) return { refusal: 'This service does not build (BUILDS is off): deploy files that need no build_command' };
    if (trial === null || ('refusal' in (await trial.result) && performance.now() - trial.atMs > trialLastsMs))
      trial = { result: tryMeans(means, namespaces), atMs: performance.now() };
    return await trial.result;
  }

  async function run(job: BuildJob) {
    const found = await tried();
    if ('refusal' in found) throw new DeployFailed('build_failed', found.refusal);
    const signal = AbortSignal.any([job.signal, stopping.signal]);
    const leave = await gate.enter(job.accountId, signal);
    const slot = free.pop()!;
    try {
      return await runBuild({ ...job, signal }, { snapshots, namespaces: { ...namespaces, means: found.means, slot }, timeoutMs });
    } finally {
      free.push(slot);
      leave();
    }
  }

  return {
    async refusal() {
      const found = await tried();
      return 'refusal' in found ? found.refusal : null;
    },
    async build(job) {
      const result = run(job);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    async stop() {
      stopping.abort(new AppError('draining', 'The service is stopping'));
      await Promise.allSettled(running);
    },
  };
}

const usualMeans = (): Means[] => (process.getuid?.() === 0 ? ['root', 'other user'] : ['user']);

type Trial = { means: Means } | { refusal: string };
type AnyMeans = Omit<NamespaceOptions, 'means' | 'slot'>;

/** Tries them: whether namespaces are allowed depends on the kernel, its settings, and the container. */
async function tryMeans(all: readonly Means[], namespaces: AnyMeans): Promise<Trial> {
  const faults: string[] = [];
  for (const means of all) {
    const fault = process.platform === 'linux' ? await trialFault({ ...namespaces, means, slot: 0 }) : 'it is not Linux';
    if (fault === null) return { means };
    faults.push(fault);
  }
  return { refusal: `This service does not build: its machine cannot isolate a build (${faults[0]})` };
}

async function trialFault(options: NamespaceOptions): Promise<string | null> {
  try {
    await execFileAsync(...trialCommand(options), { env: {}, timeout: 10_000, killSignal: 'SIGKILL' });
    return null;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return stderr.trim().split('\n')[0] || message.split('\n')[0]!;
  }
}
