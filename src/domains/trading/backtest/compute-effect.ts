/**
 * The effect that computes a backtest or a sweep, in the computing processes of the node, and stores what is too large for its row. A fault
 * of the caller is the result `failed`; while a process or a store is unavailable, the effect waits.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { ActorRef, EffectContext, EffectDefinition } from '../../../actors/define-actor.ts';
import { backoffMs } from '../../../backoff.ts';
import { monotonicMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { barDate } from '../bars.ts';
import type { BacktestResult, Computed, ComputeInput, SweepResult } from './computation.ts';
import { engineVersion } from './engine.ts';
import type { ComputationContract } from './messages.ts';
import { removeOldFiles } from './old-files.ts';
import type { BacktestRunner, RunnerOptions } from './runner.ts';
import type { ResultFile, StoredResults } from './stored-results.ts';

export type ComputeParts = {
  actors: Pick<ActorSystem, 'ask'>;
  database: Pick<Database, 'read'>;
  log: Log;
  runner: BacktestRunner;
  files: FileStore;
  results: StoredResults;
};
type Contents = Partial<Record<ResultFile, Uint8Array>>;
type Outcome<Result> = { kind: 'complete'; result: Result; contents: Contents } | { kind: 'failed'; error: string };

const compressed = promisify(gzip);
const progressEveryMs = 1_000;
/** Tries while a process or a store is not available, or processor time is missing. */
const maxTries = 8;
const [firstPauseMs, maxPauseMs] = [500, 30_000];
/** Waiting for a slot is not included. A sweep of 500 runs over 5,000,000 bars takes some 40 minutes. */
const timeoutMs = 3 * 3_600_000;

export function computeBacktest(parts: ComputeParts, ref: ActorRef<ComputationContract<any, any, any>>) {
  return effectOf<BacktestResult>(parts, ref, async (input, options) => {
    const { strategy, terms, bars, title } = input;
    const { result, files } = await parts.runner.run({ strategy, terms, bars, title }, options);
    if (result.kind === 'failed') return result;
    const { kind, svg, equity_curve, first_ms, last_ms, ...figures } = result;
    const daily = figures.timeframe === '1d';
    const shown = { first_bar: barDate(first_ms, daily), last_bar: barDate(last_ms, daily) };
    const contents = { ...files, 'equity.json': await packed(JSON.stringify(equity_curve)), 'equity.svg': await packed(svg) };
    return { kind, result: { ...figures, ...shown }, contents };
  });
}

export function computeSweep(parts: ComputeParts, ref: ActorRef<ComputationContract<any, any, any>>) {
  return effectOf<SweepResult>(parts, ref, async (input, options) => {
    if (input.sweep === null) throw new TypeError('A sweep has a grid');
    const { strategy, terms, bars, sweep } = input;
    const swept = await parts.runner.sweep({ strategy, terms, bars, ...sweep }, options);
    if (swept.kind === 'failed') return swept;
    const { kind, runs, ranked_by: _, walk_forward, ...figures } = swept;
    const daily = figures.timeframe === '1d';
    const folds = walk_forward.folds.map(({ first_ms, last_ms, ...fold }) => ({
      first_bar: barDate(first_ms, daily),
      last_bar: barDate(last_ms, daily),
      ...fold,
    }));
    const result = { ...figures, engine_version: engineVersion, walk_forward: { ...walk_forward, folds } };
    return { kind, result, contents: { 'runs.json': await packed(JSON.stringify(runs)) } };
  });
}

function effectOf<Result>(
  parts: ComputeParts,
  ref: ActorRef<ComputationContract<any, any, any>>,
  compute: (input: ComputeInput, options: RunnerOptions) => Promise<Outcome<Result>>,
): EffectDefinition<ComputeInput, Computed<Result>> {
  const { actors, files, results, log } = parts;

  async function tryOnce(input: ComputeInput, { actorId: id, signal }: EffectContext): Promise<Computed<Result>> {
    const onProgress = progressOf((percent) => void actors.ask(ref, id, 'progressed', { percent }).catch(() => {}));
    const options = { account: input.accountId, signal, onProgress, open: sourceOf(files, input.contentKeys) };
    const outcome = await compute(input, options).catch(failureOf);
    if (outcome.kind === 'failed') return outcome;
    const { result, contents } = outcome;
    const sizes: Record<string, number> = {};
    for (const [file, content] of Object.entries(contents)) {
      signal.throwIfAborted();
      await results.put(id, file as ResultFile, content);
      sizes[file] = content.length;
    }
    await removeOldFiles(parts, input.accountId).catch((error) =>
      log.warn({ err: error, backtest: id }, 'files of old backtests were not removed'),
    );
    return { kind: 'complete', result, files: sizes };
  }

  return {
    outcome: 'computed',
    lane: 'compute',
    timeoutMs,
    repeatable: () => true,
    input: Type.Object({
      accountId: Type.String(),
      title: Type.String(),
      strategy: Type.Object({ type: Type.String(), config: Type.Object({}) }),
      terms: Type.Object({ initialCapital: Type.Number(), commissionBps: Type.Number(), slippageBps: Type.Number() }),
      bars: Type.Object({ kind: Type.String() }),
      contentKeys: Type.Array(Type.String()),
      sweep: Type.Union([Type.Object({ grid: Type.Object({}), rankBy: Type.String() }), Type.Null()]),
    }),
    async run(input, context) {
      const { signal, actorId } = context;
      try {
        for (let tries = 1; ; tries++) {
          try {
            return await tryOnce(input, context);
          } catch (error) {
            if (!isTemporary(error) || tries >= maxTries || signal.aborted) throw error;
            parts.log.warn({ err: error, backtest: actorId, tries }, 'a backtest could not be computed now and is tried again');
            await pause(backoffMs(tries - 1, firstPauseMs, maxPauseMs), undefined, { signal });
          }
        }
      } finally {
        // A cancelled computation leaves no files. If the node stops, another node stores the same files.
        if (signal.aborted && !(signal.reason instanceof AppError && signal.reason.code === 'draining'))
          await results.remove(actorId).catch(() => {});
      }
    },
  };
}

const packed = (text: string): Promise<Uint8Array> => compressed(text, { level: 4 });

const isTemporary = (error: unknown) => error instanceof AppError && (error.code === 'overloaded' || error.code === 'unavailable');

/** The failure that the caller sees when bars cannot be read. Throws errors that are not the caller's. */
function failureOf(error: unknown): { kind: 'failed'; error: string } {
  if (error instanceof AppError && error.code === 'payload_too_large') return { kind: 'failed', error: error.message };
  if (error instanceof AppError && error.code === 'not_found')
    return { kind: 'failed', error: 'The data file was replaced or deleted before it was read' };
  throw error;
}

/** A job opens the files one after the other, beginning with the first. */
function sourceOf(files: FileStore, keys: readonly string[]): () => Promise<NodeJS.ReadableStream> {
  let next = 0;
  return () => files.open(keys[next++ % keys.length]!);
}

/** Reports whole percents, at most one a second; the end is not reported here. */
function progressOf(report: (percent: number) => void): (share: number) => void {
  let reportedAtMs = monotonicMs();
  return (share) => {
    const nowMs = monotonicMs();
    if (nowMs - reportedAtMs < progressEveryMs) return;
    reportedAtMs = nowMs;
    report(Math.min(99, Math.floor(100 * share)));
  };
}
