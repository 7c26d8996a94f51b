/**
 * Runs code in sandbox processes, each used once. A spare process is started in advance, so that a run begins in milliseconds; at most
 * `maxRunning` run at a time, at most `maxRunningEach` of one account, and waiting accounts are served round-robin. Owns every process it
 * starts: after `close` none is left.
 */
import { mkdir } from 'node:fs/promises';
import { AppError, ToolError } from '../../errors.ts';
import { FairGate } from '../../fair-queue.ts';
import type { Log } from '../../log.ts';
import type { FileCall, SandboxFiles, SandboxPool, SandboxResult } from './port.ts';
import { type SandboxProcess, startSandboxProcess } from './process.ts';
import { maxLineChars, type ParentLine, sandboxLimits } from './protocol.ts';

export type SandboxPoolOptions = {
  /** An empty folder, the working directory of the children; created if missing. */
  directory: string;
  log: Log;
  maxRunning?: number;
  /** For one account. Default: one slot fewer than in all, so that one stays free for another account. */
  maxRunningEach?: number;
  maxWaiting?: number;
  maxWaitingEach?: number;
  maxWaitMs?: number;
  /** Longest idle time of a spare. */
  spareIdleMs?: number;
  timeMs?: number;
};

export function createSandboxPool(options: SandboxPoolOptions): SandboxPool {
  const { directory, log, maxRunning = 2, spareIdleMs = 60_000, timeMs = sandboxLimits.timeMs } = options;
  const { maxRunningEach = Math.max(1, maxRunning - 1), maxWaiting = 256, maxWaitingEach = 64, maxWaitMs = 100_000 } = options;
  const gate = new FairGate({ maxRunning, maxRunningEach, maxWaiting, maxWaitingEach, maxWaitMs, full: tooMuchCode, retryAfterS: 5 });
  const alive = new Set<SandboxProcess>();
  const closing = new AbortController();
  let lastFailure: AppError | null = null;
  let spare: { process: SandboxProcess; idle: NodeJS.Timeout } | null = null;

  async function start(): Promise<SandboxProcess> {
    try {
      await mkdir(directory, { recursive: true });
      closing.signal.throwIfAborted();
      const process = startSandboxProcess(directory);
      alive.add(process);
      void process.gone.then(() => alive.delete(process));
      return process;
    } catch (cause) {
      closing.signal.throwIfAborted();
      throw unavailable(cause);
    }
  }

  async function keepSpare(): Promise<void> {
    if (spare || closing.signal.aborted) return;
    const process = await start();
    if (spare) return void (await process.kill());
    const mine = { process, idle: setTimeout(drop, spareIdleMs).unref() };
    spare = mine;
    void process.gone.then(drop);
    function drop() {
      clearTimeout(mine.idle);
      if (spare !== mine) return;
      spare = null;
      return process.kill();
    }
  }

  function takeSpare(): SandboxProcess | null {
    const taken = spare;
    if (!taken) return null;
    clearTimeout(taken.idle);
    spare = null;
    return taken.process;
  }

  return {
    async run(accountId, code, files, callerSignal) {
      const signal = AbortSignal.any([callerSignal, closing.signal]);
      const leave = await gate.enter(accountId, signal);
      try {
        const process = takeSpare() ?? (await start());
        // Started now, while this run computes: ready for the next run. A failed start is reported by the run that needs the process.
        if (gate.size.running < maxRunning || gate.size.waiting > 0) keepSpare().catch(() => {});
        const result = await converse(process, code, files, signal, timeMs);
        lastFailure = null;
        return result;
      } catch (error) {
        // The caller is told only that code cannot run now; the reason is the operator's to mend.
        if (error instanceof AppError && error.code === 'unavailable') {
          lastFailure = error;
          log.error({ err: error, accountId }, 'a sandbox could not start');
        }
        throw error;
      } finally {
        leave();
        keepSpare().catch(() => {});
      }
    },
    async check() {
      if (lastFailure !== null) throw lastFailure;
    },
    async close() {
      closing.abort(new AppError('draining', 'The service is stopping'));
      await Promise.all([...alive].map((process) => process.kill()));
    },
    pids: () => [...alive].map((process) => process.pid),
    get load() {
      return { ...gate.size, rejected: gate.rejected };
    },
  };
}

async function converse(
  process: SandboxProcess,
  code: string,
  files: SandboxFiles,
  signal: AbortSignal,
  timeMs: number,
): Promise<SandboxResult> {
  let timedOut = false;
  const onAbort = () => void process.kill();
  signal.addEventListener('abort', onAbort, { once: true });
  let timer: NodeJS.Timeout | undefined;
  let stdout = '';
  try {
    if (signal.aborted) onAbort();
    await process.ready.catch((cause: unknown) => {
      signal.throwIfAborted();
      throw unavailable(cause);
    });
    // The engine stops itself at `timeMs` and reports where; a run that does not stop is killed shortly after.
    timer = setTimeout(() => {
      timedOut = true;
      void process.kill();
    }, timeMs + 500);
    process.send({ op: 'run', code, timeMs });
    for (;;) {
      const line = await process.next();
      signal.throwIfAborted();
      if (line === null) return { stdout: cut(stdout), result: null, error: timedOut ? stopped(timeMs) : crashed };
      if (line.op === 'done') return { stdout: cut(stdout), result: line.result ?? null, error: line.error };
      if (line.op === 'print') {
        if (stdout.length <= sandboxLimits.stdoutChars) stdout += line.text;
        continue;
      }
      const answer = await answerTo(line, files);
      process.send(answer);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    await process.kill();
  }
}

async function answerTo(call: FileCall, files: SandboxFiles): Promise<ParentLine> {
  try {
    const value = await files(call);
    const tooLong = typeof value === 'string' && JSON.stringify(value).length > maxLineChars;
    return tooLong ? { ok: false, message: 'the file is too large to be read whole' } : { ok: true, value };
  } catch (error) {
    if (error instanceof ToolError) return { ok: false, message: error.message };
    throw error;
  }
}

const tooMuchCode = 'Too much code is waiting to run; try again later';
const unavailable = (cause: unknown) => new AppError('unavailable', 'The sandbox cannot run code now', { cause });
const crashed = 'stopped: the code needed more memory or processor time than it may use';
const stopped = (timeMs: number) => `stopped: the time limit of ${timeMs / 1000} s was reached`;

function cut(stdout: string): string {
  if (stdout.length <= sandboxLimits.stdoutChars) return stdout;
  return `${stdout.slice(0, sandboxLimits.stdoutChars)}\n[output cut at ${sandboxLimits.stdoutChars} characters]`;
}
