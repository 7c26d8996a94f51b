/**
 * One wall clock for all nodes: the database's. A time that one node writes (of a token, a timer, a lease, an idempotency key) is read by
 * others, and the clocks of their machines may differ. Each node measures its offset every second, and corrects `systemClock`.
 *
 * D1 A measurement is exact to half its round trip; an offset within that and `toleranceMs` is not corrected. So nodes agree within
 *    `toleranceMs` and half a round trip, and a correct clock is never changed.
 * D2 Between measurements, and while the database does not answer, `systemClock` follows the monotonic clock: setting the machine's clock
 *    has no effect.
 */
import { type Clock, machineClock, monotonicMs, type SteadyClock, systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Database } from './database.ts';

const everyMs = 1_000;
export const toleranceMs = 100;
/** Warn the operator about a larger offset. */
const warnOffsetMs = 1_000;
const firstSamples = 3;

export type DatabaseClockOptions = {
  database: Pick<Database, 'read'>;
  log: Log;
  /** The corrected clock and the machine's own; others only in tests. */
  clock?: SteadyClock;
  machine?: Clock;
};

export class DatabaseClock {
  /** How far the database's clock is ahead of the machine's: for the operator, who should correct one of them. */
  offsetMs = 0;
  private readonly options: Required<DatabaseClockOptions>;
  private timer: NodeJS.Timeout | null = null;
  private measuring = false;

  constructor(options: DatabaseClockOptions) {
    this.options = { clock: systemClock, machine: machineClock, ...options };
  }

  /** Resolves after the first measurement. Rejects if the database does not answer. */
  async start(): Promise<void> {
    for (let n = 0; n < firstSamples; n++) await this.measure();
    this.timer = setInterval(() => void this.remeasure(), everyMs);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** Measures once, and corrects if necessary. */
  async measure(): Promise<void> {
    const { database, clock, machine } = this.options;
    const askedAtMs = monotonicMs();
    const { rows } = await database.read({
      name: 'database_clock',
      text: 'select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms',
    });
    // In this order: a pause of the process between the two reads makes the measurement less exact, but not wrong.
    const answeredAtMs = { clock: clock.nowMs(), machine: machine.nowMs() };
    const halfTripMs = (monotonicMs() - askedAtMs) / 2;
    const exactMs = halfTripMs + toleranceMs;
    const behindMs = rows[0].now_ms - (answeredAtMs.clock - halfTripMs);
    if (Math.abs(behindMs) > exactMs) clock.move(Math.round(behindMs));
    const measuredMs = rows[0].now_ms - (answeredAtMs.machine - halfTripMs);
    if (Math.abs(measuredMs - this.offsetMs) > exactMs) this.record(Math.abs(measuredMs) <= exactMs ? 0 : Math.round(measuredMs));
  }

  private record(offsetMs: number): void {
    const { log } = this.options;
    const changedMs = Math.abs(offsetMs - this.offsetMs);
    this.offsetMs = offsetMs;
    if (changedMs < warnOffsetMs) return;
    const message = "the clock of this machine and the database's differ: the database's counts; check what sets them";
    log.warn({ database_ahead_ms: offsetMs }, message);
  }

  private async remeasure(): Promise<void> {
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
