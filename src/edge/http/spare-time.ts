/**
 * Turns for work that no caller waits for, such as sending the files of a site: such work does not delay requests noticeably, however much of it there is.
 *
 * T1 While this node has no requests, one turn comes in each round of the event loop: work that is made of short pieces takes the whole processor.
 * T2 While it has some, and for `quietMs` after the last answer, the next turn comes after a pause of `pauseMs` for each piece of the turn before. That no
 *    request is in flight at the moment says little: the database works for them on the same processors, and requests that are answered together leave gaps.
 * T3 Accounts take turns.
 */
import { FairQueue } from '../../fair-queue.ts';
import type { RequestStats } from './request-stats.ts';

/** A piece takes about a millisecond of processor time: such work gets about a tenth of one processor. */
const defaultPauseMs = 10;
const quietMs = 20;

type Requests = Pick<RequestStats, 'inFlight' | 'lastAnswerAtMs'>;

export class SpareTime {
  /** Requests in progress that only wait for a turn: they do not make the node busy. Counted by the code that waits. */
  waitingRequests = 0;
  private readonly requests: Requests;
  private readonly pauseMs: number;
  private readonly queue = new FairQueue<{ enter(): void; pieces: number }>({ maxRunning: 1 });
  /** One of the two is set while something waits. */
  private round: NodeJS.Immediate | null = null;
  private timer: NodeJS.Timeout | null = null;
  private lastTurn = { atMs: -Infinity, pieces: 1 };

  constructor(requests: Requests, pauseMs = defaultPauseMs) {
    this.requests = requests;
    this.pauseMs = pauseMs;
  }

  /** Resolves when the work may begin. `pieces`: how many times a short piece it takes. */
  turn(account: string, pieces = 1): Promise<void> {
    return new Promise((enter) => {
      this.queue.add(account, { enter, pieces });
      this.plan();
    });
  }

  private plan(): void {
    if (this.queue.waiting === 0 || this.round !== null || this.timer !== null) return;
    if (this.isQuiet) this.round = setImmediate(() => this.inRound());
    else this.timer = setTimeout(() => this.resumeNext(), this.pauseLeftMs);
  }

  /** At least one piece's: a turn never begins together with the request that made the node busy. */
  private get pauseLeftMs(): number {
    const { atMs, pieces } = this.lastTurn;
    return Math.max(this.pauseMs, atMs + pieces * this.pauseMs - performance.now());
  }

  private get isQuiet(): boolean {
    return this.requests.inFlight <= this.waitingRequests && performance.now() - this.requests.lastAnswerAtMs >= quietMs;
  }

  /** The round may have begun with a request. */
  private inRound(): void {
    this.round = null;
    if (this.isQuiet) this.resumeNext();
    else this.plan();
  }

  private resumeNext(): void {
    this.timer = null;
    const next = this.queue.take();
    if (next !== null) {
      this.queue.finish(next.account);
      this.lastTurn = { atMs: performance.now(), pieces: next.item.pieces };
      next.item.enter();
    }
    this.plan();
  }
}
