/**
 * Detects a stream that delivers no data, which TCP reports only after minutes, and measures the round trip. All times are monotonic, because the wall
 * clock may be set.
 */

type Hooks = { ping(number: number): void; tick(): void; timedOut(sinceReceivedMs: number): void };

export class KeepAlive {
  /** How long the last answered ping took; null before the first. */
  roundTripMs: number | null = null;
  private lastReceivedAtMs = performance.now();
  private dueAtMs: number;
  private lastPing = 0;
  private pingedAtMs = 0;
  private readonly timer: NodeJS.Timeout;
  private readonly receiveTimeoutMs: number;
  private readonly intervalMs: number;
  private readonly hooks: Hooks;

  constructor(receiveTimeoutMs: number, hooks: Hooks) {
    this.receiveTimeoutMs = receiveTimeoutMs;
    this.intervalMs = receiveTimeoutMs / 4;
    this.hooks = hooks;
    this.dueAtMs = performance.now() + this.intervalMs;
    this.timer = setInterval(() => this.tick(), this.intervalMs);
  }

  /** Data of any kind has arrived. */
  dataReceived(): void {
    this.lastReceivedAtMs = performance.now();
  }

  answered(number: number): void {
    if (number === this.lastPing) this.roundTripMs = performance.now() - this.pingedAtMs;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    const nowMs = performance.now();
    // This process itself was paused: data that arrived meanwhile is unread, so the peer gets one more interval.
    if (nowMs - this.dueAtMs > this.intervalMs)
      this.lastReceivedAtMs = Math.max(this.lastReceivedAtMs, nowMs - this.receiveTimeoutMs + this.intervalMs);
    this.dueAtMs = nowMs + this.intervalMs;
    const sinceReceivedMs = nowMs - this.lastReceivedAtMs;
    if (sinceReceivedMs >= this.receiveTimeoutMs) return this.hooks.timedOut(sinceReceivedMs);
    this.pingedAtMs = nowMs;
    this.hooks.ping(++this.lastPing);
    this.hooks.tick();
  }
}
