/**
 * One other node, by its incarnation: at most one stream to it, and which side dials when there is none.
 *
 * Both sides dial, so that one succeeds if only one direction is open. If both succeed, the stream dialed by the smaller incarnation stays:
 * P1 The larger one always accepts the stream that the smaller one dials, in place of its own.
 * P2 The smaller one accepts the larger one's unless it has a stream, or a dial that was answered already. A dial that it gives up for this
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
import type { Own } from './handshake.ts';
import { Link, type LinkEnd, type LinkHooks, type LinkSurroundings } from './link.ts';
import type { Wire } from './wire.ts';

type State =
  | { kind: 'resting' }
  | { kind: 'dialing'; dial: Dial }
  | { kind: 'pausing'; timer: NodeJS.Timeout }
  | { kind: 'standing'; link: Link; sinceMs: number };

export type PeerHooks = Omit<LinkHooks, 'ended'> & {
  up(incarnation: string): void;
  down(incarnation: string, reason: DownReason): void;
  /** It is not a member, and no stream is open. */
  forget(peer: Peer): void;
};

export type PeerSurroundings = LinkSurroundings & { own: Own; credentials: ChannelCredentials; random: () => number };

/** Time for the other side to finish the stream that it prefers. */
const duplicatePauseMs = 250;

export class Peer {
  readonly incarnation: string;
  private member: Member | null = null;
  private state: State = { kind: 'resting' };
  /** Dials that failed since the last open stream, and streams that broke soon after they opened. */
  private failedDials = 0;
  private quickBreaks = 0;
  private lastReason: DownReason | null = null;
  private readonly hooks: PeerHooks;
  private readonly surroundings: PeerSurroundings;
  private readonly log: Log;

  constructor(incarnation: string, hooks: PeerHooks, surroundings: PeerSurroundings) {
    this.incarnation = incarnation;
    this.hooks = hooks;
    this.surroundings = surroundings;
    this.log = surroundings.log.child({ peer: incarnation });
  }

  /** null: no stream is open. */
  get link(): Link | null {
    return this.state.kind === 'standing' ? this.state.link : null;
  }

  get isMember(): boolean {
    return this.member !== null;
  }

  /** Connect to this member. */
  join(member: Member): void {
    this.member = member;
    if (this.state.kind === 'resting') this.dial();
  }

  /** Stop connecting to it. Resolves when its stream is closed, at the latest after `graceMs`. */
  async part(graceMs: number): Promise<void> {
    this.member = null;
    if (this.state.kind === 'standing') return this.state.link.leave(graceMs);
    this.rest();
    this.hooks.forget(this);
  }

  /** Whether to accept a stream that this peer has dialed. */
  admits(): boolean {
    const theyAreSmaller = this.incarnation < this.surroundings.own.incarnation;
    if (this.state.kind === 'standing') return theyAreSmaller;
    return theyAreSmaller || this.state.kind !== 'dialing' || !this.state.dial.challenged;
  }

  /** A stream to it is open, after the handshake. */
  established(wire: Wire, protocol: number): void {
    const { link: old } = this;
    this.rest();
    if (old !== null) {
      old.cut('replaced by a newer stream');
      this.surroundings.counters.peersUp--;
      this.reportDown('broken', 'it has opened a newer stream');
    }
    const { answer, notified } = this.hooks;
    const link: Link = new Link(wire, this.incarnation, { answer, notified, ended: (end) => this.ended(link, end) }, this.surroundings);
    this.state = { kind: 'standing', link, sinceMs: performance.now() };
    this.lastReason = null;
    this.failedDials = 0;
    this.surroundings.counters.peersUp++;
    this.log.info({ protocol }, 'a stream to another node is open');
    this.hooks.up(this.incarnation);
    link.start();
  }

  private ended(link: Link, { reason, detail }: LinkEnd): void {
    if (this.state.kind !== 'standing' || this.state.link !== link) return;
    const stoodLong = performance.now() - this.state.sinceMs >= this.surroundings.bounds.longestRedialPauseMs;
    this.quickBreaks = stoodLong ? 0 : this.quickBreaks + 1;
    this.state = { kind: 'resting' };
    this.surroundings.counters.peersUp--;
    if (reason === 'closed') this.log.info({ detail }, 'the stream to another node is closed');
    else this.reportDown(reason, detail);
    if (this.member === null) return this.hooks.forget(this);
    // At once, so that it is soon known whether the process has ended; streams that break again and again are redialed with pauses.
    if (this.quickBreaks <= 1) this.dial();
    else this.pause(this.redialPauseMs(this.quickBreaks - 1));
  }

  private dial(): void {
    const { own, credentials, bounds } = this.surroundings;
    const dial = new Dial(this.member!, own, credentials, bounds.dialWithinMs);
    this.state = { kind: 'dialing', dial };
    void dial.outcome.then((outcome) => this.dialed(dial, outcome));
  }

  private dialed(dial: Dial, outcome: DialOutcome): void {
    if (this.state.kind !== 'dialing' || this.state.dial !== dial) {
      // It was given up at the last moment, or another stream is open.
      if (outcome.kind === 'linked') outcome.wire.cut('not needed');
      return;
    }
    this.state = { kind: 'resting' };
    switch (outcome.kind) {
      case 'linked':
        return this.established(outcome.wire, outcome.protocol);
      case 'duplicate':
        return this.pause(duplicatePauseMs);
      case 'failed':
        this.pause(this.redialPauseMs(++this.failedDials));
        return this.reportDown(outcome.reason, outcome.detail);
    }
  }

  private pause(ms: number): void {
    this.state = { kind: 'pausing', timer: setTimeout(() => this.dial(), ms) };
  }

  private rest(): void {
    const { state } = this;
    this.state = { kind: 'resting' };
    if (state.kind === 'dialing') state.dial.giveUp();
    if (state.kind === 'pausing') clearTimeout(state.timer);
  }

  /** Between half and one and a half times the pause, so that many nodes do not reconnect at the same time. */
  private redialPauseMs(failures: number): number {
    const { redialAfterMs, longestRedialPauseMs } = this.surroundings.bounds;
    const pauseMs = backoffMs(failures - 1, redialAfterMs, longestRedialPauseMs);
    return pauseMs * (0.5 + this.surroundings.random());
  }

  private reportDown(reason: DownReason, detail: string): void {
    if (reason !== this.lastReason) this.log.warn({ reason, detail }, 'another node cannot be reached');
    this.lastReason = reason;
    this.hooks.down(this.incarnation, reason);
  }
}
