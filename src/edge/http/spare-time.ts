/**
 * Turns for work that no caller waits for, such as sending the files of a site: such work does not delay requests noticeably, however much of it there is.
 *
 * T1 While this node has no requests, one turn comes in each round of the event loop: work that is made of short pieces takes the whole processor.
 * T2 While it has some, the next turn comes after a pause of `pauseMs` for each piece of the turn before; so too for `quietMs` after the last of five answers
 *    within `fewMs`. With so many, that no request is in flight at the moment says little: the database works for them on the same processors, and requests that
 *    are answered together leave gaps. With fewer, such as those of a caller that polls, the pause ends with the answer.
 * T3 In a lane accounts take turns.
 * T4 Lanes in which turns wait get equal parts of the time, counted in pieces: turns of one lane slow those of another down to its part, however many they are.
 * T5 An urgent turn does not wait for requests, nor for turns that are not urgent: one urgent turn comes in each round of the event loop.
 */
import { FairQueue } from '../../fair-queue.ts';
import type { RequestStats } from './request-stats.ts';

/** A piece takes one or two milliseconds of processor time: such work gets about a tenth of one processor. */
const defaultPauseMs = 15;
const quietMs = 20;
const fewMs = 200;
/** How often a pause is checked: it ends early when the node has become quiet. */
const pollIntervalMs = 2;

type Requests = Pick<RequestStats, 'inFlight' | 'lastAnswerAtMs' | 'fifthLastAnswerAtMs'>;

/** Turns for one kind of work. */
export type Lane = {
  /** Resolves when the work may begin. */
  turn(account: string, options?: { isUrgent: boolean }): Promise<void>;
};

type Queue = FairQueue<() => void>;
/** `usedPieces`: the lane that has used the fewest is next. */
type Line = { queue: Queue; pieces: number; usedPieces: number };

export class SpareTime {
  /** Requests in progress that only wait for a turn: they do not make the node busy. Counted by the code that waits. */
  waitingRequests = 0;
  private readonly requests: Requests;
  private readonly pauseMs: number;
  private readonly lines: Line[] = [];
  private readonly urgent: Queue = new FairQueue({ maxRunning: 1 });
  /** One of the two is set while something waits that is not urgent. */
  private round: NodeJS.Immediate | null = null;
  private timer: NodeJS.Timeout | null = null;
  private pauseEndsAtMs: number | null = null;
  /** Set while something urgent waits. */
  private urgentRound: NodeJS.Immediate | null = null;
  private lastTurn = { atMs: -Infinity, pieces: 1 };
  /** `usedPieces` of the lane of the last turn, before it. */
  private reachedPieces = 0;

  constructor(requests: Requests, pauseMs = defaultPauseMs) {
    this.requests = requests;
    this.pauseMs = pauseMs;
  }

  /** `pieces`: how many times a short piece each turn takes. */
  lane(pieces = 1): Lane {
    const line: Line = { queue: new FairQueue({ maxRunning: 1 }), pieces, usedPieces: 0 };
    this.lines.push(line);
    return {
      turn: (account, { isUrgent } = { isUrgent: false }) =>
        new Promise((enter) => {
          if (isUrgent) {
            this.urgent.add(account, enter);
            this.planUrgent();
          } else {
            // A lane that was empty has saved nothing.
            if (line.queue.waiting === 0) line.usedPieces = Math.max(line.usedPieces, this.reachedPieces);
            line.queue.add(account, enter);
            this.plan();
          }
        }),
    };
  }

  private plan(): void {
    if (this.next === undefined || this.round !== null || this.timer !== null) return;
    if (this.isQuiet) {
      this.round = setImmediate(() => this.inRound());
      return;
    }
    const nowMs = performance.now();
    this.pauseEndsAtMs ??= nowMs + this.pauseLeftMs;
    this.timer = setTimeout(() => this.inPause(), Math.min(pollIntervalMs, this.pauseEndsAtMs - nowMs));
  }

  private planUrgent(): void {
    if (this.urgent.waiting > 0) this.urgentRound ??= setImmediate(() => this.giveUrgent());
  }

  private get next(): Line | undefined {
    return this.lines.filter(({ queue }) => queue.waiting > 0).sort((a, b) => a.usedPieces - b.usedPieces)[0];
  }

  /** At least one piece's: a turn never begins together with the request that made the node busy. */
  private get pauseLeftMs(): number {
    const { atMs, pieces } = this.lastTurn;
    return Math.max(this.pauseMs, atMs + pieces * this.pauseMs - performance.now());
  }

  private get isQuiet(): boolean {
    const { inFlight, lastAnswerAtMs, fifthLastAnswerAtMs } = this.requests;
    const nowMs = performance.now();
    return inFlight <= this.waitingRequests && (nowMs - lastAnswerAtMs >= quietMs || nowMs - fifthLastAnswerAtMs >= fewMs);
  }

  /** The round may have begun with a request. */
  private inRound(): void {
    this.round = null;
    if (this.isQuiet) this.resumeNext();
    else this.plan();
  }

  private inPause(): void {
    this.timer = null;
    if (this.isQuiet || performance.now() >= this.pauseEndsAtMs!) this.resumeNext();
    else this.plan();
  }

  private resumeNext(): void {
    this.pauseEndsAtMs = null;
    const line = this.next;
    if (line !== undefined) {
      const { queue, pieces, usedPieces } = line;
      this.reachedPieces = usedPieces;
      line.usedPieces += pieces;
      this.lastTurn = { atMs: performance.now(), pieces };
      enterNext(queue);
    }
    this.plan();
  }

  private giveUrgent(): void {
    this.urgentRound = null;
    enterNext(this.urgent);
    this.planUrgent();
  }
}

function enterNext(queue: Queue): void {
  const next = queue.take();
  if (next === null) return;
  queue.finish(next.account);
  next.item();
}
