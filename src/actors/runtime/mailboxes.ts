/**
 * What waits for actors: until their state is loaded, until there is room in the open batch, or until what failed before has been tried
 * alone. It owns the order and the bounds; taking a turn is given.
 *
 * M1 Envelopes of one actor are taken in the order in which they came.
 * M2 All mailboxes together, and each asked one, are bounded; an envelope beyond is refused, and surely not done.
 * M3 Room in a batch is shared evenly by all who wait for it: nobody's many turns keep others from one.
 */
import { AppError } from '../../errors.ts';
import type { GroupCommit } from '../../storage/group-commit.ts';
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';

export class Mailboxes {
  private waiting = 0;
  /** Ready activations with a mailbox: they wait for room in the batch, or for a turn of theirs that goes alone. */
  private readonly held = new Set<Activation>();
  private readonly commit: GroupCommit;
  private readonly maxWaiting: number;
  private readonly take: (activation: Activation, envelope: Envelope) => void;

  constructor(commit: GroupCommit, maxWaiting: number, take: (activation: Activation, envelope: Envelope) => void) {
    this.commit = commit;
    this.maxWaiting = maxWaiting;
    this.take = take;
  }

  get size(): number {
    return this.waiting;
  }

  /** Null when the envelope was taken or waits; an error when there is no room for it. */
  accept(activation: Activation, envelope: Envelope, limit: number): AppError | null {
    if (activation.phase === 'ready' && activation.mailbox === null && this.mayTurn(activation, envelope)) {
      this.take(activation, envelope);
      return null;
    }
    if (this.waiting >= this.maxWaiting)
      return new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
    if (activation.mailbox !== null && activation.mailbox.length >= limit)
      return new AppError('mailbox_full', 'Too many requests wait for this one resource; try again shortly', { retryAfterS: 1 });
    (activation.mailbox ??= []).push(envelope);
    this.waiting++;
    if (activation.phase === 'ready') this.held.add(activation);
    return null;
  }

  /** Takes waiting turns until the mailbox is empty, there is no room, or its share is used up. Returns how many were taken. */
  pump(activation: Activation, share = Infinity): number {
    const { mailbox } = activation;
    if (mailbox === null || activation.phase !== 'ready') return 0;
    let taken = 0;
    while (taken < mailbox.length && taken < share && this.mayTurn(activation, mailbox[taken]!)) {
      this.waiting--;
      this.take(activation, mailbox[taken++]!);
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

  private mayTurn({ open, sending }: Activation, envelope: Envelope): boolean {
    // It is shown what is committed and adds nothing to a batch.
    if (envelope.source.kind === 'query') return true;
    if (!this.commit.hasRoom || open?.alone === true || sending?.alone === true) return false;
    const last = open ?? sending;
    if (last === null) return true;
    return !envelope.alone && last.waiting.length < this.commit.maxBatchTurns;
  }
}
