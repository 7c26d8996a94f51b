/** Asks of a peer that this node answers. Each is answered once, unless its caller no longer waits. */
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { AnswerAsk } from '../peers.ts';
import type { RemoteAsk } from '../placement.ts';
import { type Bounds, fits } from './bounds.ts';
import type { TransportCounters } from './counters.ts';
import { type AskFrame, failureFrame, readAsk, replyFrame } from './frames.ts';
import { tooLarge } from './open-asks.ts';
import type { SendQueue } from './send-queue.ts';

/**
 * The queue of replies that wait for credit may be this many times as large as that of asks and notifications; beyond, only the loss of the
 * reply is reported.
 */
const replyQueueFactor = 4;

export class ServedAsks {
  /** Running asks; with the controller of the caller's signal, if one was requested. */
  private readonly running = new Map<number, AbortController | null>();
  private readonly from: string;
  private readonly queue: SendQueue;
  private readonly bounds: Bounds;
  private readonly counters: TransportCounters;
  private readonly log: Log;

  constructor(from: string, queue: SendQueue, { bounds, counters, log }: { bounds: Bounds; counters: TransportCounters; log: Log }) {
    this.from = from;
    this.queue = queue;
    this.bounds = bounds;
    this.counters = counters;
    this.log = log;
  }

  get size(): number {
    return this.running.size;
  }

  /** @param answer null while this node serves no asks */
  serve(frame: AskFrame, nowMs: number, answer: AnswerAsk | null): void {
    const number = frame[1];
    const ask = readAsk(frame, nowMs);
    this.counters.asksReceived++;
    if (answer === null) return this.queue.push(failureFrame(number, new AppError('shard_not_owned', 'This node serves nothing yet')));
    // Twice the number that a peer can have open.
    if (this.running.size >= 2 * this.bounds.maxAsks)
      return this.queue.push(failureFrame(number, new AppError('overloaded', 'The node is overloaded', { retryAfterS: 1 })));
    let controller: AbortController | null = null;
    const callerSignal = () => {
      controller ??= new AbortController();
      if (this.running.has(number)) this.running.set(number, controller);
      return controller.signal;
    };
    let outcome: unknown;
    try {
      outcome = answer(ask, this.from, callerSignal);
    } catch (error) {
      return this.fail(number, ask, error);
    }
    // A value is answered in the same tick, with the rest of its batch.
    if (!(outcome instanceof Promise)) return this.reply(number, ask, outcome);
    this.running.set(number, controller);
    this.counters.asksServed++;
    outcome.then(
      (value) => this.finish(number) && this.reply(number, ask, value),
      (error) => this.finish(number) && this.fail(number, ask, error),
    );
  }

  cancel(number: number): void {
    const controller = this.running.get(number);
    if (controller !== undefined && this.finish(number)) controller?.abort();
  }

  /** The answers can no longer be delivered. */
  cancelAll(): void {
    for (const number of [...this.running.keys()]) this.cancel(number);
  }

  /** Whether the caller still waits for it. */
  private finish(number: number): boolean {
    const waiting = this.running.delete(number);
    if (waiting) this.counters.asksServed--;
    return waiting;
  }

  private reply(number: number, ask: RemoteAsk, value: unknown): void {
    let frame: string;
    try {
      frame = replyFrame(number, value);
    } catch (error) {
      return this.fail(number, ask, error);
    }
    if (!fits(frame, this.bounds.maxPayloadBytes)) {
      const code = ask.query ? 'payload_too_large' : 'reply_too_large';
      return this.fail(number, ask, tooLarge('reply', this.bounds.maxPayloadBytes, code));
    }
    if (this.queue.hasCapacity(frame.length, replyQueueFactor)) return this.queue.push(frame);
    this.counters.refusedQueueFull++;
    this.fail(number, ask, new AppError(ask.query ? 'overloaded' : 'outcome_unknown', 'The reply found no room on its way back'));
  }

  /** A failure that is not an AppError is a defect: its text is not sent. */
  private fail(number: number, ask: RemoteAsk, error: unknown): void {
    if (error instanceof AppError) return this.queue.push(failureFrame(number, error));
    this.log.error({ err: error, kind: ask.kind, id: ask.id, name: ask.name, from: this.from }, 'an ask from another node failed');
    this.queue.push(failureFrame(number, new AppError('internal', 'Internal error')));
  }
}
