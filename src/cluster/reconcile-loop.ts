/**
 * Periodic work of a cluster node, because notifications may be lost: polls the shard table, retries requests for rescans, samples which
 * members are reachable, and probes the database. While a member is isolated it polls more often, because notifications from that member do
 * not arrive.
 */
import type { Log } from '../log.ts';
import type { ClusterMembers } from './cluster-members.ts';
import type { CommitHealth } from './commit-health.ts';
import type { Membership } from './membership.ts';
import type { MessageRelay } from './message-relay.ts';
import type { ShardReconciler } from './shard-reconciler.ts';

export type ReconcileLoopOptions = {
  reconciler: ShardReconciler;
  relay: MessageRelay;
  clusterMembers: ClusterMembers;
  membership: Membership;
  commits: CommitHealth;
  log: Log;
  shardPollMs: number;
  reachabilitySampleMs: number;
  commitProbeMs: number;
};

export class ReconcileLoop {
  private timers: NodeJS.Timeout[] = [];
  private polling = false;
  private readonly options: ReconcileLoopOptions;

  constructor(options: ReconcileLoopOptions) {
    this.options = options;
  }

  start(): void {
    const { shardPollMs, reachabilitySampleMs, commitProbeMs } = this.options;
    this.timers = [
      setInterval(() => void this.pollShards(), shardPollMs),
      setInterval(() => this.sampleReachability(), reachabilitySampleMs),
      setInterval(() => this.checkDatabase(), commitProbeMs),
    ];
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  private async pollShards(): Promise<void> {
    const { reconciler, relay, log } = this.options;
    this.polling = true;
    relay.retry();
    try {
      await reconciler.poll();
    } catch (error) {
      log.warn({ err: error }, 'the shard table could not be read; retrying');
    } finally {
      this.polling = false;
    }
  }

  private checkDatabase(): void {
    const { commits, membership, log } = this.options;
    if (!commits.sample()) return;
    const { canCommit } = commits;
    if (canCommit) log.info({}, 'this node can commit again');
    else log.warn({}, 'this node cannot commit: PostgreSQL does not answer it, or accepts no writes; its shards move to nodes that can');
    void membership.reportCommits(canCommit);
  }

  private sampleReachability(): void {
    const { clusterMembers, membership } = this.options;
    const unreachable = clusterMembers.sampleReachability();
    if (unreachable !== null) void membership.report(unreachable);
    if (clusterMembers.isolated.size > 0 && !this.polling) void this.pollShards();
  }
}
