/**
 * Waits for a service's limits. While a limit holds for a key, nothing is sent for it; afterwards one request at a time goes first, until one of them was
 * not limited: many that wait together would only be limited again.
 *
 * L1 Nothing of a key is sent before the time that its service named. A time more than an hour away is checked hourly: it may be an error of the service.
 * L2 A request that would wait longer than it may is refused at once.
 */
import { monotonicMs } from '../../../clock.ts';

export type Passage = {
  /** The service limited it: nothing more is sent for this long. */
  limited(forMs: number): void;
  /** The service answered in another way. Without effect after `limited`. */
  passed(): void;
};

const maxClosedMs = 3_600_000;

type Gate = { opensAtMs: number; waiting: (() => void)[]; isTried: boolean };

export class LimitGates {
  private readonly gates = new Map<string, Gate>();
  private readonly monotonicMs: () => number;

  constructor(clock: () => number = monotonicMs) {
    this.monotonicMs = clock;
  }

  /** Keys with a limit now. */
  get size(): number {
    return this.gates.size;
  }

  /**
   * Resolves when a request may be sent; the caller then says how it ended. Resolves with a number, the milliseconds until then, where this is later than
   * `untilMs` (monotonic). Rejects with the signal's reason.
   */
  async pass(key: string, untilMs: number, signal: AbortSignal): Promise<Passage | number> {
    for (;;) {
      signal.throwIfAborted();
      const gate = this.gates.get(key);
      if (gate === undefined) return this.passage(key);
      const waitMs = gate.opensAtMs - this.monotonicMs();
      if (gate.opensAtMs > untilMs) return Math.max(waitMs, 0);
      if (waitMs <= 0 && !gate.isTried) {
        gate.isTried = true;
        return this.passage(key);
      }
      if (this.monotonicMs() >= untilMs) return Math.max(waitMs, 1_000);
      await this.changed(gate, waitMs > 0 ? waitMs : untilMs - this.monotonicMs(), signal);
    }
  }

  private passage(key: string): Passage {
    let isOver = false;
    return {
      limited: (forMs) => {
        if (isOver) return;
        isOver = true;
        const closedMs = Math.min(forMs, maxClosedMs);
        const opensAtMs = this.monotonicMs() + closedMs;
        const gate = this.gates.get(key);
        if (gate === undefined) this.gates.set(key, { opensAtMs, waiting: [], isTried: false });
        else {
          gate.opensAtMs = Math.max(gate.opensAtMs, opensAtMs);
          gate.isTried = false;
          wake(gate);
        }
        this.forget(key, closedMs);
      },
      passed: () => {
        if (isOver) return;
        isOver = true;
        const gate = this.gates.get(key);
        // A request sent before the limit proves nothing about it.
        if (gate === undefined || gate.opensAtMs > this.monotonicMs()) return;
        this.gates.delete(key);
        wake(gate);
      },
    };
  }

  /** A limit without waiting requests is removed when it ends. */
  private forget(key: string, forMs: number): void {
    const timer = setTimeout(() => {
      const gate = this.gates.get(key);
      if (gate === undefined || gate.isTried || gate.waiting.length > 0 || gate.opensAtMs > this.monotonicMs()) return;
      this.gates.delete(key);
    }, forMs + 1);
    timer.unref();
  }

  private changed(gate: Gate, maxMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        const at = gate.waiting.indexOf(done);
        if (at !== -1) gate.waiting.splice(at, 1);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, Math.ceil(maxMs)));
      signal.addEventListener('abort', done, { once: true });
      gate.waiting.push(done);
    });
  }
}

function wake(gate: Gate): void {
  for (const done of [...gate.waiting]) done();
}
