/** A cluster in one process for tests: real PostgreSQL, real Redis, each node with its own runtime, and links that a test can break. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ActorSystem } from '../../src/actors/actor-system.ts';
import type { AnyActor } from '../../src/actors/define-actor.ts';
import { Runtime } from '../../src/actors/runtime.ts';
import { shardCount, shardOf } from '../../src/cluster/address.ts';
import { ClusterNode } from '../../src/cluster/cluster-node.ts';
import type { ClusterTimings } from '../../src/cluster/cluster-timings.ts';
import type { Member } from '../../src/cluster/member.ts';
import { Membership } from '../../src/cluster/membership.ts';
import { planOf } from '../../src/cluster/placement-plan.ts';
import type { Bounds } from '../../src/cluster/transport/bounds.ts';
import { createTransport, type Transport } from '../../src/cluster/transport/transport.ts';
import type { Log } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import type { Json } from './json.ts';
import { MemoryLinks, type MemoryPeers } from './memory-links.ts';
import { probeActor, probeOptions } from './probe-actor.ts';
import { productSchema } from './product-schema.ts';
import { type TestRedis, testRedis } from './redis.ts';
import type { Scope } from './scope.ts';
import { clusterKey } from './transports.ts';
import { until } from './until.ts';

export type TestNode = {
  name: string;
  incarnation: string;
  placement: ClusterNode;
  membership: Membership;
  /** Of a node that speaks gRPC: of no use. */
  peers: MemoryPeers;
  transport: Transport | null;
  runtime: Runtime;
  actors: ActorSystem;
  /** The shards it takes turns of. */
  owned(): number[];
  /** Ends it as SIGTERM does. */
  leave(): Promise<void>;
  /** Ends it as kill -9 does: without a message, and its address refuses connections. */
  kill(): Promise<void>;
};

export type TestClusterOptions = {
  timings?: Partial<ClusterTimings>;
  leaseMs?: number;
  renewEveryMs?: number;
  runtime?: object;
  /** Instead of one as it comes; empty. */
  database?: TestDatabase;
  /** Instead of a Redis of its own, which tests then cannot read. */
  redisUrl?: string;
  /** These actors of the service on every node, with its tables, instead of the probe. */
  actors?: AnyActor[];
};

/** `actor`: the probe as another version of the service has it. */
type JoinOptions = {
  redisUrl?: string;
  databaseUrl?: string;
  timings?: Partial<ClusterTimings>;
  actor?: AnyActor;
  /** It speaks gRPC, with these bounds, instead of by links in memory. */
  transport?: Partial<Bounds>;
  /** Where others dial a node that listens at this port. Default: there. */
  dialledAt?: (port: number) => Promise<number>;
};

export type TestCluster = {
  url: string;
  redis: TestRedis;
  links: MemoryLinks;
  nodes: TestNode[];
  /** Lines that nodes logged as warnings or errors. */
  lines: { level: string; node: string; message: string; fields: Json }[];
  sql(text: string, values?: unknown[]): Promise<Json[]>;
  /** A node that has joined. */
  join(name: string, options?: JoinOptions): Promise<TestNode>;
  /** Resolves when every shard is served as planned, by the node that the database says, and nothing moves. */
  settled(): Promise<void>;
  /** How many shards each name owns, as the database has it. */
  shares(): Promise<Record<string, number>>;
};

export async function testCluster(t: Scope, clusterOptions: TestClusterOptions = {}): Promise<TestCluster> {
  const ends: (() => unknown)[] = [];
  const redis =
    clusterOptions.redisUrl === undefined
      ? await testRedis({ after: (end) => void ends.push(end) })
      : ({ url: clusterOptions.redisUrl } as TestRedis);
  const kept = clusterOptions.database ?? (await testDatabase());
  const direct = new pg.Pool({ connectionString: kept.url, max: 4, application_name: 'test' });
  direct.on('error', () => {});
  const links = new MemoryLinks();
  const nodes: TestNode[] = [];
  const lines: TestCluster['lines'] = [];
  const { actors: given } = clusterOptions;
  const schema = given === undefined ? { entities: probeOptions.entities } : productSchema;
  if (clusterOptions.database !== undefined) {
    const firstDatabase = new Database(kept.url, { schema });
    await firstDatabase.migrate();
    await firstDatabase.close();
  }
  if (given === undefined) for (const table of probeOptions.tables) await direct.query(table);

  const join: TestCluster['join'] = async (name, options = {}) => {
    const { redisUrl = redis.url, databaseUrl = kept.url, timings, actor = probeActor, dialledAt = async (port) => port } = options;
    const incarnation = `${name}/${randomUUID()}`;
    const log = logTo(lines, name);
    const host = '127.0.0.1';
    const transport =
      options.transport === undefined
        ? null
        : await createTransport({ secretKey: clusterKey, log, self: { incarnation, name, host, port: 0 }, ...options.transport });
    const self: Member = {
      incarnation,
      name,
      host,
      port: transport === null ? 4_000 : await dialledAt((await transport.listen()).port),
      roles: ['edge', 'actors'],
      leaving: false,
      startedAtMs: Date.now(),
    };
    const database = new Database(databaseUrl, { schema });
    const shared = { shardCount, secretKeyDigest: 'a'.repeat(64), protocol: { lowest: 1, highest: 1 } };
    const { leaseMs, renewEveryMs } = clusterOptions;
    const membership = new Membership({ redisUrl, clusterId: 'test', self, shared, leaseMs, renewEveryMs, log });
    const peers = links.peersOf(incarnation);
    const placement = new ClusterNode({
      databaseUrl,
      self,
      membership,
      peers: transport ?? peers,
      log,
      timings: { ...clusterOptions.timings, ...timings },
    });
    const runtime = new Runtime({ freezeStates: true, ...clusterOptions.runtime, database, placement, log });
    runtime.register(given ?? [actor]);
    placement.serve((ask, _from, disconnected) => runtime.actors.answer(ask, disconnected));
    const end = async () => {
      nodes.splice(nodes.indexOf(node), 1);
      await transport?.close(0);
      await database.close();
    };
    const node: TestNode = {
      name,
      incarnation,
      placement,
      membership,
      peers,
      transport,
      runtime,
      actors: runtime.actors,
      owned: () => Array.from({ length: shardCount }, (_, shard) => shard).filter((shard) => placement.epochOf(shard) !== null),
      async leave() {
        await placement.leave(10_000);
        await runtime.stop();
        links.kill(incarnation);
        await end();
      },
      async kill() {
        links.kill(incarnation);
        await placement.abandon();
        await runtime.stop(0);
        await end();
      },
    };
    nodes.push(node);
    await runtime.start();
    return node;
  };

  const cluster: TestCluster = {
    url: kept.url,
    redis,
    links,
    nodes,
    lines,
    join,
    sql: async (text, values) => (await direct.query(text, values)).rows,
    async settled() {
      await until(async () => {
        if (nodes.some(({ placement }) => placement.status().shards.inMotion > 0)) return false;
        const members = nodes.map(({ incarnation }) => incarnation).sort();
        const views = nodes.map(({ membership }) => membership.view);
        if (views.some(({ number }) => number !== views[0]!.number)) return false;
        if (views.some((view) => view.members.map(({ incarnation }) => incarnation).join() !== members.join())) return false;
        const plan = planOf(views[0]!);
        const rows = await cluster.sql('select shard, owner, epoch::float8 from shard order by shard');
        const served = (shard: number, epoch: number) =>
          nodes.some((node) => node.incarnation === plan[shard] && node.placement.epochOf(shard) === epoch);
        return rows.every(({ shard, owner, epoch }) => owner === plan[shard] && served(shard, epoch));
      }, 'every shard to be served').catch((error) => {
        const states = nodes.map(({ placement, membership }) => ({ ...placement.status(), membership: membership.state }));
        throw new Error(JSON.stringify({ states, lines }), { cause: error });
      });
    },
    async shares() {
      const rows = await cluster.sql(`select coalesce(split_part(owner, '/', 1), '') as name, count(*)::int as n from shard group by 1`);
      return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
    },
  };
  t.after(async () => {
    await Promise.all([...nodes].map((node) => node.kill()));
    await direct.end();
    await kept.close();
    for (const end of ends) await end();
  });
  return cluster;
}

/** An actor id of the probe whose shard fits. */
export function probeIdIn(fits: (shard: number) => boolean): string {
  for (let n = 0; n < 100_000; n++) if (fits(shardOf('probe', `p${n}`))) return `p${n}`;
  throw new Error('No shard fits');
}

function logTo(lines: TestCluster['lines'], node: string): Log {
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, node, message, fields });
  const log: Log = { debug() {}, info() {}, warn: at('warn'), error: at('error'), child: () => log };
  return log;
}
