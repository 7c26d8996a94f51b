/**
 * What a node of a cluster looks for by itself, as news make things only quick: shards that have moved, peers that must look, and now and then
 * whom it hears, which it reports. While somebody is isolated it looks for shards more often, as news of that one come nowhere.
 */
import type { Log } from '../log.ts';
import type { Membership } from './membership.ts';
import type { MessageRelay } from './message-relay.ts';
import type { Neighbours } from './neighbours.ts';
import type { ShardKeeper } from './shard-keeper.ts';

export type LookoutOptions = {
  keeper: ShardKeeper;
  relay: MessageRelay;
  neighbours: Neighbours;
  membership: Membership;
  log: Log;
  lookMs: number;
  listenMs: number;
};

export class Lookout {
  private timers: NodeJS.Timeout[] = [];
  private looking = false;
  private readonly options: LookoutOptions;

  constructor(options: LookoutOptions) {
    this.options = options;
  }

  start(): void {
    const { lookMs, listenMs } = this.options;
    this.timers = [setInterval(() => void this.look(), lookMs), setInterval(() => this.listen(), listenMs)];
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

  private listen(): void {
    const { neighbours, membership } = this.options;
    const unheard = neighbours.listen();
    if (unheard !== null) void membership.report(unheard);
    if (neighbours.isolated.size > 0 && !this.looking) void this.look();
  }
}
