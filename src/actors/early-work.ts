/**
 * Durable work that came before what it needs (`NotYet`): it is tried again with growing pauses, for minutes, so that a slow neighbour, a failover
 * or a deploy does not make a dead letter of it; and not for ever, so that somebody hears of what never comes.
 */

import { elapsedBackoffMs } from '../backoff.ts';
import { CountBy } from '../counts.ts';
import type { Log } from '../log.ts';
import type { Envelope } from './envelope.ts';
import { TriedSince } from './tried-since.ts';

const shortestPauseMs = 100;
const longestPauseMs = 30_000;
/** Longer than a failover of PostgreSQL, and than an actor's move or a restart of its node. */
const triedForMs = 10 * 60_000;

export class EarlyWork {
  /** For metrics: tries that came too early. */
  readonly tries = new CountBy(['kind', 'command']);
  private readonly tried = new TriedSince();
  private readonly log: Log;
  private readonly nowMs: () => number;

  /** @param nowMs milliseconds that never jump */
  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.log = log;
    this.nowMs = nowMs;
  }

  /** Notes the try, and says how long to wait before the next one; null: it has been tried for long enough. */
  pauseMs(envelope: Envelope, error: Error, about: { kind: string; id: string; command: string }): number | null {
    const { forMs, times } = this.tried.again(envelope, this.nowMs());
    this.tries.add([about.kind, about.command]);
    if (times === 1) this.log.info({ ...about, err: error }, 'durable work came before what it needs; it is tried again');
    if (forMs < triedForMs) return elapsedBackoffMs(forMs, shortestPauseMs, longestPauseMs);
    this.log.error({ ...about, tries: times, err: error }, 'durable work waited in vain for what it needs; it becomes a dead letter');
    envelope.failures = times;
    this.tried.forget(envelope);
    return null;
  }

  /** How much is being tried again now, and for how long the first of it has been. */
  get size(): { count: number; oldestS: number } {
    return this.tried.size(this.nowMs());
  }
}
