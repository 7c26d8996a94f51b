/**
 * Delivers outcomes of effects to their actors, on this node or another.
 *
 * E4 The outcome is delivered until the actor has committed it, on any node. If it cannot be taken (a full mailbox, a moving shard, an unreachable
 *    node), it is delivered again after growing pauses.
 */

import { elapsedBackoffMs } from '../backoff.ts';
import { type Clock, monotonicMs } from '../clock.ts';
import type { Placement } from '../cluster/placement.ts';
import type { Log } from '../log.ts';
import type { EffectDraft } from '../storage/commit-unit.ts';
import { deadLetterOf } from './abandoned-effect.ts';
import type { ActorSystem } from './actor-system.ts';
import type { EffectDefinition, EffectOutcome } from './define-actor.ts';
import { effectLogFields } from './effect-run.ts';
import { newEnvelope } from './envelope.ts';
import { askOwner } from './remote-asks.ts';

/** An effect that this node runs or will run. */
export type InFlightEffect = {
  effect: EffectDraft;
  controller: AbortController;
  tookMs: number;
  isSuspect: boolean;
  /** E5: a suspect that was restarted before; it runs in the lane of suspects. */
  isAlone: boolean;
  hasBegun: boolean;
  /** Resolves with whether its start is committed; null: not asked for, or refused. */
  mark: Promise<boolean> | null;
};

export type EffectOutcomesParts = {
  system: ActorSystem;
  placement: Placement;
  clock: Clock;
  log: Log;
  /** It was cancelled, or this node stops: its outcome is ignored. */
  isOver(held: InFlightEffect): boolean;
  release(effectId: string): void;
};

/** Timeout of one try to deliver an outcome to another node. */
const forwardTimeoutMs = 10_000;
const minPauseMs = 250;
const maxPauseMs = 5_000;

export class EffectOutcomes {
  private readonly parts: EffectOutcomesParts;

  constructor(parts: EffectOutcomesParts) {
    this.parts = parts;
  }

  /** @param firstTryMs monotonic time of the first delivery */
  deliver(held: InFlightEffect, definition: EffectDefinition, outcome: EffectOutcome, firstTryMs = performance.now()): void {
    const { effect } = held;
    const { system, placement, clock, isOver, release } = this.parts;
    if (isOver(held)) return;
    const isAbandoned = outcome.kind === 'failed' && outcome.abandoned === true;
    const retry = () => {
      const pauseMs = elapsedBackoffMs(performance.now() - firstTryMs, minPauseMs, maxPauseMs);
      setTimeout(() => this.deliver(held, definition, outcome, firstTryMs), pauseMs).unref();
    };
    if (placement.epochOf(effect.shard) === null) {
      // The shard's owner abandons it, together with its dead letter.
      if (isAbandoned) return release(effect.id);
      return void this.forward(held, definition, outcome, retry);
    }
    const input = { effectId: effect.id, outcome, tookMs: held.tookMs };
    const envelope = newEnvelope(definition.outcome, input, Infinity, null, { kind: 'effect', id: effect.id }, effect.trace ?? null);
    if (isAbandoned) envelope.deadLetter = deadLetterOf(effect, clock.nowMs());
    envelope.resolve = () => release(effect.id);
    envelope.reject = retry;
    if (!system.deliver(effect.kind, effect.actorId, envelope)) retry();
  }

  /** Delivers the outcome to the node that owns the actor's shard now, which may be this one again. */
  private async forward(held: InFlightEffect, definition: EffectDefinition, outcome: EffectOutcome, retry: () => void): Promise<void> {
    const { shard, kind, actorId, id } = held.effect;
    const { placement, log, isOver, release } = this.parts;
    const deadlineMs = monotonicMs() + forwardTimeoutMs;
    const input = { effectId: id, outcome, tookMs: held.tookMs };
    const trace = held.effect.trace ?? null;
    const ask = {
      kind,
      id: actorId,
      name: definition.outcome,
      input,
      query: false,
      repeat: false,
      deadlineMs,
      commandId: null,
      effectId: id,
      trace,
    };
    const isAbandonedHere = () => isOver(held) || monotonicMs() >= deadlineMs;
    try {
      const answer = await askOwner(placement, shard, ask, isAbandonedHere, () => {});
      if (answer !== 'local' && answer !== 'abandoned') return release(id);
    } catch (error) {
      log.debug({ ...effectLogFields(held.effect), err: error }, 'an outcome could not be delivered to its actor yet; retrying');
    }
    retry();
  }
}
