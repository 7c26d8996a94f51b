/**
 * One wall clock for all nodes: the database's. What one node writes with a time (a token's life, a timer, a lease, an idempotency key) another
 * one reads, and the clocks of their machines may differ. Each node finds out every second how far its own is off, and moves `systemClock`.
 *
 * D1 A measurement is as exact as half its round trip; within that, and a little more, `systemClock` is left alone. So nodes agree to
 *    within `toleranceMs` and half a round trip, and a machine whose clock is right is never disturbed.
 * D2 In between, and while the database does not answer, `systemClock` goes on by the monotonic clock: setting the machine's clock changes nothing.
 */
import { type Clock, machineClock, monotonicMs, type SteadyClock, systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Database } from './database.ts';

const everyMs = 1_000;
export const toleranceMs = 100;
/** A difference of this much is worth a word to the operator. */
const worthAWarningMs = 1_000;
const firstSamples = 3;

export type DatabaseClockOptions = {
  database: Pick<Database, 'read'>;
  log: Log;
  /** What is moved; another one only for tests, as the machine's own. */
  clock?: SteadyClock;
  machine?: Clock;
};

export class DatabaseClock {
  /** How far the database's clock is ahead of the machine's: for the operator, who should set one of them. */
  offsetMs = 0;
  private readonly options: Required<DatabaseClockOptions>;
  private timer: NodeJS.Timeout | null = null;
  private measuring = false;

  constructor(options: DatabaseClockOptions) {
    this.options = { clock: systemClock, machine: machineClock, ...options };
  }

  /** Resolves when the clock has been corrected for the first time. Rejects where the database does not answer. */
  async start(): Promise<void> {
    for (let n = 0; n < firstSamples; n++) await this.measure();
    this.timer = setInterval(() => void this.measureAgain(), everyMs);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** Compares once, and corrects where that is called for. */
  async measure(): Promise<void> {
    const { database, clock, machine } = this.options;
    const askedAtMs = monotonicMs();
    const { rows } = await database.read({
      name: 'database_clock',
      text: 'select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms',
    });
    // In this order: a process that is put off between them makes the measurement less exact, and no worse than that.
    const answeredAtMs = { clock: clock.nowMs(), machine: machine.nowMs() };
    const halfTripMs = (monotonicMs() - askedAtMs) / 2;
    const exactMs = halfTripMs + toleranceMs;
    const behindMs = rows[0].now_ms - (answeredAtMs.clock - halfTripMs);
    if (Math.abs(behindMs) > exactMs) clock.move(Math.round(behindMs));
    const measuredMs = rows[0].now_ms - (answeredAtMs.machine - halfTripMs);
    if (Math.abs(measuredMs - this.offsetMs) > exactMs) this.note(Math.abs(measuredMs) <= exactMs ? 0 : Math.round(measuredMs));
  }

  private note(offsetMs: number): void {
    const { log } = this.options;
    const changedMs = Math.abs(offsetMs - this.offsetMs);
    this.offsetMs = offsetMs;
    if (changedMs < worthAWarningMs) return;
    const words = "the clock of this machine and the database's differ: the database's counts; check what sets them";
    log.warn({ database_ahead_ms: offsetMs }, words);
  }

  private async measureAgain(): Promise<void> {
    if (this.measuring) return;
    this.measuring = true;
    try {
      await this.measure();
    } catch (error) {
      this.options.log.debug({ err: error }, "the clock could not be compared with the database's");
    } finally {
      this.measuring = false;
    }
  }
}
