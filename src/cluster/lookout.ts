/**
 * What a node of a cluster looks for by itself, as news make things only quick: shards that have moved, peers that must look, and now and then
 * whom it hears, which it reports. While somebody is isolated it looks for shards more often, as news of that one come nowhere.
 */
import type { Log } from '../log.ts';
import type { CommitWatch } from './commit-watch.ts';
import type { Membership } from './membership.ts';
import type { MessageRelay } from './message-relay.ts';
import type { Neighbours } from './neighbours.ts';
import type { ShardKeeper } from './shard-keeper.ts';

export type LookoutOptions = {
  keeper: ShardKeeper;
  relay: MessageRelay;
  neighbours: Neighbours;
  membership: Membership;
  commits: CommitWatch;
  log: Log;
  lookMs: number;
  listenMs: number;
  commitLookMs: number;
};

export class Lookout {
  private timers: NodeJS.Timeout[] = [];
  private looking = false;
  private readonly options: LookoutOptions;

  constructor(options: LookoutOptions) {
    this.options = options;
  }

  start(): void {
    const { lookMs, listenMs, commitLookMs } = this.options;
    this.timers = [
      setInterval(() => void this.look(), lookMs),
      setInterval(() => this.listen(), listenMs),
      setInterval(() => this.tryDatabase(), commitLookMs),
    ];
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  private async look(): Promise<void> {
    const { keeper, relay, log } = this.options;
    this.looking = true;
    relay.retry();
    try {
      await keeper.look();
    } catch (error) {
      log.warn({ err: error }, 'the table of shards could not be read');
    } finally {
      this.looking = false;
    }
  }

  private tryDatabase(): void {
    const { commits, membership, log } = this.options;
    if (!commits.look()) return;
    const { canCommit } = commits;
    if (canCommit) log.info({}, 'this node can commit again');
    else log.warn({}, 'this node cannot commit: PostgreSQL does not answer it, or takes no writes; its shards go to nodes that can');
    void membership.reportCommits(canCommit);
  }

  private listen(): void {
    const { neighbours, membership } = this.options;
    const unheard = neighbours.listen();
    if (unheard !== null) void membership.report(unheard);
    if (neighbours.isolated.size > 0 && !this.looking) void this.look();
  }
}
