/**
 * A whole cluster on this machine, for development, tests and benches: Redis and PostgreSQL, nodes as separate processes, and one port in
 * front of them. All of them end soon after this process, however it ends; the data stays in its folder.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { storedSecret } from '../../src/storage/stored-secret.ts';
import { Balancer } from './balancer.ts';
import { LocalNode, type NodeEnd } from './node.ts';
import { Stores } from './stores.ts';

export type LocalClusterOptions = {
  nodes: number;
  dataDir: string;
  /** For every node, overrides of the cluster's settings. From this process's environment only PATH is passed on. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Null or absent: one is started. */
  databaseUrl?: string | null;
  redisUrl?: string | null;
  /** Address of the balancer; default 127.0.0.1 and any free port. */
  host?: string;
  port?: number;
  /** Restarts a dead node or Redis after a second. Default: no restart. */
  restart?: boolean;
  /** The program of a node; default: the service. */
  entry?: string;
  /** Aborts a running start. */
  signal?: AbortSignal;
  /** Reports what happens, one line each, including nodes' log lines. */
  print?(line: string): void;
  /** The cluster cannot continue, e.g. because its PostgreSQL has ended; call `stop`. */
  onLost?(why: string): void;
};

const restartMs = 1_000;
/** A node answers accepted requests, which may take ten seconds, and hands over. */
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

  /** Resolves when every node is ready. Otherwise rejects with one line, with nothing left running. */
  static async start(options: LocalClusterOptions): Promise<LocalCluster> {
    const { dataDir, databaseUrl = null, redisUrl = null, restart = false, print = () => {}, onLost = () => {} } = options;
    const signal = options.signal ?? new AbortController().signal;
    const balancer = await Balancer.listen(options.host ?? '127.0.0.1', options.port ?? 0);
    let cluster: LocalCluster | null = null;
    let stores: Stores | null = null;
    try {
      stores = await Stores.start({ dataDir, databaseUrl, redisUrl, restart, print, onLost }, signal);
      const shared = {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        CLUSTER_HOST: '127.0.0.1',
        CLUSTER_PORT: '0',
        LOG_LEVEL: 'warn',
        PUBLIC_URL: balancer.url,
        SECRET_KEY: options.env?.SECRET_KEY || (await storedSecret(join(dataDir, 'secret-key'))),
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

  /** Names of the nodes that get new connections now. */
  get ready(): string[] {
    return this.balancer.ready;
  }

  /** Starts another node, `node-<next number>`; resolves when it serves, which is before it is ready. */
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

  /** Ends at once, as in a crash; acknowledged requests are committed. */
  async kill(): Promise<void> {
    this.stopping.abort();
    for (const node of this.nodes) node.signal('SIGKILL');
    await this.stores.kill();
  }

  private async launch(name: string, signal?: AbortSignal): Promise<LocalNode> {
    const { print = () => {}, env: over = {}, entry = 'src/main.ts', dataDir } = this.options;
    const env = { ...this.env, DATA_DIR: dataDir, ...over };
    const index = this.nodes.findIndex((node) => node.name === name);
    const node = new LocalNode({ name, entry, env, onLine: (line) => print(`${name} | ${line}`) });
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
    const { print = () => {} } = this.options;
    // A node that was asked to leave is not restarted.
    const restart = this.options.restart === true && code !== 0;
    print(`${node.name} has ended (${signal ?? `exit code ${code}`})${restart ? '; it is started again' : ''}`);
    if (restart) void this.startAgain(node.name);
  }

  /** A node that ends during its start is reported by its end, and so restarted. */
  private async startAgain(name: string): Promise<void> {
    await delay(restartMs, undefined, { signal: this.stopping.signal }).catch(() => {});
    if (this.stopping.signal.aborted) return;
    const { print = () => {} } = this.options;
    await this.launch(name).then(
      ({ pid }) => print(`${name} runs again (pid ${pid})`),
      (error: Error) => print(error.message),
    );
  }
}
