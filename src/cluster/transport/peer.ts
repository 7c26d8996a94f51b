/**
 * One other node, by its incarnation: at most one stream to it, and which side dials when there is none.
 *
 * Both sides dial, so that one succeeds if only one direction is open. If both succeed, the stream dialed by the smaller incarnation stays:
 * P1 The larger one always accepts the stream that the smaller one dials, in place of its own.
 * P2 The smaller one accepts the larger one's unless it has a stream, or a dial that was answered already. A dial that it aborts for this
 *    is not authenticated yet, so the larger one never sees it.
 * P3 While the peer is a member and no stream is open, it is dialed or a redial is due: at once after a stream broke, then after growing
 *    pauses with jitter.
 */

import type { ChannelCredentials } from '@grpc/grpc-js';
import { backoffMs } from '../../backoff.ts';
import type { Log } from '../../log.ts';
import type { Member } from '../member.ts';
import type { DownReason } from '../peers.ts';
import { Dial, type DialOutcome } from './dial.ts';
import type { NodeIdentity } from './handshake.ts';
import { Link, type LinkContext, type LinkEnd, type LinkHooks } from './link.ts';
import type { Wire } from './wire.ts';

type State =
  | { kind: 'idle' }
  | { kind: 'dialing'; dial: Dial }
  | { kind: 'waiting'; timer: NodeJS.Timeout }
  | { kind: 'connected'; link: Link; sinceMs: number };

export type PeerHooks = Omit<LinkHooks, 'ended'> & {
  up(incarnation: string): void;
  down(incarnation: string, reason: DownReason): void;
  /** It is not a member, and no stream is open. */
  removed(peer: Peer): void;
};

export type PeerContext = LinkContext & { own: NodeIdentity; credentials: ChannelCredentials; random: () => number };

/** Time for the other side to finish the stream that it prefers. */
const duplicatePauseMs = 250;

export class Peer {
  readonly incarnation: string;
  private member: Member | null = null;
  private state: State = { kind: 'idle' };
  /** Dials that failed since the last open stream, and streams that broke soon after they opened. */
  private failedDials = 0;
  private shortLivedStreams = 0;
  private lastReason: DownReason | null = null;
  private readonly hooks: PeerHooks;
  private readonly context: PeerContext;
  private readonly log: Log;

  constructor(incarnation: string, hooks: PeerHooks, context: PeerContext) {
    this.incarnation = incarnation;
    this.hooks = hooks;
    this.context = context;
    this.log = context.log.child({ peer: incarnation });
  }

  /** null: no stream is open. */
  get link(): Link | null {
    return this.state.kind === 'connected' ? this.state.link : null;
  }

  get isMember(): boolean {
    return this.member !== null;
  }

  /** Connect to this member. */
  connect(member: Member): void {
    this.member = member;
    if (this.state.kind === 'idle') this.dial();
  }

  /** Stop connecting to it. Resolves when its stream is closed, at the latest after `graceMs`. */
  async disconnect(graceMs: number): Promise<void> {
    this.member = null;
    if (this.state.kind === 'connected') return this.state.link.drain(graceMs);
    this.stopDialing();
    this.hooks.removed(this);
  }

  /** Whether to accept a stream that this peer has dialed. */
  admits(): boolean {
    const isOtherSmaller = this.incarnation < this.context.own.incarnation;
    if (this.state.kind === 'connected') return isOtherSmaller;
    return isOtherSmaller || this.state.kind !== 'dialing' || !this.state.dial.challenged;
  }

  /** A stream to it is open, after the handshake. */
  established(wire: Wire, protocol: number): void {
    const { link: old } = this;
    this.stopDialing();
    if (old !== null) {
      old.cut('replaced by a newer stream');
      this.context.counters.peersUp--;
      this.reportDown('broken', 'it has opened a newer stream');
    }
    const { answer, notified } = this.hooks;
    const link: Link = new Link(wire, this.incarnation, { answer, notified, ended: (end) => this.ended(link, end) }, this.context);
    this.state = { kind: 'connected', link, sinceMs: performance.now() };
    this.lastReason = null;
    this.failedDials = 0;
    this.context.counters.peersUp++;
    this.log.info({ protocol }, 'a stream to another node is open');
    this.hooks.up(this.incarnation);
    link.start();
  }

  private ended(link: Link, { reason, detail }: LinkEnd): void {
    if (this.state.kind !== 'connected' || this.state.link !== link) return;
    const wasStable = performance.now() - this.state.sinceMs >= this.context.bounds.maxRedialPauseMs;
    this.shortLivedStreams = wasStable ? 0 : this.shortLivedStreams + 1;
    this.state = { kind: 'idle' };
    this.context.counters.peersUp--;
    if (reason === 'closed') this.log.info({ detail }, 'the stream to another node is closed');
    else this.reportDown(reason, detail);
    if (this.member === null) return this.hooks.removed(this);
    // At once, so that it is soon known whether the process has ended; streams that break again and again are redialed with pauses.
    if (this.shortLivedStreams <= 1) this.dial();
    else this.redialAfter(this.redialPauseMs(this.shortLivedStreams - 1));
  }

  private dial(): void {
    const { own, credentials, bounds } = this.context;
    const dial = new Dial(this.member!, own, credentials, bounds.dialWithinMs);
    this.state = { kind: 'dialing', dial };
    void dial.outcome.then((outcome) => this.dialed(dial, outcome));
  }

  private dialed(dial: Dial, outcome: DialOutcome): void {
    if (this.state.kind !== 'dialing' || this.state.dial !== dial) {
      // It was aborted at the last moment, or another stream is open.
      if (outcome.kind === 'connected') outcome.wire.cut('not needed');
      return;
    }
    this.state = { kind: 'idle' };
    switch (outcome.kind) {
      case 'connected':
        return this.established(outcome.wire, outcome.protocol);
      case 'duplicate':
        return this.redialAfter(duplicatePauseMs);
      case 'failed':
        this.redialAfter(this.redialPauseMs(++this.failedDials));
        return this.reportDown(outcome.reason, outcome.detail);
    }
  }

  private redialAfter(ms: number): void {
    this.state = { kind: 'waiting', timer: setTimeout(() => this.dial(), ms) };
  }

  private stopDialing(): void {
    const { state } = this;
    this.state = { kind: 'idle' };
    if (state.kind === 'dialing') state.dial.abort();
    if (state.kind === 'waiting') clearTimeout(state.timer);
  }

  /** Between half and one and a half times the pause, so that many nodes do not reconnect at the same time. */
  private redialPauseMs(failures: number): number {
    const { redialAfterMs, maxRedialPauseMs } = this.context.bounds;
    const pauseMs = backoffMs(failures - 1, redialAfterMs, maxRedialPauseMs);
    return pauseMs * (0.5 + this.context.random());
  }

  private reportDown(reason: DownReason, detail: string): void {
    if (reason !== this.lastReason) this.log.warn({ reason, detail }, 'another node cannot be reached');
    this.lastReason = reason;
    this.hooks.down(this.incarnation, reason);
  }
}
