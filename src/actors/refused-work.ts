/**
 * Durable work that the database refuses for a reason outside the work: it is retried with growing pauses until it is accepted, and never
 * becomes a dead letter for it. Counted for metrics.
 */

import { elapsedBackoffMs } from '../backoff.ts';
import { CountBy } from '../counts.ts';
import type { Log } from '../log.ts';
import type { Envelope } from './envelope.ts';
import { RetryHistory } from './retry-history.ts';

const minPauseMs = 250;
const maxPauseMs = 30_000;
/** A failing disk refuses thousands at once. */
const logEveryMs = 1_000;

export class RefusedWork {
  /** For metrics: tries that follow a refusal. */
  readonly retries = new CountBy(['source', 'code']);
  private readonly history = new RetryHistory();
  private loggedAtMs = Number.NEGATIVE_INFINITY;
  private unlogged = 0;
  private readonly log: Log;
  private readonly nowMs: () => number;

  /** @param nowMs monotonic clock in milliseconds */
  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.log = log;
    this.nowMs = nowMs;
  }

  /** Counts the refusal and returns the pause before the next try. */
  pauseMs(envelope: Envelope, error: Error, about: object): number {
    const nowMs = this.nowMs();
    const { forMs } = this.history.countTry(envelope, nowMs);
    this.retries.add([envelope.source.kind, codeOf(error)]);
    this.unlogged++;
    if (nowMs - this.loggedAtMs >= logEveryMs) {
      const more = this.unlogged - 1;
      this.log.error({ ...about, more, err: error }, 'the database refuses durable work; retrying until it accepts it');
      this.loggedAtMs = nowMs;
      this.unlogged = 0;
    }
    return elapsedBackoffMs(forMs, minPauseMs, maxPauseMs);
  }

  /** The number of items being retried, and for how long the oldest has been. */
  get size(): { count: number; oldestS: number } {
    return this.history.size(this.nowMs());
  }
}

/** The SQLSTATE; `defect` if the commit itself failed unexpectedly. */
function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : 'defect';
}
