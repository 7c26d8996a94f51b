/**
 * Counts the WebSocket connections of callers across a cluster. Each node sends Redis its absolute counts, so a duplicate or late report
 * does no harm.
 */
import type { Log } from '../../log.ts';
import { unlimited } from '../../plans.ts';
import { type SocketCounts, setCount } from './socket-counts.ts';
import type { OpenAnswer, OpenAsk, ReportAsk } from './socket-scripts.ts';

export type SharedSocketCountsOptions = {
  /** Runs a script; rejects where Redis does not answer in time. */
  run(script: 'troupe_socket_open' | 'troupe_socket_report' | 'troupe_socket_leave', ask: object): Promise<unknown>;
  /** This node's incarnation. */
  node: string;
  /** Nodes that accept connections, including this one: 1 or more. */
  nodes(): number;
  log: Log;
  /** How long the counts of a dead node remain. */
  leaseMs?: number;
};

/** While Redis is unavailable each node admits its share. */
export class SharedSocketCounts implements SocketCounts {
  private readonly options: Required<SharedSocketCountsOptions>;
  private readonly counts = new Map<string, number>();
  /** Callers whose count in Redis may be outdated. */
  private readonly unreported = new Set<string>();
  /** Operations of each caller, one after the other. */
  private readonly turns = new Map<string, Promise<unknown>>();
  private readonly timer: NodeJS.Timeout;
  private publishing: Promise<void> | null = null;
  private failing = false;

  constructor(options: SharedSocketCountsOptions) {
    this.options = { leaseMs: 10_000, ...options };
    this.timer = setInterval(() => void this.publish().catch(() => {}), this.options.leaseMs / 4);
    this.timer.unref();
  }

  open(caller: string, limit: number): Promise<boolean> {
    return this.inTurn(caller, async () => {
      const have = this.counts.get(caller) ?? 0;
      const isOpen = await this.mayOpen(caller, have, limit);
      if (isOpen) this.counts.set(caller, have + 1);
      return isOpen;
    });
  }

  close(caller: string): void {
    void this.inTurn(caller, async () => {
      setCount(this.counts, caller, this.counts.get(caller)! - 1);
      this.unreported.add(caller);
      await this.publishBatch([caller], false).catch(() => {});
    });
  }

  /** Renews this node's lease and sends the counts that may be outdated in Redis. */
  publish(all = false): Promise<void> {
    this.publishing ??= this.publishBatch(all ? [...this.counts.keys()] : [...this.unreported], all).finally(
      () => (this.publishing = null),
    );
    return this.publishing;
  }

  /** Removes the counts of a lost node now, not when its lease ends. If the node is still alive, it sends its counts again. */
  forget(node: string): void {
    // If this fails, the lease expires.
    void this.options.run('troupe_socket_leave', { node }).catch(() => {});
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    const { run, node } = this.options;
    await run('troupe_socket_leave', { node }).catch(() => {});
  }

  private async mayOpen(caller: string, have: number, limit: number): Promise<boolean> {
    const { run, node, nodes } = this.options;
    const ask: OpenAsk = { node, caller, have, limit: limit === unlimited ? Number.MAX_SAFE_INTEGER : limit };
    try {
      for (let attempt = 0; attempt < 2; attempt++) {
        const answer = (await run('troupe_socket_open', ask)) as OpenAnswer;
        if (answer !== 'missing') return answer === 'open';
        await this.publish(true);
      }
    } catch {
      // Decided below; `publish` logs the failure.
    }
    this.unreported.add(caller);
    return limit === unlimited || have < Math.min(limit, Math.max(1, Math.floor(limit / nodes())));
  }

  private async publishBatch(callers: readonly string[], all: boolean): Promise<void> {
    const { run, node, leaseMs, log } = this.options;
    for (const caller of callers) this.unreported.delete(caller);
    // Counts that change during this report may be overwritten by it, so they are sent again.
    if (all) for (const caller of this.turns.keys()) this.unreported.add(caller);
    const counts = Object.fromEntries(callers.map((caller) => [caller, this.counts.get(caller) ?? 0]));
    const ask: ReportAsk = { node, counts, all, leaseMs };
    try {
      const missing = (await run('troupe_socket_report', ask)) === 'missing';
      this.failing = false;
      if (missing) await this.publishBatch([...this.counts.keys()], true);
    } catch (error) {
      for (const caller of callers) this.unreported.add(caller);
      if (!this.failing) log.warn({ err: error }, 'connections cannot be counted across the cluster; this node admits its share');
      this.failing = true;
      throw error;
    }
  }

  private inTurn<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.turns.get(caller) ?? Promise.resolve()).then(work, work);
    const done = turn.finally(() => {
      if (this.turns.get(caller) === done) this.turns.delete(caller);
    });
    this.turns.set(caller, done);
    return done;
  }
}
