/**
 * One port in front of the nodes of a local cluster: each new connection goes to the next ready node, round-robin. It forwards bytes
 * without reading them, so the behaviour is that of a node. For development; real balancers are in deploy/.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

type Target = { name: string; url: URL; ready: boolean; watching: AbortController; connections: Set<Socket> };

const askEveryMs = 250;
const answerWithinMs = 1_000;
const connectWithinMs = 1_000;
const maxConnections = 20_000;

/** The answer while no node is ready: the caller may retry. */
const noNodeReady =
  'HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 20\r\nretry-after: 1\r\nconnection: close\r\n\r\nNo node is ready now';

export class Balancer {
  private readonly server: Server;
  private readonly targets = new Map<string, Target>();
  private readonly clients = new Set<Socket>();
  private readonly changes = new Set<() => void>();
  private turn = 0;

  private constructor() {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.accept(client));
    this.server.maxConnections = maxConnections;
  }

  /** Rejects with one line if the port is not available. */
  static async listen(host: string, port: number): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.server.listen(port, host);
    await once(balancer.server, 'listening').catch((error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken: stop who has it, or give another by --port' : `cannot be had (${error.message})`;
      throw new Error(`Port ${port} of ${host} ${why}`, { cause: error });
    });
    return balancer;
  }

  get url(): string {
    const { address, family, port } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Names of the nodes that get new connections now. */
  get ready(): string[] {
    return [...this.targets.values()].filter(({ ready }) => ready).map(({ name }) => name);
  }

  /** Uses the node from when it is ready. A node with the same name is replaced. */
  add(name: string, url: string): void {
    this.remove(name);
    const target: Target = { name, url: new URL(url), ready: false, watching: new AbortController(), connections: new Set() };
    this.targets.set(name, target);
    void this.watch(target);
  }

  /** The node has ended: it gets no more connections, and its open ones are closed. */
  remove(name: string): void {
    const target = this.targets.get(name);
    if (target === undefined) return;
    this.targets.delete(name);
    target.watching.abort();
    for (const connection of target.connections) connection.destroy();
    for (const change of this.changes) change();
  }

  /** Resolves when that many nodes are ready. */
  async untilReady(count: number, signal: AbortSignal): Promise<void> {
    while (this.ready.length < count) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const done = () => {
          this.changes.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.changes.add(done);
        signal.addEventListener('abort', done);
      });
    }
  }

  /** Accepts no more connections and closes the open ones. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const name of [...this.targets.keys()]) this.remove(name);
    for (const client of this.clients) client.destroy();
    await closed;
  }

  private async watch(target: Target): Promise<void> {
    const { signal } = target.watching;
    const question = new URL('/health/ready', target.url);
    while (!signal.aborted) {
      const ready = await fetch(question, { signal: AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]) }).then(
        (answer) => answer.body!.cancel().then(() => answer.ok),
        () => false,
      );
      if (ready !== target.ready && !signal.aborted) {
        target.ready = ready;
        for (const change of this.changes) change();
      }
      await delay(askEveryMs, undefined, { signal }).catch(() => {});
    }
  }

  private accept(client: Socket): void {
    this.clients.add(client);
    client.on('error', () => {});
    client.on('close', () => this.clients.delete(client));
    const ready = [...this.targets.values()].filter((target) => target.ready);
    const first = this.turn++ % Math.max(1, ready.length);
    this.offer(client, [...ready.slice(first), ...ready.slice(0, first)]);
  }

  /** To the first node that accepts the connection: nothing has been sent yet, so trying the next one repeats nothing. */
  private offer(client: Socket, [target, ...others]: Target[]): void {
    if (target === undefined) {
      client.resume().end(noNodeReady);
      return;
    }
    const { hostname, port } = target.url;
    const node = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    const tooLate = setTimeout(() => node.destroy(), connectWithinMs);
    let connected = false;
    target.connections.add(node);
    node.on('connect', () => {
      connected = true;
      clearTimeout(tooLate);
      client.pipe(node).pipe(client);
    });
    node.on('error', () => {});
    node.on('close', () => {
      clearTimeout(tooLate);
      target.connections.delete(node);
      if (connected || client.destroyed) client.destroy();
      else this.offer(client, others);
    });
    client.on('close', () => node.destroy());
  }
}
