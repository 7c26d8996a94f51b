/** Passivation: idle activations are dropped, sooner when memory is short. */
import { getHeapStatistics } from 'node:v8';
import { monotonicMs } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Activation } from './activation.ts';
import type { ActorSystem } from './actor-system.ts';

const sweepIntervalMs = 1_000;
/** Most activations examined in one sweep, so that a million activations do not delay a turn. */
const maxExamined = 20_000;
/** Above this share of the heap limit, activations idle for longer than `shortIdleMs` are dropped. */
const pressureShare = 0.7;
/** After this time without a message, the record of an actor's sent messages is dropped (`sent-messages.ts`). */
const sentExpiryMs = 10_000;
/** Also for actors that do not exist: a query with an invented id must not hold memory for long. */
const shortIdleMs = 5_000;

export class Passivation {
  private timer: NodeJS.Timeout | null = null;
  private cursor: Iterator<Activation> | null = null;
  private readonly system: ActorSystem;
  private readonly log: Log;
  private readonly underPressure: () => boolean;
  private readonly nowMs: () => number;

  constructor(system: ActorSystem, log: Log, underPressure: () => boolean = heapIsFull, nowMs: () => number = monotonicMs) {
    this.system = system;
    this.log = log;
    this.underPressure = underPressure;
    this.nowMs = nowMs;
  }

  start(): void {
    this.timer = setInterval(() => this.sweep(), sweepIntervalMs);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** Examines the next activations; the next sweep continues after them. Returns how many were dropped. */
  sweep(): number {
    const pressure = this.underPressure();
    const nowMs = this.nowMs();
    let passivated = 0;
    this.cursor ??= this.all();
    for (let examined = 0; examined < maxExamined; examined++) {
      const { done, value: activation } = this.cursor.next();
      if (done) {
        this.cursor = null;
        break;
      }
      if (activation.used) {
        activation.used = false;
        activation.lastUsedMs = nowMs;
      }
      const { idleTimeoutMs } = activation.kind;
      if (activation.sent !== null && nowMs - activation.lastUsedMs >= sentExpiryMs) activation.clearSent();
      const allowedMs = pressure || activation.committed === null ? Math.min(shortIdleMs, idleTimeoutMs) : idleTimeoutMs;
      if (nowMs - activation.lastUsedMs >= allowedMs && this.system.passivate(activation)) passivated++;
    }
    if (pressure && passivated > 0) this.log.info({ passivated }, 'memory is short: idle actors were passivated');
    return passivated;
  }

  private *all(): Generator<Activation, undefined> {
    for (const kind of this.system.kinds.values()) yield* kind.activations.values();
    return undefined;
  }
}

function heapIsFull(): boolean {
  const heap = getHeapStatistics();
  return heap.used_heap_size > heap.heap_size_limit * pressureShare;
}
