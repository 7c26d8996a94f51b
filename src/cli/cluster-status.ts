/** The status of the cluster, from PostgreSQL and Redis, without a query to any node or admin port. */

import { isolatedOf } from '../cluster/isolation.ts';
import type { ClusterReading } from '../cluster/membership-reading.ts';
import { planOf } from '../cluster/placement-plan.ts';
import type { DatabaseReading, ShardOwner } from './cluster-database.ts';

/**
 * `isolated`: it is alive, but the other nodes cannot reach it, and it is assigned no shards. `unable`: it cannot commit, likewise. `silent`:
 * it has not renewed its lease for a while, or, without Redis, has no connection to the database.
 */
export type NodeState = 'ready' | 'leaving' | 'isolated' | 'unable' | 'silent';

export type NodeStatus = {
  name: string;
  incarnation: string;
  /** The address at which other nodes reach it; null if only the database lists the node. */
  address: string | null;
  roles: readonly string[] | null;
  state: NodeState;
  shards: number;
  last_renewal_ms: number | null;
  commits_per_s: number | null;
};

type BacklogStatus = { count: number; oldest_s: number | null };

/** The output of `--json`. Null: unknown. */
export type ClusterStatus = {
  nodes: NodeStatus[];
  /** `owner` is the incarnation, as in `nodes`; null for a shard without an owner. */
  shards: ShardOwner[];
  /** Null without Redis. */
  view: { number: number; generation: string | null } | null;
  redis: { up: boolean; trouble: string | null } | null;
  /** Shards that are not on their planned owner, and so will move. */
  moves: { shard: number; from: string | null; to: string }[];
  lag: { messages: BacklogStatus; effects: BacklogStatus; timers: BacklogStatus; dead_letters: number } | null;
  rates: { commits_per_s: number; events_per_s: number | null; over_ms: number } | null;
};

/** Four renewals missed. */
const staleAfterMs = 1_000;

/** The rates are computed from `earlier`. `cluster` is null for a service of one node. */
export function statusOf(now: DatabaseReading, earlier: DatabaseReading | null, cluster: ClusterReading | null): ClusterStatus {
  const overMs = earlier === null ? 0 : now.nowMs - earlier.nowMs;
  const perSecond = (count: number) => round((Math.max(0, count) * 1_000) / overMs);
  const members = cluster?.redis.up ? cluster.view.members : [];
  const isolated = isolatedOf({ number: 0, members });
  const known = new Set(members.map(({ incarnation }) => incarnation));
  const owned = countBy(now.shards);
  const formerMembers = [...owned.keys()].filter((owner) => !known.has(owner));
  const measured = earlier !== null && overMs > 0;
  const common = (incarnation: string) => ({
    incarnation,
    shards: owned.get(incarnation) ?? 0,
    commits_per_s: measured ? perSecond(batchesOf(now, incarnation) - batchesOf(earlier, incarnation)) : null,
  });
  const nodes: NodeStatus[] = members.map(({ incarnation, name, host, port, roles, leaving, cannotCommit }, i) => {
    const sinceRenewalMs = cluster!.nodes[i]!.sinceRenewalMs;
    return {
      name,
      ...common(incarnation),
      address: `${host.includes(':') ? `[${host}]` : host}:${port}`,
      roles,
      state:
        sinceRenewalMs > staleAfterMs
          ? 'silent'
          : isolated.has(incarnation)
            ? 'isolated'
            : cannotCommit
              ? 'unable'
              : leaving
                ? 'leaving'
                : 'ready',
      last_renewal_ms: sinceRenewalMs,
    };
  });
  for (const incarnation of formerMembers) {
    // The members are in Redis; without it a connection to the database is the only sign of life.
    const lives = !cluster?.redis.up && now.isConnected(incarnation);
    nodes.push({
      name: incarnation.split('/')[0]!,
      ...common(incarnation),
      address: null,
      roles: null,
      state: lives ? 'ready' : 'silent',
      last_renewal_ms: null,
    });
  }
  const batches = [...now.batches].reduce((sum, [marker, batch]) => sum + Math.max(0, batch - (earlier?.batches.get(marker) ?? 0)), 0);
  return {
    nodes: nodes.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) || (a.incarnation < b.incarnation ? -1 : 1)),
    shards: now.shards,
    view: cluster?.redis.up ? { number: cluster.view.number, generation: cluster.generation } : null,
    redis: cluster?.redis ?? null,
    moves: cluster?.redis.up ? movesOf(now.shards, cluster) : [],
    lag: now.backlogs === null ? null : lagOf(now.backlogs),
    rates: measured
      ? {
          commits_per_s: perSecond(batches),
          events_per_s: now.events === null || earlier.events === null ? null : perSecond(now.events - earlier.events),
          over_ms: Math.round(overMs),
        }
      : null,
  };
}

/** Of all its lanes: each has its own marker (`commit-lane.ts`). */
function batchesOf({ batches }: DatabaseReading, owner: string): number {
  return [...batches].reduce((sum, [marker, batch]) => (marker === owner || marker.startsWith(`${owner} lane `) ? sum + batch : sum), 0);
}

function movesOf(shards: ShardOwner[], { view }: ClusterReading): ClusterStatus['moves'] {
  const plan = planOf(view);
  return shards.flatMap(({ shard, owner }) => {
    const to = plan[shard] ?? null;
    return to === null || to === owner ? [] : [{ shard, from: owner, to }];
  });
}

function lagOf({ messages, effects, timers, deadLetters }: NonNullable<DatabaseReading['backlogs']>): ClusterStatus['lag'] {
  const inSeconds = ({ count, oldestMs }: { count: number; oldestMs: number | null }) => ({
    count,
    oldest_s: oldestMs === null ? null : round(oldestMs / 1_000),
  });
  return { messages: inSeconds(messages), effects: inSeconds(effects), timers: inSeconds(timers), dead_letters: deadLetters.count };
}

function countBy(shards: ShardOwner[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { owner } of shards) if (owner !== null) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return counts;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
