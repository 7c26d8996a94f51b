/**
 * A proxy of PostgreSQL that pauses, cuts and refuses connections, to lose an answer at an exact point. Connections are distinguished by
 * their `application_name`.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Direction = 'to server' | 'to client';
type Connection = { name: string; client: Socket; server: Socket };
type Hold = {
  connections: Set<Connection> | null;
  name: RegExp;
  direction: Direction;
  queue: { to: Socket; chunk: Buffer }[];
  arrived: () => void;
};

export type Held = {
  /** Resolves when the first bytes have been held back. */
  arrived: Promise<void>;
  /** Passes on what was held, if the receiver is still connected, and holds no more. */
  release(): void;
  /** Throws away what was held and holds no more. */
  drop(): void;
};

export class TcpProxy {
  readonly connections = new Set<Connection>();
  /** New connections are closed at once. */
  refusing = false;
  /** What a connection of that name is answered to these bytes: an error of PostgreSQL with this SQLSTATE, or its end, or nothing; null: what the target says. */
  refusal: (name: string, bytes: Buffer) => string | 'end' | 'silence' | null = () => null;
  private readonly holds = new Set<Hold>();
  private readonly server: Server;
  private readonly target: URL;

  private constructor(target: string) {
    this.target = new URL(target);
    this.server = createServer((client) => this.accept(client));
  }

  static async before(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The target's address by way of this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** From now on bytes of connections of that name, in that direction, wait; with `'open now'` those of later connections do not. */
  hold(name: RegExp, direction: Direction, which: 'all' | 'open now' = 'all'): Held {
    let arrived = () => {};
    const seen = new Promise<void>((resolve) => (arrived = resolve));
    const hold: Hold = { connections: which === 'all' ? null : new Set(this.connections), name, direction, queue: [], arrived };
    this.holds.add(hold);
    return {
      arrived: seen,
      release: () => {
        this.holds.delete(hold);
        for (const { to, chunk } of hold.queue.splice(0)) if (!to.destroyed) to.write(chunk);
      },
      drop: () => {
        this.holds.delete(hold);
        hold.queue.length = 0;
      },
    };
  }

  /** Cuts connections. With `'client'` the server does not notice: bytes sent to it are delivered, and what is held can still be released to it. */
  cut(name: RegExp, side: 'both' | 'client' = 'both'): void {
    for (const connection of this.connections) {
      if (!name.test(connection.name)) continue;
      connection.client.destroy();
      if (side === 'both') connection.server.destroy();
    }
  }

  async close(): Promise<void> {
    this.cut(/./);
    for (const { server } of this.connections) server.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(client: Socket): void {
    if (this.refusing) {
      client.destroy();
      return;
    }
    const server = connect(Number(this.target.port), this.target.hostname);
    const connection: Connection = { name: '?', client, server };
    this.connections.add(connection);
    for (const socket of [client, server]) socket.on('error', () => {});
    client.once('data', (chunk: Buffer) => (connection.name = /application_name\0([^\0]*)\0/.exec(chunk.toString('latin1'))?.[1] ?? '?'));
    client.on('data', (chunk: Buffer) => {
      const refusal = this.refusal(connection.name, chunk);
      if (refusal === 'silence') return;
      if (refusal === null) this.pass(connection, 'to server', server, chunk);
      else client.end(refusal === 'end' ? '' : fatal(refusal), () => server.destroy());
    });
    server.on('data', (chunk) => this.pass(connection, 'to client', client, chunk));
    client.on('end', () => server.end());
    server.on('close', () => {
      client.destroy();
      this.connections.delete(connection);
    });
  }

  private pass(connection: Connection, direction: Direction, to: Socket, chunk: Buffer): void {
    for (const hold of this.holds) {
      if (hold.direction !== direction || !hold.name.test(connection.name)) continue;
      if (hold.connections !== null && !hold.connections.has(connection)) continue;
      hold.queue.push({ to, chunk });
      hold.arrived();
      return;
    }
    if (!to.destroyed) to.write(chunk);
  }
}

/** As PostgreSQL refuses a connection (ErrorResponse of its protocol). */
function fatal(sqlState: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0Mrefused by a test\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}
