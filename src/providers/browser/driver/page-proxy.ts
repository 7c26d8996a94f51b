/**
 * The SOCKS5 proxy of one browser context. The context has no other route, so every connection of a page passes through it: documents,
 * subresources, redirects, WebSockets, workers, downloads, preconnections. Each host is checked by the rules of `Outbound`, and the
 * connection goes to the checked address.
 *
 * P1 While no page is open, nothing passes: connections end with the page.
 * P2 A page transfers `maxBytes` in both directions together; after that its connections end.
 * P3 Only peers that `isPeer` accepts are served.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { AppError } from '../../../errors.ts';
import type { Connector } from '../../outbound/connector.ts';
import { greetingAnswer, type Parsed, readGreeting, readRequest, requestAnswer, type Target } from './socks.ts';

/** The browser itself opens 32 at most to one proxy. */
const maxConnections = 64;
const handshakeTimeoutMs = 10_000;
/** A greeting has at most 257 bytes, a request 262. */
const maxHandshakeBytes = 1_024;
const maxFailures = 100;

export type PageProxyOptions = {
  connector: Connector;
  /** The address of this machine on which the browser reaches it. */
  host: string;
  isPeer(remoteAddress: string): boolean;
  /** Called with every target that a peer requests which `isPeer` refuses; nothing is served to it. */
  onRefusedPeer?(host: string, remoteAddress: string): void;
};

export class PageProxy {
  private readonly connector: Connector;
  private readonly isPeer: (remoteAddress: string) => boolean;
  private readonly onRefusedPeer: PageProxyOptions['onRefusedPeer'];
  private readonly host: string;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  /** The reason for each host that the page did not reach. */
  private readonly failures = new Map<string, string>();
  private page: { bytesLeft: number; onTooMuch(): void } | null = null;

  constructor({ connector, host, isPeer, onRefusedPeer }: PageProxyOptions) {
    this.connector = connector;
    this.host = host;
    this.isPeer = isPeer;
    this.onRefusedPeer = onRefusedPeer;
    this.server = createServer({ allowHalfOpen: true }, (socket) => void this.serve(socket));
    this.server.maxConnections = maxConnections;
  }

  /** Resolves with its address for a browser. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, this.host, resolve);
    });
    const { port, family, address } = this.server.address() as { port: number; family: string; address: string };
    return `socks5://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** From now on connections pass, until `endPage`. */
  beginPage(maxBytes: number, onTooMuch: () => void): void {
    this.failures.clear();
    this.page = { bytesLeft: maxBytes, onTooMuch };
  }

  endPage(): void {
    this.page = null;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Why the open page did not reach a host, as a text for an agent; undefined where nothing was refused. */
  failureOf(host: string): string | undefined {
    return this.failures.get(host.replace(/^\[|\]$/g, ''));
  }

  async close(): Promise<void> {
    this.endPage();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(client: Socket): Promise<void> {
    this.own(client);
    const remoteAddress = (client.remoteAddress ?? '').replace(/^::ffff:/, '');
    const isUnknownPeer = !this.isPeer(remoteAddress);
    if (isUnknownPeer ? this.onRefusedPeer === undefined : this.page === null) return void client.destroy();
    client.setTimeout(handshakeTimeoutMs, () => client.destroy());
    const handshake = new Handshake(client);
    if ((await handshake.read(readGreeting)) === undefined) return void client.destroy();
    client.write(greetingAnswer);
    const target = await handshake.read(readRequest);
    if (target === undefined || isUnknownPeer) {
      if (target !== undefined) this.onRefusedPeer?.(target.host, remoteAddress);
      return void client.destroy();
    }
    client.setTimeout(0);
    const upstream = await this.connect(client, target);
    const { page } = this;
    // The page may have ended while its connection was made.
    if (upstream === null || client.destroyed || page === null) {
      upstream?.destroy();
      return void client.end();
    }
    this.own(upstream);
    this.join(client, upstream);
    client.write(requestAnswer('connected'));
    handshake.release();
  }

  private async connect(client: Socket, { host, port }: Target): Promise<Socket | null> {
    try {
      return await this.connector.connect(host, port);
    } catch (error) {
      const isForbidden = error instanceof AppError && error.code === 'forbidden';
      if (this.failures.size < maxFailures)
        this.failures.set(host, error instanceof AppError ? error.message : `${host} could not be reached`);
      client.write(requestAnswer(isForbidden ? 'refused' : 'unreachable'));
      return null;
    }
  }

  private join(client: Socket, upstream: Socket): void {
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (data: Buffer) => this.count(data.length));
      from.pipe(to);
      from.once('close', () => to.destroy());
    }
  }

  private count(bytes: number): void {
    const { page } = this;
    if (page === null) return;
    page.bytesLeft -= bytes;
    if (page.bytesLeft >= 0) return;
    this.endPage();
    page.onTooMuch();
  }

  private own(socket: Socket): void {
    this.sockets.add(socket);
    // The other side of a broken connection notices the close.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.sockets.delete(socket));
  }
}

/** Reads the messages before the first byte of the connection itself, which stays in the socket. */
class Handshake {
  private readonly socket: Socket;
  private held = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.socket = socket;
    socket.pause();
  }

  /** undefined: the message is malformed, or the peer has disconnected. */
  async read<T>(parse: (data: Buffer) => Parsed<T>): Promise<T | undefined> {
    for (;;) {
      const parsed = parse(this.held);
      if (parsed.kind === 'bad' || this.held.length > maxHandshakeBytes) return undefined;
      if (parsed.kind === 'read') {
        this.held = this.held.subarray(parsed.bytes);
        return parsed.value;
      }
      const chunk = await this.next();
      if (chunk === null) return undefined;
      this.held = Buffer.concat([this.held, chunk]);
    }
  }

  /** Pushes excess bytes back to the socket. */
  release(): void {
    if (this.held.length > 0) this.socket.unshift(this.held);
    this.socket.resume();
  }

  private next(): Promise<Buffer | null> {
    const { socket } = this;
    return new Promise((resolve) => {
      const done = (chunk: Buffer | null) => {
        socket.off('readable', check);
        socket.off('close', fail);
        socket.off('end', fail);
        resolve(chunk);
      };
      const fail = () => done(null);
      const check = () => {
        const chunk = socket.read() as Buffer | null;
        if (chunk !== null) done(chunk);
      };
      socket.on('readable', check);
      socket.once('close', fail);
      socket.once('end', fail);
      if (socket.destroyed) fail();
      else check();
    });
  }
}
