/**
 * Durable work that arrived before something it depends on (`NotYet`): it is retried with growing pauses for ten minutes, which covers a
 * slow actor, a failover or a deploy; then it becomes a dead letter for an operator.
 */

import { elapsedBackoffMs } from '../backoff.ts';
import { CountBy } from '../counts.ts';
import type { Log } from '../log.ts';
import type { Envelope } from './envelope.ts';
import { RetryHistory } from './retry-history.ts';

const minPauseMs = 100;
const maxPauseMs = 30_000;
/** Longer than a failover of PostgreSQL, an actor's move or a restart of its node. */
const retryForMs = 10 * 60_000;

export class EarlyWork {
  /** For metrics: tries that came too early. */
  readonly tries = new CountBy(['kind', 'command']);
  private readonly history = new RetryHistory();
  private readonly log: Log;
  private readonly nowMs: () => number;

  /** @param nowMs monotonic clock in milliseconds */
  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.log = log;
    this.nowMs = nowMs;
  }

  /** Counts the try and returns the pause before the next one; null: no further try. */
  pauseMs(envelope: Envelope, error: Error, about: { kind: string; id: string; command: string }): number | null {
    const { forMs, times } = this.history.countTry(envelope, this.nowMs());
    this.tries.add([about.kind, about.command]);
    if (times === 1) this.log.info({ ...about, err: error }, 'durable work arrived before what it needs; retrying');
    if (forMs < retryForMs) return elapsedBackoffMs(forMs, minPauseMs, maxPauseMs);
    this.log.error({ ...about, tries: times, err: error }, 'durable work did not get what it needs in time; it becomes a dead letter');
    envelope.failures = times;
    this.history.remove(envelope);
    return null;
  }

  /** The number of items being retried, and for how long the oldest has been. */
  get size(): { count: number; oldestS: number } {
    return this.history.size(this.nowMs());
  }
}
