/** A fixed address in front of a cluster for its clients, while the node behind it changes, is cut off, or is unavailable. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class FrontDoor {
  /** Whether connections reach the node, or are answered as a balancer does that has none: 503, come again in a second. */
  mode: 'open' | 'unavailable' = 'open';
  /** Connections that were answered with 503. */
  rejected = 0;
  private readonly target: () => string;
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;
  private port = 0;

  /** @param target the node's address, asked for each connection */
  constructor(target: () => string) {
    this.target = target;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Listens, at the same port as before. */
  async open(): Promise<void> {
    this.server = createServer((client) => this.accept(client)).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Stops listening: connections are cut, new ones refused. */
  async close(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (server === null) return;
    server.close();
    this.cut();
    await once(server, 'close');
  }

  /** Ends every connection, as when the edge behind it dies. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private accept(client: Socket): void {
    if (this.mode === 'unavailable') {
      this.rejected++;
      client.on('error', () => {});
      client.once('data', () =>
        client.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
      );
      return;
    }
    const server = connect(Number(new URL(this.target()).port), '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
