/**
 * The mailboxes of all activations. Envelopes wait until the state is loaded, until the open batch has room, or until a turn that failed
 * before has been retried alone. Owns their order and bounds; `turns.ts` runs a turn.
 *
 * M1 Envelopes of one actor are taken in the order in which they came.
 * M2 All mailboxes together, and each one that takes asks, are bounded; an envelope beyond the bound is refused and has no effect.
 * M3 Room in a batch is shared evenly by all waiting activations: a busy actor does not starve others.
 */
import { AppError } from '../errors.ts';
import type { GroupCommit } from '../storage/group-commit.ts';
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';
import type { Turns } from './turns.ts';

export class Mailboxes {
  private waiting = 0;
  /** Ready activations with a mailbox: they wait for room in the batch, or for a turn that must run alone. */
  private readonly held = new Set<Activation>();
  private readonly commit: GroupCommit;
  private readonly maxWaiting: number;
  private readonly turns: Turns;

  constructor(commit: GroupCommit, maxWaiting: number, turns: Turns) {
    this.commit = commit;
    this.maxWaiting = maxWaiting;
    this.turns = turns;
  }

  get size(): number {
    return this.waiting;
  }

  /** Null if the envelope was taken or waits; an error if there is no room for it. */
  accept(activation: Activation, envelope: Envelope, limit: number): AppError | null {
    const mayTurn = activation.phase === 'ready' && activation.mailbox === null && this.mayTurn(activation, envelope);
    if (mayTurn && this.turns.take(activation, envelope)) return null;
    if (this.waiting >= this.maxWaiting)
      return new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
    if (activation.mailbox !== null && activation.mailbox.length >= limit)
      return new AppError('mailbox_full', 'Too many requests wait for this one resource; try again shortly', { retryAfterS: 1 });
    put((activation.mailbox ??= []), envelope);
    this.waiting++;
    if (activation.phase === 'ready') this.held.add(activation);
    return null;
  }

  /** The activation is loaded: its envelopes are taken, and those of co-located transactions that wait for it. */
  ready(activation: Activation): void {
    const { awaitedBy } = activation;
    activation.awaitedBy = null;
    this.pump(activation);
    for (const other of awaitedBy ?? []) this.pump(other);
  }

  /** Takes waiting turns until the mailbox is empty, there is no room, or its share is used up. Returns how many were taken. */
  pump(activation: Activation, share = Infinity): number {
    const { mailbox } = activation;
    if (mailbox === null || activation.phase !== 'ready') return 0;
    let taken = 0;
    while (taken < mailbox.length && taken < share && this.mayTurn(activation, mailbox[taken]!)) {
      if (!this.turns.take(activation, mailbox[taken]!)) break;
      this.waiting--;
      taken++;
    }
    if (taken === mailbox.length) {
      activation.mailbox = null;
      this.held.delete(activation);
    } else {
      mailbox.splice(0, taken);
      this.held.add(activation);
    }
    return taken;
  }

  /** M3. The batch has room again. Activations that still wait go to the end of the queue; unused shares are distributed again. */
  pumpHeld(): void {
    for (let taken = 1; taken > 0; ) {
      taken = 0;
      const share = Math.max(1, Math.floor(this.commit.room / this.held.size));
      for (const activation of [...this.held]) {
        if (!this.commit.hasRoom) return;
        this.held.delete(activation);
        taken += this.pump(activation, share);
      }
    }
  }

  /** Removes and returns all envelopes of an activation. */
  empty(activation: Activation): Envelope[] {
    this.held.delete(activation);
    const waiting = activation.mailbox ?? [];
    activation.mailbox = null;
    this.waiting -= waiting.length;
    return waiting;
  }

  /** Removes and returns the envelopes of activations whose co-located transaction waits for this one. */
  emptyAwaiting({ awaitedBy }: Activation): Envelope[] {
    return [...(awaitedBy ?? [])].flatMap((other) => this.empty(other));
  }

  private mayTurn(activation: Activation, envelope: Envelope): boolean {
    // A query reads committed state and adds nothing to a batch.
    if (envelope.source.kind === 'query') return true;
    return this.commit.hasRoom && activation.admits(envelope, this.commit.maxBatchTurns);
  }
}

/** M1. An envelope whose turn was undone goes before later ones. */
function put(mailbox: Envelope[], envelope: Envelope): void {
  let at = mailbox.length;
  if (envelope.order > 0) while (at > 0 && !(mailbox[at - 1]!.order > 0 && mailbox[at - 1]!.order < envelope.order)) at--;
  mailbox.splice(at, 0, envelope);
}
