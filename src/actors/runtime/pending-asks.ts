/** Every envelope that nobody has answered yet, so that each is answered at the latest when its deadline has passed. */
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Envelope } from './envelope.ts';

const sweepIntervalMs = 100;

export class PendingAsks {
  private readonly waiting = new Set<Envelope>();
  private readonly sweep: NodeJS.Timeout;
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
    this.sweep = setInterval(() => this.expire(), sweepIntervalMs);
    this.sweep.unref();
  }

  get size(): number {
    return this.waiting.size;
  }

  add(envelope: Envelope): void {
    this.waiting.add(envelope);
  }

  settle(envelope: Envelope, error: unknown, reply: unknown): void {
    if (envelope.settled) return;
    envelope.settled = true;
    this.waiting.delete(envelope);
    if (error === undefined) envelope.resolve(reply);
    else envelope.reject(error);
  }

  /** Answers everything: the node stops. */
  close(): void {
    clearInterval(this.sweep);
    for (const envelope of this.waiting) this.settle(envelope, unanswered(envelope), undefined);
  }

  private expire(): void {
    const nowMs = this.clock.nowMs();
    for (const envelope of this.waiting) if (envelope.deadlineMs <= nowMs) this.settle(envelope, unanswered(envelope), undefined);
  }
}

/** A turn that was taken may have happened; one that was not, has not. */
function unanswered(envelope: Envelope): AppError {
  return envelope.taken
    ? new AppError(
        'outcome_unknown',
        'No answer in time: it may have happened. Ask again with the same Idempotency-Key to learn its outcome',
      )
    : new AppError('overloaded', 'The service could not get to this in time; nothing was done. Try again shortly', { retryAfterS: 1 });
}
