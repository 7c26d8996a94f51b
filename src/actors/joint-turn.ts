/**
 * A joint turn: the actor that is asked takes others along, each by a command of its own, as if the turns of all were one.
 *
 * J1 All of them live on one shard: what they change has one owner and one epoch, and moves as one.
 * J2 What they change and record is one unit: it is committed as a whole or not at all, and nobody is told of a part of it.
 * J3 It sees the newest state of each. Until all are at hand it waits, and what comes after it for the actor that was asked waits behind it;
 *    an attempt leaves no trace.
 * J4 When its unit is not committed, all of its actors are dropped, and what was built on any of them is undone.
 */
import { shardOf } from '../cluster/address.ts';
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';
import type { TurnRecord } from './turn.ts';

export type JointTurnParts = {
  /** The actor's activation; a new one is loading. */
  find(kind: string, id: string): Activation;
  commit: { readonly maxBatchTurns: number };
};

export class JointTurn {
  /** Whose newest state was seen. */
  readonly others: Activation[] = [];
  readonly turns: { activation: Activation; state: object | null; record: TurnRecord }[] = [];
  /** J3: somebody is not at hand, and the turn is to be taken again later. */
  isPutOff = false;
  private readonly asked: Activation;
  private readonly envelope: Envelope;
  private readonly parts: JointTurnParts;

  constructor(asked: Activation, envelope: Envelope, parts: JointTurnParts) {
    this.asked = asked;
    this.envelope = envelope;
    this.parts = parts;
  }

  /** The actor that is taken along; throws where it is not at hand. */
  join(kind: string, id: string): Activation {
    const { asked } = this;
    if (shardOf(kind, id) !== asked.shard || (id === asked.id && kind === asked.kind.name))
      throw new Error(`${asked.kind.name}/${asked.id} cannot take ${kind}/${id} along: it takes another actor of its shard`);
    const other = this.parts.find(kind, id);
    if (this.others.includes(other)) return other;
    if (!this.isAtHand(other)) {
      this.isPutOff = true;
      throw new Error('An actor to take along is not at hand');
    }
    this.others.push(other);
    return other;
  }

  stateOf(other: Activation): object | null {
    const last = this.turns.findLast(({ activation }) => activation === other);
    return last === undefined ? other.state : last.state;
  }

  private isAtHand(other: Activation): boolean {
    if (other.phase !== 'ready') {
      (other.awaitedBy ??= new Set()).add(this.asked);
      return false;
    }
    if (!other.admits(this.envelope, this.parts.commit.maxBatchTurns)) return false;
    // Two that have changed apart in this batch: once it has left, both are free to begin a unit together.
    return other.open === null || [this.asked, ...this.others].every(({ open }) => open === null || open.unit === other.open!.unit);
  }
}
