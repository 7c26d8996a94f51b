/**
 * Time as an argument. Only this file reads the wall clock. There are three clocks, each with its use:
 *
 * - `monotonicMs` (`performance.now`) for deadlines, time-outs, pauses and ages within this process: it never jumps, and means nothing
 *   elsewhere. Between nodes the time that is left is sent.
 * - `systemClock` for times that are stored or sent: the database's clock, as `storage/database-clock.ts` finds it. It advances by the
 *   monotonic clock in between, so a machine whose clock is set disturbs nothing.
 * - `machineClock`, the machine's wall clock as it is: it advances while the machine is suspended, and so reveals that.
 */

export interface Clock {
  /** Whole milliseconds since 1970-01-01 UTC. */
  nowMs(): number;
}

/** Milliseconds since an arbitrary moment, with fractions. Never decreases and never jumps. */
export function monotonicMs(): number {
  return performance.now();
}

export const machineClock: Clock = { nowMs: () => Date.now() };

/** A wall clock that is set explicitly and advances with the monotonic clock. It starts as the machine's. */
export class SteadyClock implements Clock {
  private originMs: number;
  private readonly monotonicMs: () => number;

  constructor(machine: Clock = machineClock, monotonic: () => number = monotonicMs) {
    this.monotonicMs = monotonic;
    this.originMs = machine.nowMs() - monotonic();
  }

  nowMs(): number {
    return Math.floor(this.originMs + this.monotonicMs());
  }

  /** Moves the clock ahead by this amount. */
  move(byMs: number): void {
    this.originMs += byMs;
  }
}

/** The clock of this process. Only `DatabaseClock` may move it. */
export const systemClock: SteadyClock = new SteadyClock();

/** `2026-11-20T09:30:00.000Z`: the only form of a timestamp in answers and events. */
export function isoTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}
