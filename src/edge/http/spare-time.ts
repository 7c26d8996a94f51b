/**
 * Turns for work that no caller waits for, such as sending the files of a site: such work does not delay requests noticeably, however much of it there is.
 *
 * T1 While this node has no requests, one turn comes in each round of the event loop: work that is made of short pieces takes the whole processor.
 * T2 While it has some, and for `quietMs` after the last answer, one turn comes every `patienceMs`. That no request is in flight at the moment says
 *    little: the database works for them on the same processors, and requests that are answered together leave gaps.
 * T3 Accounts take turns.
 */
import { FairQueue } from '../../fair-queue.ts';
import type { RequestStats } from './request-stats.ts';

/** A piece takes a third of a millisecond: the work of a busy node is by a fifteenth more. */
const defaultPatienceMs = 5;
const quietMs = 20;

type Requests = Pick<RequestStats, 'inFlight' | 'lastAnswerAtMs'>;
type Waiting = { enter(): void };

export class SpareTime {
  private readonly requests: Requests;
  private readonly patienceMs: number;
  private readonly queue = new FairQueue<Waiting>({ maxRunning: 1 });
  private round: NodeJS.Immediate | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(requests: Requests, patienceMs = defaultPatienceMs) {
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

  private plan(): void {
    if (this.queue.waiting === 0) this.rest();
    else if (this.round !== null || this.timer !== null) return;
    else if (this.isQuiet) this.round = setImmediate(() => this.inRound());
    else this.timer = setTimeout(() => this.give(), this.patienceMs);
  }

  private get isQuiet(): boolean {
    return this.requests.inFlight === 0 && performance.now() - this.requests.lastAnswerAtMs >= quietMs;
  }

  /** The round may have begun with a request. */
  private inRound(): void {
    this.round = null;
    if (this.isQuiet) this.give();
    else this.plan();
  }

  private give(): void {
    this.timer = null;
    const next = this.queue.take();
    if (next !== null) {
      this.queue.finish(next.account);
      next.item.enter();
    }
    this.plan();
  }

  private rest(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.round !== null) clearImmediate(this.round);
    this.timer = this.round = null;
  }
}
