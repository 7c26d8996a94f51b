/**
 * A TCP proxy of a process that a test can slow, silence and cut while both ends live. Dialling nodes are distinguished by their first
 * bytes, so that the link between two nodes can be disturbed and the others not.
 *
 * Silence simulates a lost network: bytes wait without an error. The kernel still accepts new connections, on which no data arrives;
 * waiting bytes are forwarded when the silence ends, as TCP would retransmit them. A cut closes connections, and new ones at once.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export type Way = 'to target' | 'to dialler';
/** Ends a disturbance. Ending it twice does nothing. */
export type Heal = () => void;
/** The dialling node, by what it has said so far; null if it has not said yet. */
export type DialerOf = (beginning: Buffer) => string | null;

type Connection = { dialler: string | null; beginning: Buffer; client: Socket; server: Socket };
type Silence = { of: (dialler: string | null) => boolean; ways: readonly Way[]; over: Promise<void> };

const everybody = () => true;
const targetPollMs = 20;
/** Diallers say who they are in the first few hundred bytes. */
const longestBeginning = 4_096;
/** Node reads one piece ahead, so that a reset is seen after the bytes before it, also if they waited. */
const socketOptions = { noDelay: true, highWaterMark: 1 };

export class Link {
  /** Where connections go. Those that are open stay where they are. */
  target: { host: string; port: number };
  /** Every piece of bytes takes so much longer, in both directions. */
  delayMs = 0;
  port = 0;
  private readonly server: Server;
  private readonly dialerOf: DialerOf;
  private readonly connections = new Set<Connection>();
  private readonly silences = new Set<Silence>();
  /** Connections that wait for the target. */
  private awaiting: symbol | null = null;
  private readonly cuts = new Set<(dialler: string | null) => boolean>();

  private constructor(target: { host: string; port: number }, dialerOf: DialerOf) {
    this.target = target;
    this.dialerOf = dialerOf;
    this.server = createServer({ ...socketOptions, pauseOnConnect: true }, (client) => this.accept(client));
  }

  /** @param port where it listens; 0 takes any */
  static async to(target: { host: string; port: number }, dialerOf: DialerOf = () => null, port = 0): Promise<Link> {
    const link = new Link(target, dialerOf);
    await link.listen(port);
    return link;
  }

  /** Refuses new connections, as the port of a process that is gone does. */
  refuse(): void {
    this.awaiting = null;
    if (this.server.listening) this.server.close();
  }

  /** Takes connections again as soon as its target does. */
  async admit(): Promise<void> {
    const awaiting = (this.awaiting = Symbol('admit'));
    while (this.awaiting === awaiting && !(await takesConnections(this.target))) await pause(targetPollMs);
    if (this.awaiting === awaiting && !this.server.listening) await this.listen(this.port);
  }

  /** `url` by way of this link. */
  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = '127.0.0.1';
    changed.port = String(this.port);
    return changed.href;
  }

  /** Bytes of these diallers wait, in these directions. */
  silence(of: (dialler: string | null) => boolean = everybody, ways: readonly Way[] = ['to target', 'to dialler']): Heal {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const silence = { of, ways, over };
    this.silences.add(silence);
    return () => {
      this.silences.delete(silence);
      resolve();
    };
  }

  /** Connections of these diallers are closed, new ones at once. */
  cut(of: (dialler: string | null) => boolean = everybody): Heal {
    this.cuts.add(of);
    this.breakOpen(of);
    return () => void this.cuts.delete(of);
  }

  /** Closes what is open now; new connections go through. */
  breakOpen(of: (dialler: string | null) => boolean = everybody): void {
    for (const connection of this.connections) if (of(connection.dialler)) end(connection);
  }

  async close(): Promise<void> {
    this.awaiting = null;
    this.breakOpen();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  private async listen(port: number): Promise<void> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  private accept(client: Socket): void {
    client.on('error', () => {});
    if ([...this.cuts].some((of) => of(null))) return void client.destroy();
    const server = connect({ ...this.target, ...socketOptions });
    server.on('error', () => {});
    const connection = { dialler: null, beginning: Buffer.alloc(0), client, server };
    this.connections.add(connection);
    server.once('close', () => this.connections.delete(connection));
    // A target that is gone refuses at once; so does the link.
    void Promise.all([this.carry(connection, 'to target'), this.carry(connection, 'to dialler')]).finally(() => end(connection));
  }

  /** One direction, to its end. Awaiting each piece is the backpressure: what is not carried waits in the kernel, which has a bound. */
  private async carry(connection: Connection, way: Way): Promise<void> {
    const [from, to] = way === 'to target' ? [connection.client, connection.server] : [connection.server, connection.client];
    try {
      for await (const piece of from) {
        if (way === 'to target' && this.isOfCut(connection, piece)) return end(connection);
        if (this.delayMs > 0) await pause(this.delayMs);
        for (let silence = this.silenceOf(connection, way); silence !== null; silence = this.silenceOf(connection, way)) await silence.over;
        if (to.destroyed) return;
        if (!to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      }
      to.end();
    } catch {
      end(connection);
    }
  }

  /** Whether this piece says that the dialler is one that is cut off. */
  private isOfCut(connection: Connection, piece: Buffer): boolean {
    if (connection.dialler !== null || connection.beginning.length > longestBeginning) return false;
    connection.beginning = Buffer.concat([connection.beginning, piece]);
    connection.dialler = this.dialerOf(connection.beginning);
    return connection.dialler !== null && [...this.cuts].some((of) => of(connection.dialler));
  }

  private silenceOf({ dialler }: Connection, way: Way): Silence | null {
    for (const silence of this.silences) if (silence.ways.includes(way) && silence.of(dialler)) return silence;
    return null;
  }
}

function end({ client, server }: Connection): void {
  client.destroy();
  server.destroy();
}

async function takesConnections(target: { host: string; port: number }): Promise<boolean> {
  const socket = connect(target);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
