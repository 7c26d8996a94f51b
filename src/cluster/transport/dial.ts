/** One try to open a stream to a peer, and the reason if it fails. */
import { connect } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { DownReason } from '../peers.ts';
import { ClusterService, channelOptions } from './contract.ts';
import { type Dialed, greet, type Own } from './handshake.ts';
import { Wire } from './wire.ts';

export type Target = { incarnation: string; host: string; port: number };

export type DialOutcome = { kind: 'linked'; wire: Wire; protocol: number } | Exclude<Dialed, { kind: 'welcome' }> | { kind: 'given up' };

export class Dial {
  readonly outcome: Promise<DialOutcome>;
  /** The peer has answered: the dial is likely to succeed. */
  challenged = false;
  private readonly wire: Wire;
  private gaveUp = false;

  constructor(target: Target, own: Own, credentials: ChannelCredentials, withinMs: number) {
    const client = new ClusterService(grpcAddress(target.host, target.port), credentials, channelOptions);
    this.wire = new Wire(client.connect!() as any, () => client.close());
    this.outcome = this.run(target, own, withinMs);
  }

  /** Aborts the dial. */
  giveUp(): void {
    this.gaveUp = true;
    this.wire.cut('given up');
  }

  private async run(target: Target, own: Own, withinMs: number): Promise<DialOutcome> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.wire.cut('no answer in time');
    }, withinMs);
    try {
      const dialed = await greet(this.wire, own, target.incarnation, () => (this.challenged = true));
      if (this.gaveUp) return { kind: 'given up' };
      if (dialed.kind === 'welcome' && this.wire.ended === null) return { kind: 'linked', wire: this.wire, protocol: dialed.protocol };
      const why = this.wire.ended ?? '';
      this.wire.cut('not needed');
      if (late) return { kind: 'failed', reason: 'silent', detail: why };
      if (dialed.kind === 'welcome') return { kind: 'failed', reason: 'broken', detail: why };
      // gRPC reports only that the dial failed; a plain TCP connection shows whether the port is open.
      if (dialed.kind === 'failed' && dialed.reason === 'broken' && !this.challenged)
        return { ...dialed, reason: await reasonOf(target, withinMs) };
      return dialed;
    } finally {
      clearTimeout(timer);
    }
  }
}

function reasonOf({ host, port }: Target, withinMs: number): Promise<DownReason> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const tell = (reason: DownReason): void => {
      socket.destroy();
      resolve(reason);
    };
    socket.setTimeout(withinMs, () => tell('silent'));
    socket.on('connect', () => tell('broken'));
    socket.on('error', (error: NodeJS.ErrnoException) => tell(error.code === 'ECONNREFUSED' ? 'refused' : 'silent'));
  });
}

/** The address in gRPC's form: IPv6 in brackets. */
function grpcAddress(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
