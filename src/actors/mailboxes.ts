/**
 * The mailboxes of all activations. Envelopes wait until the state is loaded, until the open batch accepts turns, or until a turn that failed
 * before has been retried alone. Owns their order and bounds; `turns.ts` runs a turn.
 *
 * M1 Envelopes of one actor are taken in the order in which they came.
 * M2 All mailboxes together, and each one that takes asks, are bounded; an envelope beyond the bound is refused and has no effect.
 * M3 The capacity of a batch is shared evenly by all waiting activations: a busy actor does not starve others.
 */
import { AppError } from '../errors.ts';
import type { GroupCommit } from '../storage/group-commit.ts';
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';
import type { Turns } from './turns.ts';

export class Mailboxes {
  private waiting = 0;
  /** Ready activations with a mailbox: they wait for capacity in the batch, or for a turn that must run alone. */
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

  /** Null if the envelope was taken or waits; an error if a limit is reached. */
  accept(activation: Activation, envelope: Envelope, limit: number): AppError | null {
    const canRun = activation.phase === 'ready' && activation.mailbox === null && this.canRun(activation, envelope);
    if (canRun && this.turns.accept(activation, envelope)) return null;
    if (this.waiting >= this.maxWaiting)
      return new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
    if (activation.mailbox !== null && activation.mailbox.length >= limit)
      return new AppError('mailbox_full', 'Too many requests wait for this one resource; try again shortly', { retryAfterS: 1 });
    insertInOrder((activation.mailbox ??= []), envelope);
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

  /** Takes waiting turns until the mailbox is empty, the batch is full, or its share is used up. Returns how many were taken. */
  pump(activation: Activation, share = Infinity): number {
    const { mailbox } = activation;
    if (mailbox === null || activation.phase !== 'ready') return 0;
    let count = 0;
    while (count < mailbox.length && count < share && this.canRun(activation, mailbox[count]!)) {
      if (!this.turns.accept(activation, mailbox[count]!)) break;
      this.waiting--;
      count++;
    }
    if (count === mailbox.length) {
      activation.mailbox = null;
      this.held.delete(activation);
    } else {
      mailbox.splice(0, count);
      this.held.add(activation);
    }
    return count;
  }

  /** M3. The batch accepts turns again. Activations that still wait go to the end of the queue; unused shares are distributed again. */
  pumpHeld(): void {
    for (let count = 1; count > 0; ) {
      count = 0;
      const share = Math.max(1, Math.floor(this.commit.remainingTurns / this.held.size));
      for (const activation of [...this.held]) {
        if (!this.commit.hasCapacity) return;
        this.held.delete(activation);
        count += this.pump(activation, share);
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

  private canRun(activation: Activation, envelope: Envelope): boolean {
    // A query reads committed state and adds nothing to a batch.
    if (envelope.source.kind === 'query') return true;
    return this.commit.hasCapacity && activation.admits(envelope, this.commit.maxBatchTurns);
  }
}

/** M1. An envelope whose turn was undone goes before later ones. */
function insertInOrder(mailbox: Envelope[], envelope: Envelope): void {
  let at = mailbox.length;
  if (envelope.order > 0) while (at > 0 && !(mailbox[at - 1]!.order > 0 && mailbox[at - 1]!.order < envelope.order)) at--;
  mailbox.splice(at, 0, envelope);
}
