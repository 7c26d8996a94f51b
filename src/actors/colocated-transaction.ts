/**
 * A co-located transaction: the turn of one actor runs commands of other actors of its shard, and all of them are committed together.
 *
 * J1 All participants are on one shard, so one owner and one epoch fence all that they change.
 * J2 Their changes and records are one commit unit: it is committed as a whole or not at all, and no part of it is visible alone.
 * J3 It sees the newest state of each participant. Until all are loaded it waits, and later envelopes of the asked actor wait behind it; an
 *    attempt that was postponed changes nothing.
 * J4 When its unit is not committed, the activations of all participants are dropped, and turns built on any of them are undone.
 */
import { shardOf } from '../cluster/address.ts';
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';
import type { TurnRecord } from './turn.ts';

export type ColocatedTransactionParts = {
  /** The actor's activation; a new one is loading. */
  find(kind: string, id: string): Activation;
  commit: { readonly maxBatchTurns: number };
};

export class ColocatedTransaction {
  /** Participants besides the asked actor. */
  readonly others: Activation[] = [];
  readonly turns: { activation: Activation; state: object | null; record: TurnRecord }[] = [];
  /** J3: a participant is not ready; the turn is run again later. */
  isPostponed = false;
  private readonly target: Activation;
  private readonly envelope: Envelope;
  private readonly parts: ColocatedTransactionParts;

  constructor(target: Activation, envelope: Envelope, parts: ColocatedTransactionParts) {
    this.target = target;
    this.envelope = envelope;
    this.parts = parts;
  }

  /** Adds a participant; throws if it is not ready. */
  join(kind: string, id: string): Activation {
    const { target } = this;
    if (shardOf(kind, id) !== target.shard || (id === target.id && kind === target.kind.name))
      throw new Error(`${target.kind.name}/${target.id} cannot call ${kind}/${id}: a participant is another actor of its shard`);
    const other = this.parts.find(kind, id);
    if (this.others.includes(other)) return other;
    if (!this.isReady(other)) {
      this.isPostponed = true;
      throw new Error('A participant is not ready');
    }
    this.others.push(other);
    return other;
  }

  stateOf(other: Activation): object | null {
    const last = this.turns.findLast(({ activation }) => activation === other);
    return last === undefined ? other.state : last.state;
  }

  private isReady(other: Activation): boolean {
    if (other.phase !== 'ready') {
      (other.awaitedBy ??= new Set()).add(this.target);
      return false;
    }
    if (!other.admits(this.envelope, this.parts.commit.maxBatchTurns)) return false;
    // Participants with different units in the open batch: they can share a unit once the batch has been sent.
    return other.open === null || [this.target, ...this.others].every(({ open }) => open === null || open.unit === other.open!.unit);
  }
}
