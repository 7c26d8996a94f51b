/** One try to open a stream to a peer, and the reason if it fails. */
import { connect } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { DownReason } from '../peers.ts';
import { ClusterService, channelOptions } from './contract.ts';
import { type Dialed, dialHandshake, type NodeIdentity } from './handshake.ts';
import { Wire } from './wire.ts';

export type Target = { incarnation: string; host: string; port: number };

export type DialOutcome = { kind: 'connected'; wire: Wire; protocol: number } | Exclude<Dialed, { kind: 'welcome' }> | { kind: 'aborted' };

export class Dial {
  readonly outcome: Promise<DialOutcome>;
  /** The peer has answered: the dial is likely to succeed. */
  challenged = false;
  private readonly wire: Wire;
  private isAborted = false;

  constructor(target: Target, own: NodeIdentity, credentials: ChannelCredentials, withinMs: number) {
    const client = new ClusterService(grpcAddress(target.host, target.port), credentials, channelOptions);
    this.wire = new Wire(client.connect!() as any, () => client.close());
    this.outcome = this.run(target, own, withinMs);
  }

  /** Aborts the dial. */
  abort(): void {
    this.isAborted = true;
    this.wire.cut('aborted');
  }

  private async run(target: Target, own: NodeIdentity, withinMs: number): Promise<DialOutcome> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.wire.cut('no answer in time');
    }, withinMs);
    try {
      const dialed = await dialHandshake(this.wire, own, target.incarnation, () => (this.challenged = true));
      if (this.isAborted) return { kind: 'aborted' };
      if (dialed.kind === 'welcome' && this.wire.ended === null) return { kind: 'connected', wire: this.wire, protocol: dialed.protocol };
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
    const finish = (reason: DownReason): void => {
      socket.destroy();
      resolve(reason);
    };
    socket.setTimeout(withinMs, () => finish('silent'));
    socket.on('connect', () => finish('broken'));
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code === 'ECONNREFUSED' ? 'refused' : 'silent'));
  });
}

/** The address in gRPC's form: IPv6 in brackets. */
function grpcAddress(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
