/** Implements `Peers` over gRPC: listens, dials, and passes asks and notifications to the right stream. */
import { type Clock, systemClock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Member } from '../member.ts';
import type { AnswerAsk, DownReason, Peers } from '../peers.ts';
import type { RemoteAsk } from '../placement.ts';
import { type Bounds, defaultBounds } from './bounds.ts';
import { createClusterTokens } from './cluster-token.ts';
import { ownProtocols, type Protocols } from './contract.ts';
import { newCounters, type TransportCounters } from './counters.ts';
import { type ClusterTls, dialCredentials, serverCredentials } from './credentials.ts';
import type { Admission, NodeIdentity } from './handshake.ts';
import { Listener } from './listener.ts';
import { Peer, type PeerContext, type PeerHooks } from './peer.ts';

export type Self = Pick<Member, 'incarnation' | 'name' | 'host' | 'port'>;

export type TransportOptions = Partial<Bounds> & {
  /** `host` and `port` of the listener; port 0: any free port. */
  self: Self;
  secretKey: string;
  /** Other keys that other nodes may have while the key is being changed. */
  acceptedKeys?: readonly string[];
  log: Log;
  clock?: Clock;
  protocol?: Protocols;
  /** Default: none. Then the cluster's ports must be on a private network. */
  tls?: ClusterTls | null;
  /** From 0 to 1, for the jitter of redials. */
  random?: () => number;
};

/** The connection state of one peer, for metrics and the operator. */
export type PeerStatus = {
  incarnation: string;
  up: boolean;
  /** Also false if it is connected but leaving. */
  takesAsks: boolean;
  roundTripMs: number | null;
  asksWaiting: number;
};

/** Time for a node that left the cluster's view to answer open asks. */
const drainGraceMs = 1_000;

export class Transport implements Peers {
  readonly counters: TransportCounters = newCounters();
  private readonly self: Self;
  private readonly log: Log;
  private readonly listener: Listener;
  private readonly peersByIncarnation = new Map<string, Peer>();
  private readonly context: PeerContext;
  private readonly hooks: PeerHooks;
  private answer: AnswerAsk | null = null;
  private readonly notificationListeners = new Map<string, (payload: unknown, from: string) => void>();
  private readonly upListeners: ((incarnation: string) => void)[] = [];
  private readonly downListeners: ((incarnation: string, reason: DownReason) => void)[] = [];
  private closing = false;

  constructor(own: NodeIdentity, options: TransportOptions) {
    const {
      self,
      log,
      tls = null,
      random = Math.random,
      secretKey: _,
      acceptedKeys: __,
      protocol: ___,
      clock: ____,
      ...boundOverrides
    } = options;
    const bounds: Bounds = { ...defaultBounds, ...boundOverrides };
    this.self = self;
    this.log = log;
    this.context = { own, credentials: dialCredentials(tls), random, log, bounds, counters: this.counters };
    this.hooks = {
      answer: () => this.answer,
      notified: (kind, payload, from) => this.handleNotification(kind, payload, from),
      up: (incarnation) => this.upListeners.forEach((listener) => listener(incarnation)),
      down: (incarnation, reason) => this.downListeners.forEach((listener) => listener(incarnation, reason)),
      removed: (peer) => this.peersByIncarnation.get(peer.incarnation) === peer && this.peersByIncarnation.delete(peer.incarnation),
    };
    this.listener = new Listener({
      own,
      log,
      credentials: serverCredentials(tls),
      handshakeWithinMs: bounds.dialWithinMs,
      bounds,
      admit: (from) => this.admit(from),
      accepted: (from, wire, protocol) => this.peer(from).established(wire, protocol),
    });
  }

  /** The interface for the rest of the node. */
  get peers(): Peers {
    return this;
  }

  /** Rejects when the port is in use, or the host is not an address of this machine. */
  async listen(): Promise<{ port: number }> {
    const port = await this.listener.listen(this.self.host, this.self.port);
    return { port };
  }

  ask(to: Member, ask: RemoteAsk, signal?: AbortSignal): Promise<unknown> {
    const link = this.peersByIncarnation.get(to.incarnation)?.link;
    if (link?.takesAsks) return link.ask(ask, signal);
    return Promise.reject(new AppError('shard_not_owned', `${to.name} cannot be reached now`));
  }

  notify(to: Member, kind: string, payload: unknown): boolean {
    return this.peersByIncarnation.get(to.incarnation)?.link?.notify(kind, payload) ?? false;
  }

  onNotification(kind: string, listener: (payload: unknown, from: string) => void): void {
    if (this.notificationListeners.has(kind)) throw new Error(`Notifications of kind ${kind} already have a listener`);
    this.notificationListeners.set(kind, listener);
  }

  serve(answer: AnswerAsk): void {
    this.answer = answer;
  }

  setMembers(members: readonly Member[]): void {
    if (this.closing) return;
    const listed = new Set(members.map(({ incarnation }) => incarnation));
    // A peer that was never listed has dialed this node before its view arrived here: it stays.
    for (const peer of [...this.peersByIncarnation.values()])
      if (peer.isMember && !listed.has(peer.incarnation)) void peer.disconnect(drainGraceMs);
    for (const member of members) if (member.incarnation !== this.self.incarnation) this.peer(member.incarnation).connect(member);
  }

  onUp(listener: (incarnation: string) => void): void {
    this.upListeners.push(listener);
  }

  onDown(listener: (incarnation: string, reason: DownReason) => void): void {
    this.downListeners.push(listener);
  }

  peerStatuses(): PeerStatus[] {
    return Array.from(this.peersByIncarnation.values(), ({ incarnation, link }) => ({
      incarnation,
      up: link !== null,
      takesAsks: link?.takesAsks ?? false,
      roundTripMs: link?.roundTripMs ?? null,
      asksWaiting: link?.asksWaiting ?? 0,
    }));
  }

  /** Sends a goodbye frame to all peers, waits at most `graceMs` for open asks, closes every stream and stops listening. */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    await Promise.all(Array.from(this.peersByIncarnation.values(), (peer) => peer.disconnect(graceMs)));
    this.listener.close();
  }

  private admit(from: string): Admission {
    if (this.closing) return 'CLOSING';
    return (this.peersByIncarnation.get(from)?.admits() ?? true) ? 'yes' : 'DUPLICATE';
  }

  private peer(incarnation: string): Peer {
    let peer = this.peersByIncarnation.get(incarnation);
    if (peer === undefined) {
      peer = new Peer(incarnation, this.hooks, this.context);
      this.peersByIncarnation.set(incarnation, peer);
    }
    return peer;
  }

  /** A listener that throws must not prevent the other frames of its batch. */
  private handleNotification(kind: string, payload: unknown, from: string): void {
    const listener = this.notificationListeners.get(kind);
    if (listener === undefined) return this.log.debug({ kind, peer: from }, 'a notification has no listener');
    try {
      listener(payload, from);
    } catch (error) {
      this.log.error({ err: error, kind, peer: from }, 'a notification from another node could not be handled');
    }
  }
}

export async function createTransport(options: TransportOptions): Promise<Transport> {
  const { self, secretKey, acceptedKeys, clock = systemClock, protocol = ownProtocols } = options;
  const tokens = await createClusterTokens({ secretKey, acceptedKeys, clock });
  return new Transport({ incarnation: self.incarnation, protocols: protocol, tokens }, options);
}
