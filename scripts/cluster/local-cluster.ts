/**
 * A whole cluster on this machine, for trying it, for tests and for benches: Redis and PostgreSQL, nodes as processes of their own, and one
 * port in front of them. Nothing of it outlives this process for long, however that ends; the data stays in its folder.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keptSecret } from '../../src/storage/kept-secret.ts';
import { Balancer } from './balancer.ts';
import { LocalNode, type NodeEnd } from './node.ts';
import { Stores } from './stores.ts';

export type LocalClusterOptions = {
  nodes: number;
  dataDir: string;
  /** For every node, over what the cluster sets. Nothing else is taken from this process's environment but PATH. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Null or left out: one is started. */
  databaseUrl?: string | null;
  redisUrl?: string | null;
  /** Where the balancer listens; default 127.0.0.1 and any free port. */
  host?: string;
  port?: number;
  /** A node or a Redis that dies is started again a second later. Default: it stays away. */
  restart?: boolean;
  /** What a node runs; default is the service. */
  entry?: string;
  /** Ends a start that is under way. */
  signal?: AbortSignal;
  /** What happens, a line each, nodes' log lines among them. */
  say?(line: string): void;
  /** It cannot go on, e.g. since its PostgreSQL has ended; `stop` it. */
  onLost?(why: string): void;
};

const restartMs = 1_000;
/** A node answers what it has accepted, which may take its own ten seconds, and hands over. */
const nodeStopsWithinMs = 30_000;
const readyWithinMs = 60_000;

export class LocalCluster {
  /** The port in front. */
  readonly url: string;
  readonly nodes: LocalNode[] = [];
  readonly stores: Stores;
  private readonly balancer: Balancer;
  private readonly options: LocalClusterOptions;
  private readonly env: Readonly<Record<string, string | undefined>>;
  private readonly stopping = new AbortController();

  private constructor(balancer: Balancer, stores: Stores, env: Record<string, string | undefined>, options: LocalClusterOptions) {
    this.url = balancer.url;
    this.balancer = balancer;
    this.stores = stores;
    this.env = env;
    this.options = options;
  }

  /** Resolves when every node is ready. Rejects with one line, nothing left running, where that cannot be. */
  static async start(options: LocalClusterOptions): Promise<LocalCluster> {
    const { dataDir, databaseUrl = null, redisUrl = null, restart = false, say = () => {}, onLost = () => {} } = options;
    const signal = options.signal ?? new AbortController().signal;
    const balancer = await Balancer.listen(options.host ?? '127.0.0.1', options.port ?? 0);
    let cluster: LocalCluster | null = null;
    let stores: Stores | null = null;
    try {
      stores = await Stores.start({ dataDir, databaseUrl, redisUrl, restart, say, onLost }, signal);
      const shared = {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        CLUSTER_HOST: '127.0.0.1',
        CLUSTER_PORT: '0',
        LOG_LEVEL: 'warn',
        PUBLIC_URL: balancer.url,
        SECRET_KEY: options.env?.SECRET_KEY || (await keptSecret(join(dataDir, 'secret-key'))),
        DATABASE_URL: stores.databaseUrl,
        REDIS_URL: stores.redisUrl,
      };
      cluster = new LocalCluster(balancer, stores, shared, options);
      await Promise.all(Array.from({ length: options.nodes }, () => cluster!.addNode(signal)));
      const late = AbortSignal.timeout(readyWithinMs);
      await balancer.untilReady(options.nodes, AbortSignal.any([signal, late])).catch((error) => {
        throw late.aborted ? new Error(`Only ${balancer.ready.length} of ${options.nodes} nodes were ready within a minute`) : error;
      });
      return cluster;
    } catch (error) {
      if (cluster !== null) await cluster.stop();
      else {
        await stores?.stop();
        await balancer.close();
      }
      throw error;
    }
  }

  /** Names of the nodes that new connections go to now. */
  get ready(): string[] {
    return this.balancer.ready;
  }

  /** Starts one more, `node-<next number>`; resolves when it serves, which is before it is ready. */
  async addNode(signal?: AbortSignal): Promise<LocalNode> {
    return this.launch(`node-${this.nodes.length + 1}`, signal);
  }

  /** Resolves when that many nodes are ready. */
  async untilReady(count: number, signal: AbortSignal): Promise<void> {
    await this.balancer.untilReady(count, signal);
  }

  /** Orderly: nodes drain and hand over, then Redis and PostgreSQL end. Bounded by about a minute. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.nodes.map((node) => node.stop(nodeStopsWithinMs)));
    await this.stores.stop();
    await this.balancer.close().catch(() => {});
  }

  /** At once, as a crash would; what was answered is committed all the same. */
  async kill(): Promise<void> {
    this.stopping.abort();
    for (const node of this.nodes) node.signal('SIGKILL');
    await this.stores.kill();
  }

  private async launch(name: string, signal?: AbortSignal): Promise<LocalNode> {
    const { say = () => {}, env: over = {}, entry = 'src/main.ts', dataDir } = this.options;
    const env = { ...this.env, DATA_DIR: dataDir, ...over };
    const index = this.nodes.findIndex((node) => node.name === name);
    const node = new LocalNode({ name, entry, env, onLine: (line) => say(`${name} | ${line}`) });
    if (index === -1) this.nodes.push(node);
    else this.nodes[index] = node;
    this.stores.serves(node.pid);
    void node.ended.then((end) => this.ended(node, end));
    const stop = () => node.signal('SIGINT');
    signal?.addEventListener('abort', stop, { once: true });
    try {
      this.balancer.add(name, await node.url);
      return node;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  private ended(node: LocalNode, { code, signal }: NodeEnd): void {
    this.balancer.remove(node.name);
    if (this.stopping.signal.aborted) return;
    const { say = () => {} } = this.options;
    // One that was asked to leave has left.
    const restart = this.options.restart === true && code !== 0;
    say(`${node.name} has ended (${signal ?? `exit code ${code}`})${restart ? '; it is started again' : ''}`);
    if (restart) void this.startAgain(node.name);
  }

  /** One that ends while it starts is reported by its end, and so tried again. */
  private async startAgain(name: string): Promise<void> {
    await delay(restartMs, undefined, { signal: this.stopping.signal }).catch(() => {});
    if (this.stopping.signal.aborted) return;
    const { say = () => {} } = this.options;
    await this.launch(name).then(
      ({ pid }) => say(`${name} runs again (pid ${pid})`),
      (error: Error) => say(error.message),
    );
  }
}
