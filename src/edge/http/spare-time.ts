/**
 * Turns for work that no caller waits for, such as sending the files of a site: such work does not delay requests noticeably, however much of it there is.
 *
 * T1 A turn comes when this node has no request in flight, one in each round of the event loop. So work that is made of short pieces takes the whole
 *    processor where nobody else needs it, and between two requests at most what one piece takes.
 * T2 Where requests are always in flight a turn comes every `patienceMs`: the work gets on, by a small share of the processor.
 * T3 Accounts take turns.
 */
import { FairQueue } from '../../fair-queue.ts';
import type { RequestStats } from './request-stats.ts';

/** Of a millisecond of work at most, this is the share of a processor that requests always leave. */
const defaultPatienceMs = 5;

type Waiting = { enter(): void };

export class SpareTime {
  private readonly requests: Pick<RequestStats, 'inFlight' | 'onAnswer'>;
  private readonly patienceMs: number;
  private readonly queue = new FairQueue<Waiting>({ maxRunning: 1 });
  private round: NodeJS.Immediate | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(requests: Pick<RequestStats, 'inFlight' | 'onAnswer'>, patienceMs = defaultPatienceMs) {
    this.requests = requests;
    this.patienceMs = patienceMs;
  }

  get waiting(): number {
    return this.queue.waiting;
  }

  /** Resolves when the next piece may begin. Rejects with the signal's reason when it is aborted before. */
  async turn(account: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = {
      enter() {
        signal?.removeEventListener('abort', leave);
        resolve();
      },
    };
    const leave = () => {
      this.queue.remove(account, waiting);
      this.plan();
      reject(signal!.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.queue.add(account, waiting);
    this.plan();
    return promise;
  }

  /** The next turn comes in the next round of the loop, or after the answer to the last request in flight, or by the timer. */
  private plan(): void {
    if (this.queue.waiting === 0) return this.rest();
    this.requests.onAnswer = this.look;
    this.timer ??= setTimeout(() => this.give(), this.patienceMs);
    this.look();
  }

  private readonly look = (): void => {
    if (this.requests.inFlight > 0) return;
    this.round ??= setImmediate(() => {
      this.round = null;
      // The round may have begun with a request.
      if (this.requests.inFlight === 0) this.give();
    });
  };

  private give(): void {
    const next = this.queue.take();
    if (next !== null) {
      this.queue.finish(next.account);
      next.item.enter();
    }
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.plan();
  }

  private rest(): void {
    this.requests.onAnswer = null;
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.round !== null) clearImmediate(this.round);
    this.timer = this.round = null;
  }
}
