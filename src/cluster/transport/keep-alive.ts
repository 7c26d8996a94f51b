/**
 * Detects a silent stream, which TCP reports only after minutes, and measures the round trip. All times are monotonic, because the wall
 * clock may be set.
 */

type Hooks = { ping(number: number): void; tick(): void; silent(silentMs: number): void };

export class KeepAlive {
  /** How long the last answered ping took; null before the first. */
  roundTripMs: number | null = null;
  private heardAtMs = performance.now();
  private dueAtMs: number;
  private lastPing = 0;
  private pingedAtMs = 0;
  private readonly timer: NodeJS.Timeout;
  private readonly silentAfterMs: number;
  private readonly intervalMs: number;
  private readonly hooks: Hooks;

  constructor(silentAfterMs: number, hooks: Hooks) {
    this.silentAfterMs = silentAfterMs;
    this.intervalMs = silentAfterMs / 4;
    this.hooks = hooks;
    this.dueAtMs = performance.now() + this.intervalMs;
    this.timer = setInterval(() => this.tick(), this.intervalMs);
  }

  /** Data of any kind has arrived. */
  heard(): void {
    this.heardAtMs = performance.now();
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
    if (nowMs - this.dueAtMs > this.intervalMs) this.heardAtMs = Math.max(this.heardAtMs, nowMs - this.silentAfterMs + this.intervalMs);
    this.dueAtMs = nowMs + this.intervalMs;
    const silentMs = nowMs - this.heardAtMs;
    if (silentMs >= this.silentAfterMs) return this.hooks.silent(silentMs);
    this.pingedAtMs = nowMs;
    this.hooks.ping(++this.lastPing);
    this.hooks.tick();
  }
}
