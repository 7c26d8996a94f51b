/**
 * Delays before a stream of events that its server has ended is opened again. A server may set the delay with `retry` in an event. Without these bounds the
 * library would follow `retry: 0` and open the stream again immediately, without end.
 */

const minDelayMs = 1_000;
const maxDelayMs = 30_000;
/** Streams of one session; further ones stay ended. */
const maxWaiting = 16;

export class Reconnections {
  private readonly timers = new Set<NodeJS.Timeout>();

  readonly schedule = (reconnect: () => void, delayMs: number): (() => void) => {
    if (this.timers.size >= maxWaiting) return () => {};
    const run = () => {
      this.timers.delete(timer);
      reconnect();
    };
    const timer = setTimeout(run, Math.min(Math.max(delayMs, minDelayMs), maxDelayMs));
    this.timers.add(timer);
    return () => {
      clearTimeout(timer);
      this.timers.delete(timer);
    };
  };

  close(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }
}
