/** Connects to the shared counters of a cluster. The Redis connection is separate from that of the membership, which must not wait behind it. */
import { RedisConnection } from '../../cluster/redis-connection.ts';
import type { RateStore } from './leased-rates.ts';
import { type RateAsk, type RateReply, rateReplyOf, rateScript } from './rate-script.ts';
import { socketScripts } from './socket-scripts.ts';

/** Longest wait of a request for Redis; after it this node decides alone. */
const timeoutMs = 1_000;
const connectWithinMs = 10_000;

export class RedisLimits implements RateStore {
  /** Commands sent. */
  commands = 0;
  private readonly redis: RedisConnection;
  private readonly prefix: string;

  /** @param name of this node, for Redis's list of connections */
  constructor(url: string, clusterId: string, name: string) {
    const scripts = { troupe_rate: rateScript(), ...socketScripts };
    this.redis = new RedisConnection({ url, name: `troupe-limits-${name}`, scripts, numberOfKeys: 1 });
    // The braces (a hash tag) keep the keys in one slot of a Redis Cluster.
    this.prefix = `troupe:{${clusterId}}`;
  }

  /** Rejects with a one-line message where Redis cannot be reached. */
  connect(): Promise<void> {
    return this.redis.connect(connectWithinMs);
  }

  async ask(caller: string, ask: RateAsk): Promise<RateReply> {
    return rateReplyOf(await this.run('troupe_rate', `rate:${caller}`, ask));
  }

  sockets(script: keyof typeof socketScripts, ask: object): Promise<unknown> {
    return this.run(script, 'sockets', ask);
  }

  close(): void {
    this.redis.close();
  }

  private run(script: string, key: string, ask: object): Promise<unknown> {
    this.commands++;
    return this.redis.run(script, [`${this.prefix}:${key}`], JSON.stringify(ask), timeoutMs);
  }
}
