/**
 * Asks of this node that a peer has not answered yet.
 *
 * A1 Every ask is settled exactly once: by its answer, by its caller, by its deadline or by the end of the link, whichever comes first.
 * A2 Without a reply, a command that was sent has an unknown outcome: `outcome_unknown`. All other asks were not executed, or may be
 *    repeated: `shard_not_owned`.
 * A3 Equal queries that are not sent yet share one ask: it is answered from state that is committed after both arrived. It is sent at the
 *    end of the tick like other frames, or sooner when many callers wait for it and the peer has no other ask of this node.
 */
import { AppError } from '../../errors.ts';
import type { RemoteAsk } from '../placement.ts';
import { type Bounds, fits } from './bounds.ts';
import type { TransportCounters } from './counters.ts';
import { askBody, askFrame, cancelFrame } from './frames.ts';
import { NumberSlots } from './number-slots.ts';
import type { DeferredFrame, SendQueue } from './send-queue.ts';

type SharedQuery = { answer: Promise<unknown>; callers: number };

/** A query with so many callers is sent without waiting for more. */
export const callersToFlush = 16;

export class OpenAsks {
  private readonly waiting = new NumberSlots<OpenAsk>();
  /** Queries that are not sent yet, by their bodies. */
  private unsentQueries = new Map<string, SharedQuery>();
  private readonly queue: SendQueue;
  private readonly bounds: Bounds;
  private readonly counters: TransportCounters;

  constructor(queue: SendQueue, { bounds, counters }: { bounds: Bounds; counters: TransportCounters }) {
    this.queue = queue;
    this.bounds = bounds;
    this.counters = counters;
  }

  get size(): number {
    return this.waiting.size;
  }

  /** @param signal aborted when the caller no longer waits */
  open(ask: RemoteAsk, signal: AbortSignal | undefined): Promise<unknown> {
    const body = askBody(ask);
    if (!ask.query || signal !== undefined) return this.openAlone(ask, body, signal);
    const same = this.unsentQueries.get(body);
    if (same !== undefined) {
      // Otherwise callers synchronise: the peer is idle while asks are collected here, and this node while the peer answers.
      if (++same.callers >= callersToFlush && this.waiting.size === 1) this.queue.flush();
      return same.answer;
    }
    const opened = this.waiting.size;
    const answer = this.openAlone(ask, body, undefined);
    // A refused ask is not among the waiting ones.
    if (this.waiting.size > opened) this.unsentQueries.set(body, { answer, callers: 1 });
    return answer;
  }

  private openAlone(ask: RemoteAsk, body: string, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!fits(body, this.bounds.maxPayloadBytes)) throw tooLarge('message', this.bounds.maxPayloadBytes);
      if (this.waiting.size >= this.bounds.maxAsks || !this.queue.hasCapacity(body.length)) {
        this.counters.refusedQueueFull++;
        throw new AppError('overloaded', 'The node that serves this cannot keep up. Try again shortly', { retryAfterS: 1 });
      }
      const open = new OpenAsk(this.waiting.nextNumber(), body, ask, this, resolve, reject);
      if (signal?.aborted) throw open.connectionError();
      if (signal !== undefined) open.watch(signal);
      this.waiting.add(open);
      this.counters.asksWaiting++;
      this.queue.push(open);
    });
  }

  /** Removes a waiting ask, which the caller must settle; undefined if it is settled already. */
  take(number: number): OpenAsk | undefined {
    const open = this.waiting.take(number);
    if (open === undefined) return undefined;
    this.stopSharing(open);
    this.counters.asksWaiting--;
    open.settled = true;
    open.unwatch();
    return open;
  }

  /** The caller no longer waits; the owner is notified. */
  withdraw(open: OpenAsk, error: AppError): void {
    if (this.take(open.number) === undefined) return;
    if (open.sent) this.queue.pushControl(cancelFrame(open.number));
    open.reject(error);
  }

  countSent(open: OpenAsk): void {
    this.stopSharing(open);
    this.counters.asksSent++;
  }

  /** From now on equal queries are sent again. */
  private stopSharing(open: OpenAsk): void {
    if (!open.query || open.sent || !this.unsentQueries.delete(open.body)) return;
    // A new Map for the next tick, for the reason given in NumberSlots.
    if (this.unsentQueries.size === 0) this.unsentQueries = new Map();
  }

  /** Ends asks whose deadline has passed. */
  expire(nowMs: number): void {
    for (const open of this.waiting.all()) if (open.deadlineMs <= nowMs) this.withdraw(open, open.deadlineError());
  }

  /** The other side accepts no more: unsent asks fail at once, so that callers can try another node. */
  failUnsent(): void {
    for (const open of this.waiting.all()) if (!open.sent) this.withdraw(open, open.connectionError());
  }

  /** The link has ended. */
  failAll(): void {
    for (const open of this.waiting.all()) this.take(open.number)!.reject(open.connectionError());
  }
}

export class OpenAsk implements DeferredFrame {
  readonly number: number;
  readonly deadlineMs: number;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: AppError) => void;
  sent = false;
  settled = false;
  body: string;
  readonly query: boolean;
  private readonly asks: OpenAsks;
  private signal: AbortSignal | null = null;
  private abandoned: (() => void) | null = null;

  constructor(
    number: number,
    body: string,
    { deadlineMs, query }: RemoteAsk,
    asks: OpenAsks,
    resolve: (reply: unknown) => void,
    reject: (error: AppError) => void,
  ) {
    this.number = number;
    this.body = body;
    this.deadlineMs = deadlineMs;
    this.query = query;
    this.asks = asks;
    this.resolve = resolve;
    this.reject = reject;
  }

  get chars(): number {
    return this.body.length;
  }

  /** Its frame, with the remaining time. */
  encode(nowMs: number): string | null {
    if (this.settled) return null;
    const leftMs = this.deadlineMs - nowMs;
    if (leftMs <= 0) {
      this.asks.withdraw(this, this.deadlineError());
      return null;
    }
    this.asks.countSent(this);
    this.sent = true;
    const frame = askFrame(this.number, leftMs, this.body);
    this.body = '';
    return frame;
  }

  watch(signal: AbortSignal): void {
    this.signal = signal;
    this.abandoned = () => this.asks.withdraw(this, this.connectionError());
    signal.addEventListener('abort', this.abandoned, { once: true });
  }

  unwatch(): void {
    if (this.abandoned !== null) this.signal!.removeEventListener('abort', this.abandoned);
  }

  /** The error for an ask without an answer. */
  connectionError(): AppError {
    return this.sent && !this.query
      ? new AppError(
          'outcome_unknown',
          'The node that took this was lost before it answered: it may have happened. Ask again with the same Idempotency-Key',
        )
      : new AppError('shard_not_owned', 'The node that serves this cannot be reached now');
  }

  deadlineError(): AppError {
    return this.sent && !this.query
      ? new AppError(
          'outcome_unknown',
          'No answer in time: it may have happened. Ask again with the same Idempotency-Key to learn its outcome',
        )
      : new AppError('overloaded', 'The service could not get to this in time; nothing was done. Try again shortly', { retryAfterS: 1 });
  }
}

export function tooLarge(what: string, maxBytes: number, code: 'payload_too_large' | 'reply_too_large' = 'payload_too_large'): AppError {
  return new AppError(code, `This ${what} is too large to go from one node to another: at most ${maxBytes} bytes`);
}
