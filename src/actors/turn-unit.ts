/** What turns add to one batch, with all callers that wait for its commit: a unit, and in it the part of each actor. */
import { type ActorPart, type CommitOutcome, CommitUnit, type TimerDraft } from '../storage/commit-unit.ts';
import type { Table } from '../storage/table.ts';
import type { Activation } from './activation.ts';
import type { Envelope } from './envelope.ts';

/** Called once with the outcome of a unit. */
export interface UnitListener {
  complete(unit: TurnUnit, outcome: CommitOutcome): void;
}

export class TurnUnit extends CommitUnit<TurnPart> {
  /** Holds a turn whose unit failed before: no other turn may be added, so that a failure is attributed to this one. */
  alone = false;

  constructor(shard: number, listener: UnitListener) {
    super(shard, (outcome): void => listener.complete(this, outcome));
  }

  override onSent(): void {
    for (const part of this.parts) {
      part.activation.open = null;
      part.activation.sending = part;
    }
  }
}

export class TurnPart implements ActorPart {
  readonly kind: string;
  readonly id: string;
  readonly activation: Activation;
  readonly unit: TurnUnit;
  table: Table | null = null;
  row: object | null = null;
  timers: Map<string, TimerDraft | null> | null = null;
  /** Envelopes of these turns, in order; a co-located transaction is listed with the asked actor. If the commit fails they are retried. */
  readonly envelopes: Envelope[] = [];
  /** Answers that change nothing but were decided on this unit's state, or an earlier one's. */
  readonly waiting: Envelope[] = [];
  /** Callers that an earlier turn deferred and a turn of this unit answers. */
  deferredAnswers: DeferredAnswer[] | null = null;

  constructor(activation: Activation, unit: TurnUnit) {
    this.kind = activation.kind.name;
    this.id = activation.id;
    this.activation = activation;
    this.unit = unit;
  }
}

export type DeferredAnswer = { key: string; envelope: Envelope; error: unknown; reply: unknown };
