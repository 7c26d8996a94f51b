/**
 * A cluster of real processes: src/main.ts N times, one PostgreSQL, one Redis, with links between all of them, so that a test can kill,
 * stop, freeze and restart any process and break any connection between them. Without Redis it is a service of one node on the same PostgreSQL.
 *
 * Each node announces a link to the others (`CLUSTER_ANNOUNCE`), never its own port; links tell diallers apart by their process, so that
 * the way between two nodes can be cut or silenced, one way or both, without root.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { testDatabase } from './database.ts';
import { settableClock } from './faketime.ts';
import { freePort } from './free-port.ts';
import type { Json } from './json.ts';
import { liftLimits, manyAnonymousRequests } from './lift-limits.ts';
import { type Heal, Link, type Way } from './link.ts';
import { NodeProcess, ownProgram } from './node-process.ts';
import { OwnPostgres } from './own-postgres.ts';
import { type Pgbouncer, startPgbouncer } from './pgbouncer.ts';
import { type TestRedis, testRedis } from './redis.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type ClusterOptions = {
  nodes: number;
  /** Whether they form a cluster; without Redis there can be but one. */
  redis: boolean;
  /** `shared`: a database on the server of all tests, quick, and cannot be restarted. `own`: a server of its own. Else the URL of one. */
  postgres?: 'shared' | 'own' | { url: string };
  /** Whether a server of its own has disks of its own, which can be filled and broken (`volume.ts`). */
  disks?: boolean;
  /** Whether nodes reach a server of its own by way of PgBouncer. */
  pooler?: boolean;
  /** The folder of the program that the nth of the first nodes runs; this one if not said. */
  program?: (n: number) => string;
  /** false: processes connect directly, and no connection can be broken. For measuring. */
  links?: boolean;
  /** Whether the clocks of nodes can be set while they run (`setClock`). */
  clocks?: boolean;
  /** Whether each node has a way of its own to PostgreSQL, which can be hurt. As `links`, if not said. */
  databaseLinks?: boolean;
  /** Of all nodes, over what the cluster sets. */
  env?: Record<string, string>;
};

type Closing = (() => unknown)[];

export class ClusterProcesses {
  readonly nodes: NodeProcess[] = [];
  /** null where the server is shared. */
  readonly postgres: OwnPostgres | null;
  readonly postgresLink: Link;
  /** null where nodes speak to PostgreSQL itself. */
  readonly pooler: Pgbouncer | null;
  readonly redis: TestRedis | null;
  readonly redisLink: Link | null;
  /** Of every node, by its name: the way others reach it. */
  readonly nodeLinks = new Map<string, Link>();
  /** Of every node, by its name: its way to PostgreSQL. */
  readonly databaseLinks = new Map<string, Link>();
  /** For code that reads the stored data, not through the link. */
  readonly databaseUrl: () => string;
  private readonly env: Record<string, string>;
  private readonly folder: string;
  private readonly links: boolean;
  private readonly clocks: boolean;
  private readonly hasDatabaseLinks: boolean;
  private readonly closing: Closing;
  private named = 0;
  private limitsLifted = false;

  private constructor(parts: {
    postgres: OwnPostgres | null;
    postgresLink: Link;
    pooler: Pgbouncer | null;
    redis: TestRedis | null;
    redisLink: Link | null;
    databaseUrl: () => string;
    env: Record<string, string>;
    folder: string;
    links: boolean;
    clocks: boolean;
    hasDatabaseLinks: boolean;
    closing: Closing;
  }) {
    this.postgres = parts.postgres;
    this.postgresLink = parts.postgresLink;
    this.pooler = parts.pooler;
    this.redis = parts.redis;
    this.redisLink = parts.redisLink;
    this.databaseUrl = parts.databaseUrl;
    this.env = parts.env;
    this.folder = parts.folder;
    this.links = parts.links;
    this.clocks = parts.clocks;
    this.hasDatabaseLinks = parts.hasDatabaseLinks;
    this.closing = parts.closing;
  }

  /** Resolves when every node is ready. */
  static async start(options: ClusterOptions): Promise<ClusterProcesses> {
    const closing: Closing = [];
    try {
      return await ClusterProcesses.open(options, closing);
    } catch (error) {
      for (const close of closing.reverse()) await close();
      throw error;
    }
  }

  private static async open(
    {
      nodes,
      redis: clustered,
      postgres: which = 'shared',
      disks = false,
      pooler: hasPooler = false,
      program,
      links = true,
      clocks = false,
      databaseLinks: hasDatabaseLinks = links,
      env = {},
    }: ClusterOptions,
    closing: Closing,
  ): Promise<ClusterProcesses> {
    if (!clustered && nodes > 1) throw new Error('Several nodes need a Redis');
    const folder = await temporaryFolder('troupe-cluster-');
    closing.push(() => folder.remove());
    const { postgres, postgresLink, url: directly, databaseUrl } = await openDatabase(which, disks, closing);
    const pooler = hasPooler ? await poolerBefore(directly, closing) : null;
    const url = pooler?.through(directly) ?? directly;
    const redis = clustered ? await testRedis({ after: (close) => closing.push(close as Closing[number]) }) : null;
    const redisLink = redis === null ? null : await Link.to(addressOf(redis.url));
    if (redisLink !== null) closing.push(() => redisLink.close());
    const shared = {
      DATABASE_URL: links ? url : databaseUrl(),
      SECRET_KEY: randomBytes(32).toString('hex'),
      PORT: '0',
      ADMIN_PORT: '0',
      LOG_LEVEL: 'warn',
      ...manyAnonymousRequests,
      ...(redisLink === null ? {} : { REDIS_URL: links ? redisLink.through(redis!.url) : redis!.url, CLUSTER_HOST: '127.0.0.1' }),
      ...env,
    };
    const cluster = new ClusterProcesses({
      postgres,
      postgresLink,
      pooler,
      redis,
      redisLink,
      databaseUrl,
      env: shared,
      folder: folder.path,
      links,
      clocks,
      hasDatabaseLinks,
      closing,
    });
    closing.push(() => cluster.killNodes());
    // Prepared one after the other: the nth of `nodes` is node-n.
    for (let n = 0; n < nodes; n++) (await cluster.prepare()).program = program?.(n) ?? ownProgram;
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await cluster.untilReady();
    return cluster;
  }

  /** A further node; resolves when it serves. @param env over what all nodes have */
  async add(env: Record<string, string> = {}): Promise<NodeProcess> {
    const node = await this.prepare(env);
    await node.start();
    return node;
  }

  /** A node that has everything but its process: to be started by hand, e.g. one that is to be refused. */
  async prepare(env: Record<string, string> = {}): Promise<NodeProcess> {
    const name = `node-${++this.named}`;
    const dataDir = join(this.folder, name);
    await mkdir(dataDir, { recursive: true });
    const way = this.redisLink === null || !this.links ? {} : await this.openNodeLink(name);
    const clock = this.clocks ? settableClock(join(dataDir, 'clock')) : {};
    const database = this.hasDatabaseLinks ? await this.openDatabaseLink(name) : {};
    const node = new NodeProcess(name, { ...this.env, ...way, ...clock, ...database, DATA_DIR: dataDir, ...env }, this.nodeLinks.get(name));
    this.nodes.push(node);
    return node;
  }

  get up(): NodeProcess[] {
    return this.nodes.filter((node) => node.isUp);
  }

  node(name: string): NodeProcess {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`There is no ${name}`);
    return found;
  }

  /** Every node that is up is ready; accounts made from the first time on have no limits on requests. */
  async untilReady(withinMs = 60_000): Promise<void> {
    await Promise.all(this.up.map((node) => node.untilReady(withinMs)));
    if (this.limitsLifted || this.up.length === 0) return;
    this.limitsLifted = true;
    await liftLimits(this.databaseUrl());
  }

  /** Who owns the shards, as the database says: their numbers by the node's name. */
  async owners(): Promise<Map<string, number[]>> {
    const owners = await this.ownerOfShards();
    const owned = owners.flatMap((name, shard) => (name === '' ? [] : [{ name, shard }]));
    return new Map([...Map.groupBy(owned, ({ name }) => name)].map(([name, ones]) => [name, ones.map(({ shard }) => shard)]));
  }

  /** The owner's name of each shard, '' for none. */
  async ownerOfShards(): Promise<string[]> {
    return (await this.shards()).map(({ owner }) => (owner ?? '').split('/')[0]!);
  }

  /** The epoch of each shard. */
  async epochs(): Promise<number[]> {
    return (await this.shards()).map(({ epoch }) => Number(epoch));
  }

  /** No other node reaches the node, and it reaches no other; it still reaches PostgreSQL and Redis. */
  isolate(node: NodeProcess, manner: 'cut' | 'silence'): Heal {
    const heals = this.nodes.filter((other) => other !== node).map((other) => this.sever(node, other, manner));
    return () => heals.forEach((heal) => heal());
  }

  /** Disturbs the connection between two nodes, whichever dialled. */
  sever(a: NodeProcess, b: NodeProcess, manner: 'cut' | 'silence'): Heal {
    const heals = [
      [a, b],
      [b, a],
    ].map(([from, to]) => {
      const link = this.nodeLinks.get(to!.name)!;
      const of = (dialler: string | null) => dialler === from!.name;
      return manner === 'cut' ? link.cut(of) : link.silence(of);
    });
    return () => heals.forEach((heal) => heal());
  }

  /** The node does not reach PostgreSQL; all else it does. */
  withoutPostgres(node: NodeProcess, manner: 'cut' | 'silence'): Heal {
    const link = this.databaseLinks.get(node.name)!;
    return manner === 'cut' ? link.cut() : link.silence();
  }

  /** What `from` says no longer reaches `to`; what `to` says still reaches `from`. */
  deafen(from: NodeProcess, to: NodeProcess): Heal {
    const heals = [
      silenceFrom(this.nodeLinks.get(to.name)!, from.name, 'to target'),
      silenceFrom(this.nodeLinks.get(from.name)!, to.name, 'to dialler'),
    ];
    return () => heals.forEach((heal) => heal());
  }

  /** Stops everything, nodes first. */
  async close(): Promise<void> {
    await this.killNodes();
    for (const close of this.closing.reverse()) await close();
  }

  private async killNodes(): Promise<void> {
    await Promise.all(this.nodes.filter((node) => node.pid !== null).map((node) => node.kill().catch(() => {})));
  }

  private async shards(): Promise<{ owner: string | null; epoch: string }[]> {
    return this.sql('select owner, epoch from shard order by shard');
  }

  /** Asks the database itself. */
  async sql(text: string): Promise<Json[]> {
    const client = new pg.Client({ connectionString: this.databaseUrl() });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  private async openDatabaseLink(name: string): Promise<Record<string, string>> {
    const url = this.env.DATABASE_URL!;
    const link = await Link.to(addressOf(url));
    this.databaseLinks.set(name, link);
    this.closing.push(() => link.close());
    return { DATABASE_URL: link.through(url) };
  }

  private async openNodeLink(name: string): Promise<Record<string, string>> {
    const port = await freePort();
    const link = await Link.to({ host: '127.0.0.1', port }, dialledBy, await freePort());
    link.refuse();
    this.nodeLinks.set(name, link);
    this.closing.push(() => link.close());
    return { CLUSTER_PORT: String(port), CLUSTER_ANNOUNCE: `127.0.0.1:${link.port}` };
  }
}

/** From its handshake (`proto/cluster/v1/cluster.proto`), which names the incarnation that dials, then the one that it dials. */
function dialledBy(beginning: Buffer): string | null {
  return /(node-\d+)\/[0-9a-f-]{36}/.exec(beginning.toString('latin1'))?.[1] ?? null;
}

function silenceFrom(link: Link, dialler: string, way: Way): Heal {
  return link.silence((name) => name === dialler, [way]);
}

/** With room for every connection that the server takes, as each of a session has one there. */
async function poolerBefore(url: string, closing: Closing): Promise<Pgbouncer> {
  return startPgbouncer({ after: (close) => closing.push(close as Closing[number]) }, [url], {
    pool_mode: 'session',
    default_pool_size: '150',
    // The default of 15 s keeps everybody waiting for a server that is there again.
    server_login_retry: '1',
  });
}

async function openDatabase(which: 'shared' | 'own' | { url: string }, disks: boolean, closing: Closing) {
  if (which === 'own') {
    const postgres = await OwnPostgres.start({ disks });
    closing.push(() => postgres.close());
    return { postgres, postgresLink: postgres.link, url: postgres.url, databaseUrl: () => postgres.directUrl };
  }
  const database = which === 'shared' ? await testDatabase() : { url: which.url, close: async () => {} };
  closing.push(() => database.close());
  const postgresLink = await Link.to(addressOf(database.url));
  closing.push(() => postgresLink.close());
  return { postgres: null, postgresLink, url: postgresLink.through(database.url), databaseUrl: () => database.url };
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
