/** All pending asks. Each is answered at the latest when its deadline has passed. */
import { monotonicMs } from '../clock.ts';
import { AppError, outcomeUnknown } from '../errors.ts';
import { Admission, lateAfterMs, sampleEveryMs } from './admission.ts';
import type { DeferredCallers } from './deferred-callers.ts';
import type { Envelope } from './envelope.ts';
import { recordedRefusal } from './recorded-refusal.ts';

export class PendingAsks {
  /**
   * In no order. Not a Set: when a Set outgrows its table, V8 links the old table, which still holds the entries of that moment, to the new
   * one. A dead table in the old generation then keeps every later one, and all their envelopes, until the next full garbage collection.
   */
  private readonly waiting: Envelope[] = [];
  private readonly sweep: NodeJS.Timeout;
  private readonly deferred: DeferredCallers;
  private readonly admission: Admission;
  /** Answers since the last sample. */
  private answered = 0;
  /** Late ones of these. Asks sent to another node are not counted: that node does its own shedding. */
  private late = 0;
  private onDrained: (() => void) | null = null;

  /** @param maxPending limit of unanswered asks */
  constructor(deferred: DeferredCallers, maxPending: number) {
    this.admission = new Admission(maxPending);
    this.deferred = deferred;
    this.sweep = setInterval(() => this.expire(), sampleEveryMs);
    this.sweep.unref();
  }

  get size(): number {
    return this.waiting.length;
  }

  /** Whether one more ask is admitted. */
  get hasCapacity(): boolean {
    return this.admission.admits(this.waiting.length);
  }

  add(envelope: Envelope): void {
    envelope.askedAtMs = monotonicMs();
    envelope.pendingAt = this.waiting.length;
    this.waiting.push(envelope);
  }

  /** Answers an envelope; only the first answer counts. */
  settle(envelope: Envelope, error: unknown, reply: unknown): void {
    if (envelope.settled) return;
    envelope.settled = true;
    if (envelope.pendingAt >= 0) {
      this.remove(envelope);
      this.answered++;
      if (this.isLate(envelope, monotonicMs())) this.late++;
    }
    if (envelope.deferredKey !== null) this.deferred.remove(envelope);
    if (error === undefined) envelope.resolve(reply);
    else envelope.reject(error as AppError);
    if (this.waiting.length === 0 && this.onDrained !== null) this.onDrained();
  }

  /** Answers an envelope with its command's recorded reply or refusal. */
  settleAsRecorded(envelope: Envelope, recorded: unknown): void {
    this.settle(envelope, recordedRefusal(recorded), recorded);
  }

  /** Resolves when every ask is answered. Call when no more are accepted. */
  drained(): Promise<void> {
    if (this.waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => (this.onDrained = resolve));
  }

  /** Answers everything: the node stops. */
  close(): void {
    clearInterval(this.sweep);
    for (const envelope of [...this.waiting]) this.settle(envelope, unanswered(envelope), undefined);
  }

  private expire(): void {
    const nowMs = monotonicMs();
    const { answered, late } = this;
    let lateWaiting = 0;
    const expired: Envelope[] = [];
    for (const envelope of this.waiting) {
      if (envelope.deadlineMs <= nowMs) expired.push(envelope);
      else if (this.isLate(envelope, nowMs)) lateWaiting++;
    }
    for (const envelope of expired) this.settle(envelope, unanswered(envelope), undefined);
    this.admission.sample(this.waiting.length, answered, answered === 0 ? lateWaiting : late);
    this.answered = 0;
    this.late = 0;
  }

  /** The last one takes its place. */
  private remove(envelope: Envelope): void {
    const last = this.waiting.pop()!;
    if (last !== envelope) {
      this.waiting[envelope.pendingAt] = last;
      last.pendingAt = envelope.pendingAt;
    }
    envelope.pendingAt = -1;
  }

  private isLate({ isRemote, askedAtMs }: Envelope, nowMs: number): boolean {
    return !isRemote && nowMs - askedAtMs > lateAfterMs;
  }
}

/** A turn that was run may have been committed, and so may an earlier try; otherwise there was no effect. */
function unanswered(envelope: Envelope): AppError {
  return envelope.mayHaveEffect || envelope.repeat
    ? outcomeUnknown()
    : new AppError('overloaded', 'The service could not get to this in time; nothing was done. Try again shortly', { retryAfterS: 1 });
}
