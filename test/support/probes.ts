/** Queries many actors through the public interface: the time until each answers again, or whether any answer fails. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from './service.ts';

type Place = { readonly url: string };

const askTimeoutMs = 10_000;
const againMs = 5;
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
        await pause(againMs);
      }
    }),
  );
}

/** Steady looks, one after the other on each of a few loops. */
export class SteadyLooks {
  looks = 0;
  readonly failures: string[] = [];
  readonly latenciesMs: number[] = [];
  private isOver = false;
  private readonly running: Promise<unknown>;

  /** @param places where to ask now; looked at before each request */
  constructor(caller: Caller, places: () => readonly Place[], paths: readonly string[], loops = 4) {
    this.running = Promise.all(
      Array.from({ length: loops }, async (_, loop) => {
        for (let n = loop; !this.isOver; n += loops) {
          const all = places();
          const path = paths[n % paths.length]!;
          const beganMs = performance.now();
          const status = await statusOf(caller.at(all[n % all.length]!), path);
          this.latenciesMs.push(performance.now() - beganMs);
          this.looks++;
          if (status === '200') continue;
          this.failures.push(`${path}: ${status}`);
          // A place that has gone fails at once: without a pause nothing else would run any more.
          await pause(againMs);
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
