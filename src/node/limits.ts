/** Rate limits of a node: in memory for a single node, otherwise shared with the other nodes through Redis. */

import type { Cluster } from '../cluster/cluster.ts';
import { clusterIdentity } from '../cluster/cluster-identity.ts';
import type { Config } from '../config.ts';
import { Concurrency } from '../edge/limits/concurrency.ts';
import { type ConnectionLimits, createConnectionLimits } from '../edge/limits/connection-limits.ts';
import { Entitlements } from '../edge/limits/entitlements.ts';
import { RequestLimits } from '../edge/limits/limits.ts';
import { OwnRates } from '../edge/limits/own-rates.ts';
import type { Rates } from '../edge/limits/rates.ts';
import { OwnSocketCounts, type SocketCounts } from '../edge/limits/socket-counts.ts';
import type { Log } from '../log.ts';
import type { Disposers } from './disposers.ts';
import type { Stores } from './stores.ts';

export type LimitsOfNode = {
  requests: RequestLimits;
  connections: ConnectionLimits;
  /** Number of commands that this node has sent to Redis to count requests and connections; null for a single node. */
  redisCommands: (() => number) | null;
};

/** Rejects with one line if Redis cannot be reached. */
export async function openLimits(
  config: Config,
  stores: Stores,
  cluster: Cluster | null,
  log: Log,
  disposers: Disposers,
): Promise<LimitsOfNode> {
  const entitlements = new Entitlements(stores.database, log);
  entitlements.start();
  disposers.push(() => entitlements.stop());
  const shared = cluster === null ? null : await openShared(config, stores.databaseUrl, cluster, log, disposers);
  const { rates, sockets }: { rates: Rates; sockets: SocketCounts } = shared ?? { rates: new OwnRates(), sockets: new OwnSocketCounts() };
  const requests = new RequestLimits({
    entitlements,
    rates,
    concurrency: new Concurrency(),
    anonymousPerMinute: config.anonymousRequestsPerMinute,
  });
  return {
    requests,
    connections: createConnectionLimits(entitlements, sockets),
    redisCommands: shared === null ? null : () => shared.redis.commands,
  };
}

async function openShared(config: Config, databaseUrl: string, { membership, node }: Cluster, log: Log, disposers: Disposers) {
  // A single node needs no Redis.
  const [{ RedisLimits }, { LeasedRates }, { SharedSocketCounts }] = await Promise.all([
    import('../edge/limits/redis-limits.ts'),
    import('../edge/limits/leased-rates.ts'),
    import('../edge/limits/shared-socket-counts.ts'),
  ]);
  let nodes = 1;
  // All nodes answer callers, whatever their roles.
  membership.onView(({ members }) => (nodes = Math.max(1, members.length)));
  const redis = new RedisLimits(config.redisUrl!, await clusterIdentity(databaseUrl), config.nodeName);
  disposers.push(() => redis.close());
  await redis.connect();
  const common = { node: node.owner, nodes: () => nodes, log };
  const rates = new LeasedRates({ ...common, store: redis });
  disposers.push(() => rates.stop());
  const sockets = new SharedSocketCounts({ ...common, run: (script, ask) => redis.sockets(script, ask) });
  disposers.push(() => sockets.stop());
  let known = new Set<string>();
  membership.onView(({ members }) => {
    const now = new Set(members.map(({ incarnation }) => incarnation));
    for (const other of known) if (!now.has(other) && other !== node.owner) sockets.forget(other);
    known = now;
  });
  return { redis, rates, sockets };
}
