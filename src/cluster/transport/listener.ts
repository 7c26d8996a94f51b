/** Where other nodes dial in: the gRPC server, and the handshake of everyone who comes. */
import { Server, type ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Log } from '../../log.ts';
import { ClusterService, channelOptions, type Parcel } from './contract.ts';
import { grpcAddress } from './dial.ts';
import { type Admission, type Own, receive } from './handshake.ts';
import { Wire } from './wire.ts';

export type ListenerOptions = {
  own: Own;
  credentials: ServerCredentials;
  log: Log;
  /** A handshake takes at most so long, and at most so many run at a time. */
  handshakeWithinMs: number;
  maxHandshakes: number;
  admit(from: string): Admission;
  accepted(from: string, wire: Wire, protocol: number): void;
};

/** Own pings decide what is silent. This only clears away connections whose other end has vanished without a word, or has no stream. */
const connectionCheckMs = 20_000;
const idleConnectionMs = 10_000;
const toldAtMost = 100;

export class Listener {
  private readonly options: ListenerOptions;
  private readonly server: Server;
  private readonly handshakes = new Set<Wire>();
  /** Refusals that the log has heard of: a node that is refused comes again and again. */
  private readonly told = new Set<string>();

  constructor(options: ListenerOptions) {
    this.options = options;
    this.server = new Server({
      ...channelOptions,
      'grpc.keepalive_time_ms': connectionCheckMs,
      'grpc.keepalive_timeout_ms': connectionCheckMs,
      'grpc.max_connection_idle_ms': idleConnectionMs,
    });
    this.server.addService(ClusterService.service, {
      connect: (call: ServerDuplexStream<Parcel, Parcel>) => void this.welcome(new Wire(call, () => {})),
    });
  }

  /** @param port 0: any free one. Resolves with the one taken. Rejects when it is taken, or the host is none of this machine. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.bindAsync(grpcAddress(host, port), this.options.credentials, (error, taken) =>
        error === null ? resolve(taken) : reject(error),
      );
    });
  }

  /** Ends everything that still comes in. */
  close(): void {
    for (const wire of this.handshakes) wire.cut('the node stops');
    this.server.forceShutdown();
  }

  private async welcome(wire: Wire): Promise<void> {
    const { own, maxHandshakes, handshakeWithinMs, admit, accepted } = this.options;
    if (this.handshakes.size >= maxHandshakes) return wire.cut('too many handshakes at a time');
    this.handshakes.add(wire);
    const timer = setTimeout(() => wire.cut('the handshake took too long'), handshakeWithinMs);
    try {
      const received = await receive(wire, own, admit, (from, protocol) => accepted(from, wire, protocol));
      if (received !== null) this.tellRefused(received);
    } finally {
      clearTimeout(timer);
      this.handshakes.delete(wire);
    }
  }

  private tellRefused({ from, reason, detail }: { from: string; reason: string | null; detail: string }): void {
    const { log } = this.options;
    if (reason === null || reason === 'DUPLICATE' || reason === 'CLOSING')
      return log.debug({ peer: from, detail }, 'a handshake came to nothing');
    if (this.told.has(`${from} ${detail}`)) return;
    if (this.told.size >= toldAtMost) this.told.clear();
    this.told.add(`${from} ${detail}`);
    log.warn({ peer: from, detail }, 'a node that wants to reach this one is refused');
  }
}
