/** Shares the connections to each origin between accounts: slow answers to one account do not block others at the same origin. */
import { FairGate } from '../../fair-queue.ts';

/** Callers are already bounded: this limit only contains a defect. */
const maxWaiting = 4_096;

export class OriginLimits {
  private readonly gates = new Map<string, FairGate>();
  private readonly connections: number;

  constructor(connections: number) {
    this.connections = connections;
  }

  /** Resolves with a function that releases the slot. Rejects with the signal's reason when it is aborted while waiting. */
  async enter(origin: string, account: string, signal: AbortSignal): Promise<() => void> {
    let gate = this.gates.get(origin);
    if (gate === undefined) {
      const maxRunningEach = Math.max(1, Math.floor(this.connections / 2));
      gate = new FairGate({
        maxRunning: this.connections,
        maxRunningEach,
        maxWaiting,
        full: 'Too many requests to one address are waiting',
      });
      this.gates.set(origin, gate);
    }
    const own = gate;
    try {
      const leave = await own.enter(account, signal);
      return () => {
        leave();
        this.forget(origin, own);
      };
    } catch (error) {
      this.forget(origin, own);
      throw error;
    }
  }

  /** Only origins with running requests are stored. */
  private forget(origin: string, gate: FairGate): void {
    const { running, waiting } = gate.size;
    if (running + waiting === 0 && this.gates.get(origin) === gate) this.gates.delete(origin);
  }
}
