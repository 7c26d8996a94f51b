/** The number of WebSocket connections of each caller: at this node if it is alone, otherwise at all nodes of the cluster together. */
import { isWithin } from './entitlements.ts';

export interface SocketCounts {
  /** Counts one more connection if the limit allows it; -1: unlimited. Never rejects. */
  open(caller: string, limit: number): boolean | Promise<boolean>;
  /** A counted connection has ended. */
  close(caller: string): void;
  stop(): Promise<void>;
}

export class OwnSocketCounts implements SocketCounts {
  private readonly counts = new Map<string, number>();

  open(caller: string, limit: number): boolean {
    const count = this.counts.get(caller) ?? 0;
    if (!isWithin(count, limit)) return false;
    this.counts.set(caller, count + 1);
    return true;
  }

  close(caller: string): void {
    setCount(this.counts, caller, this.counts.get(caller)! - 1);
  }

  async stop(): Promise<void> {}
}

export function setCount(counts: Map<string, number>, caller: string, count: number): void {
  if (count === 0) counts.delete(caller);
  else counts.set(caller, count);
}
