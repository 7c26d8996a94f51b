/** Passivation: activations that nobody uses leave memory, sooner when memory is short. */
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ActorSystem } from './actor-system.ts';

const sweepIntervalMs = 1_000;
/** Looked at in one sweep, so that a million activations do not hold up a turn. */
const maxLooked = 20_000;
/** Above this share of the heap's limit, activations idle for longer than `pressureIdleMs` go. */
const pressureShare = 0.7;
const pressureIdleMs = 5_000;

export class Passivation {
  private timer: NodeJS.Timeout | null = null;
  private cursor: Iterator<() => boolean> | null = null;
  private readonly system: ActorSystem;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly underPressure: () => boolean;

  constructor(system: ActorSystem, clock: Clock, log: Log, underPressure: () => boolean = heapIsFull) {
    this.system = system;
    this.clock = clock;
    this.log = log;
    this.underPressure = underPressure;
  }

  start(): void {
    this.timer = setInterval(() => this.sweep(), sweepIntervalMs);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** Looks at the next stretch of activations; a later sweep goes on where this one ended. Returns how many left memory. */
  sweep(): number {
    const pressure = this.underPressure();
    let passivated = 0;
    this.cursor ??= this.candidates(pressure);
    for (let looked = 0; looked < maxLooked; looked++) {
      const next = this.cursor.next();
      if (next.done) {
        this.cursor = null;
        break;
      }
      if (next.value()) passivated++;
    }
    if (pressure && passivated > 0) this.log.info({ passivated }, 'memory is short: idle actors have left it');
    return passivated;
  }

  private *candidates(pressure: boolean): Generator<() => boolean, undefined> {
    for (const kind of this.system.kinds.values()) {
      for (const activation of kind.activations.values()) {
        yield () => {
          const idleMs = this.clock.nowMs() - activation.lastUsedMs;
          return (
            idleMs >= (pressure ? Math.min(pressureIdleMs, kind.idleTimeoutMs) : kind.idleTimeoutMs) && this.system.passivate(activation)
          );
        };
      }
    }
    return undefined;
  }
}

function heapIsFull(): boolean {
  const heap = getHeapStatistics();
  return heap.used_heap_size > heap.heap_size_limit * pressureShare;
}
