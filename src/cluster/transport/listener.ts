/** Accepts connections of other nodes: the gRPC server, and the handshake of each. */
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';
import { type ConnectionInjector, Server, type ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Log } from '../../log.ts';
import type { Bounds } from './bounds.ts';
import { ClusterService, channelOptions, type Parcel } from './contract.ts';
import { type Admission, acceptHandshake, type NodeIdentity } from './handshake.ts';
import { type UnauthenticatedBounds, UnauthenticatedConnections } from './unauthenticated-connections.ts';
import { Wire } from './wire.ts';

export type ListenerOptions = {
  own: NodeIdentity;
  credentials: ServerCredentials;
  log: Log;
  /** Longest time of a handshake. */
  handshakeWithinMs: number;
  bounds: Pick<Bounds, 'maxHandshakes' | 'maxHandshakesPerAddress'> & UnauthenticatedBounds;
  admit(from: string): Admission;
  accepted(from: string, wire: Wire, protocol: number): void;
};

/** The transport's own pings detect streams without data. This check only closes connections whose other end has vanished, or that have no stream. */
const connectionCheckMs = 20_000;
const idleConnectionMs = 10_000;
const maxLoggedRefusals = 100;

export class Listener {
  private readonly options: ListenerOptions;
  private readonly server: Server;
  /** Accepts the connections itself, to count them before anything is read; then passes them to the gRPC server. */
  private readonly netServer: NetServer;
  private readonly injector: ConnectionInjector;
  private readonly unauthenticated: UnauthenticatedConnections;
  private readonly connections = new Set<Socket>();
  /** Running handshakes, with the addresses of the other sides. */
  private readonly handshakes = new Map<Wire, string>();
  /** Refusals that are already logged: a refused node retries again and again. */
  private readonly loggedRefusals = new Set<string>();

  constructor(options: ListenerOptions) {
    this.options = options;
    this.server = new Server({
      ...channelOptions,
      'grpc.keepalive_time_ms': connectionCheckMs,
      'grpc.keepalive_timeout_ms': connectionCheckMs,
      'grpc.max_connection_idle_ms': idleConnectionMs,
    });
    this.server.addService(ClusterService.service, {
      connect: (call: ServerDuplexStream<Parcel, Parcel>) => void this.handshake(new Wire(call, () => {}), call.getPeer()),
    });
    this.injector = this.server.createConnectionInjector(options.credentials);
    this.unauthenticated = new UnauthenticatedConnections({ ...options.bounds, withinMs: 2 * options.handshakeWithinMs });
    this.netServer = createServer({ noDelay: true }, (socket) => this.accept(socket));
  }

  /** @param port 0: any free port. Resolves with the port. Rejects when the port is in use, or the host is not an address of this machine. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      // Also emitted for a connection that could not be accepted, which does not stop the server.
      this.netServer.on('error', (error) => {
        this.options.log.warn({ err: error }, 'the cluster port could not take a connection');
        reject(error);
      });
      this.netServer.listen(port, host, () => resolve((this.netServer.address() as AddressInfo).port));
    });
  }

  /** Closes all incoming connections. */
  close(): void {
    this.netServer.close();
    for (const wire of this.handshakes.keys()) wire.cut('the node stops');
    this.injector.destroy();
    this.server.forceShutdown();
    for (const socket of this.connections) socket.destroy();
  }

  private accept(socket: Socket): void {
    // A peer that disconnects meanwhile is not an error; gRPC detects it.
    socket.on('error', () => {});
    if (!this.unauthenticated.admit(socket)) return;
    this.connections.add(socket);
    socket.once('close', () => this.connections.delete(socket));
    this.injector.injectConnection(socket);
  }

  private async handshake(wire: Wire, peer: string): Promise<void> {
    const { own, bounds, handshakeWithinMs, admit, accepted } = this.options;
    const address = peer.slice(0, peer.lastIndexOf(':'));
    const fromAddress = [...this.handshakes.values()].filter((other) => other === address).length;
    if (this.handshakes.size >= bounds.maxHandshakes || fromAddress >= bounds.maxHandshakesPerAddress)
      return wire.cut('too many handshakes at a time');
    this.handshakes.set(wire, address);
    const timer = setTimeout(() => wire.cut('the handshake took too long'), handshakeWithinMs);
    try {
      const received = await acceptHandshake(wire, own, admit, (from, protocol) => {
        this.unauthenticated.authenticated(peer);
        accepted(from, wire, protocol);
      });
      if (received !== null) this.logRefusal(received);
    } finally {
      clearTimeout(timer);
      this.handshakes.delete(wire);
    }
  }

  private logRefusal({ from, reason, detail }: { from: string; reason: string | null; detail: string }): void {
    const { log } = this.options;
    if (reason === null || reason === 'DUPLICATE' || reason === 'CLOSING') return log.debug({ peer: from, detail }, 'a handshake failed');
    if (this.loggedRefusals.has(`${from} ${detail}`)) return;
    if (this.loggedRefusals.size >= maxLoggedRefusals) this.loggedRefusals.clear();
    this.loggedRefusals.add(`${from} ${detail}`);
    log.warn({ peer: from, detail }, 'a connection from another node was refused');
  }
}
