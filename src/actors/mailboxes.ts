/**
 * What waits for actors: until their state is loaded, until there is room in the open batch, or until what failed before has been tried
 * alone. It owns the order and the bounds; taking a turn is given.
 *
 * M1 Envelopes of one actor are taken in the order in which they came.
 * M2 All mailboxes together, and each asked one, are bounded; an envelope beyond is refused, and surely not done.
 * M3 Room in a batch is shared evenly by all who wait for it: nobody's many turns keep others from one.
 */
import { AppError } from '../errors.ts';
import type { GroupCommit } from '../storage/group-commit.ts';
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';

/** False: not now, since another actor that it takes along is not at hand. */
type Take = (activation: Activation, envelope: Envelope) => boolean;

export class Mailboxes {
  private waiting = 0;
  /** Ready activations with a mailbox: they wait for room in the batch, or for a turn of theirs that goes alone. */
  private readonly held = new Set<Activation>();
  private readonly commit: GroupCommit;
  private readonly maxWaiting: number;
  private readonly take: Take;

  constructor(commit: GroupCommit, maxWaiting: number, take: Take) {
    this.commit = commit;
    this.maxWaiting = maxWaiting;
    this.take = take;
  }

  get size(): number {
    return this.waiting;
  }

  /** Null when the envelope was taken or waits; an error when there is no room for it. */
  accept(activation: Activation, envelope: Envelope, limit: number): AppError | null {
    const mayTurn = activation.phase === 'ready' && activation.mailbox === null && this.mayTurn(activation, envelope);
    if (mayTurn && this.take(activation, envelope)) return null;
    if (this.waiting >= this.maxWaiting)
      return new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
    if (activation.mailbox !== null && activation.mailbox.length >= limit)
      return new AppError('mailbox_full', 'Too many requests wait for this one resource; try again shortly', { retryAfterS: 1 });
    put((activation.mailbox ??= []), envelope);
    this.waiting++;
    if (activation.phase === 'ready') this.held.add(activation);
    return null;
  }

  /** Its state is loaded: what waits for it is taken, and the joint turns that are to take it along. */
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
      if (!this.take(activation, mailbox[taken]!)) break;
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

  /** M3. There is room again. Those that still have to wait go to the end; what some leave of their shares is shared again. */
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

  /** Takes out all that waits for an activation. */
  empty(activation: Activation): Envelope[] {
    this.held.delete(activation);
    const waiting = activation.mailbox ?? [];
    activation.mailbox = null;
    this.waiting -= waiting.length;
    return waiting;
  }

  /** Takes out all that waits for those that were to take this activation along. */
  emptyAwaiting({ awaitedBy }: Activation): Envelope[] {
    return [...(awaitedBy ?? [])].flatMap((other) => this.empty(other));
  }

  private mayTurn(activation: Activation, envelope: Envelope): boolean {
    // It is shown what is committed and adds nothing to a batch.
    if (envelope.source.kind === 'query') return true;
    return this.commit.hasRoom && activation.admits(envelope, this.commit.maxBatchTurns);
  }
}

/** M1. What was taken before and is undone goes before what came later. */
function put(mailbox: Envelope[], envelope: Envelope): void {
  let at = mailbox.length;
  if (envelope.order > 0) while (at > 0 && !(mailbox[at - 1]!.order > 0 && mailbox[at - 1]!.order < envelope.order)) at--;
  mailbox.splice(at, 0, envelope);
}
