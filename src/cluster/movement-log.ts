/** Logs moving shards: one line when a movement has ended, and one every few seconds while it continues. */
import type { Log } from '../log.ts';

const quietMs = 500;
const maxDelayMs = 5_000;

export class MovementLog {
  private claimed = 0;
  private waiting = 0;
  private handedOver = 0;
  private sinceMs = 0;
  private timer: NodeJS.Timeout | null = null;
  private readonly log: Log;
  private readonly owned: () => number;

  /** @param owned number of shards that this node owns now */
  constructor(log: Log, owned: () => number) {
    this.log = log;
    this.owned = owned;
  }

  /** @param waiting number of these that are served only after a read lease, because their last owner may still show them */
  claimedShards(count: number, waiting: number): void {
    this.claimed += count;
    this.waiting += waiting;
    this.writeLater();
  }

  releasedShards(count: number): void {
    this.handedOver += count;
    this.writeLater();
  }

  /** Writes pending log lines. */
  stop(): void {
    if (this.timer !== null) this.write();
  }

  private writeLater(): void {
    const nowMs = performance.now();
    if (this.timer === null) this.sinceMs = nowMs;
    else clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), Math.max(0, Math.min(quietMs, this.sinceMs + maxDelayMs - nowMs)));
    this.timer.unref();
  }

  private write(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const { claimed, waiting, handedOver } = this;
    this.claimed = this.waiting = this.handedOver = 0;
    this.log.info({ claimed, waited_for: waiting, handed_over: handedOver, owned: this.owned() }, 'shards have moved');
  }
}
