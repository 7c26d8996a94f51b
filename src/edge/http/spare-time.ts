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

export class SpareTime {
  private readonly requests: Requests;
  private readonly patienceMs: number;
  private readonly queue = new FairQueue<{ enter(): void }>({ maxRunning: 1 });
  /** One of the two is set while something waits. */
  private round: NodeJS.Immediate | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(requests: Requests, patienceMs = defaultPatienceMs) {
    this.requests = requests;
    this.patienceMs = patienceMs;
  }

  /** Resolves when the next piece may begin. */
  turn(account: string): Promise<void> {
    return new Promise((enter) => {
      this.queue.add(account, { enter });
      this.plan();
    });
  }

  private plan(): void {
    if (this.queue.waiting === 0 || this.round !== null || this.timer !== null) return;
    if (this.isQuiet) this.round = setImmediate(() => this.inRound());
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
}
