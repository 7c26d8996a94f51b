/** Queries many actors through the public interface: the time until each answers again, or whether any answer fails. */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../src/backoff.ts';
import type { Caller } from './service.ts';

type Place = { readonly url: string };

const askTimeoutMs = 10_000;
const [retryMs, maxRetryMs] = [5, 50];
const giveUpMs = 60_000;

/**
 * Asks for every path until it is answered 200, all at once. Resolves with the milliseconds each took.
 *
 * @param places asked by turns
 */
export function untilAnswered(caller: Caller, places: readonly Place[], paths: readonly string[]): Promise<number[]> {
  const beganMs = performance.now();
  return Promise.all(
    paths.map(async (path, n) => {
      for (let attempt = n; ; attempt++) {
        if ((await statusOf(caller.at(places[attempt % places.length]!), path)) === '200') return performance.now() - beganMs;
        if (performance.now() - beganMs > giveUpMs) throw new Error(`${path} is not answered`);
        await pause(backoffMs(attempt - n, retryMs, maxRetryMs));
      }
    }),
  );
}

/** Queries in a few concurrent loops, each one query after the other, until `stop`. */
export class SteadyQueries {
  readonly failures: string[] = [];
  readonly latenciesMs: number[] = [];
  private isOver = false;
  private readonly running: Promise<unknown>;

  /**
   * @param places the nodes to ask; read before each request
   * @param options.pauseMs between two requests of a loop. Without pauses the requests need most of the processor time of the nodes under test
   */
  constructor(caller: Caller, places: () => readonly Place[], paths: readonly string[], { loops = 4, pauseMs = 10 } = {}) {
    this.running = Promise.all(
      Array.from({ length: loops }, async (_, loop) => {
        for (let n = loop; !this.isOver; n += loops) {
          const all = places();
          const path = paths[n % paths.length]!;
          const beganMs = performance.now();
          const status = await statusOf(caller.at(all[n % all.length]!), path);
          this.latenciesMs.push(performance.now() - beganMs);
          if (status !== '200') this.failures.push(`${path}: ${status}`);
          // A node that is gone fails a request at once: without a pause nothing else would run.
          if (status !== '200' || pauseMs > 0) await pause(pauseMs || retryMs);
        }
      }),
    );
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
  }
}

async function statusOf(caller: Caller, path: string): Promise<string> {
  try {
    const response = await caller.fetch('GET', path, undefined, {}, AbortSignal.timeout(askTimeoutMs));
    await response.arrayBuffer();
    return String(response.status);
  } catch (error) {
    const { message, cause } = error as Error;
    return `${message} ${cause instanceof Error ? cause.message : ''}`;
  }
}
