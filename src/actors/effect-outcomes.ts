/**
 * Delivers outcomes of effects to their actors, on this node or another.
 *
 * E4 The outcome is delivered until the actor has committed it, on any node. If it cannot be taken (no room, a moving shard, an unreachable
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
import { aboutEffect } from './effect-run.ts';
import { newEnvelope } from './envelope.ts';
import { askOwner } from './remote-asks.ts';

/** An effect that this node runs or will run. */
export type InFlightEffect = {
  effect: EffectDraft;
  controller: AbortController;
  tookMs: number;
  isSuspect: boolean;
  hasBegun: boolean;
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
const shortestPauseMs = 250;
const longestPauseMs = 5_000;

export class EffectOutcomes {
  private readonly parts: EffectOutcomesParts;

  constructor(parts: EffectOutcomesParts) {
    this.parts = parts;
  }

  /** @param triedSinceMs monotonic time of the first delivery */
  deliver(held: InFlightEffect, definition: EffectDefinition, outcome: EffectOutcome, triedSinceMs = performance.now()): void {
    const { effect } = held;
    const { system, placement, clock, isOver, release } = this.parts;
    if (isOver(held)) return;
    const isAbandoned = outcome.kind === 'failed' && outcome.abandoned === true;
    const again = () => {
      const pauseMs = elapsedBackoffMs(performance.now() - triedSinceMs, shortestPauseMs, longestPauseMs);
      setTimeout(() => this.deliver(held, definition, outcome, triedSinceMs), pauseMs).unref();
    };
    if (placement.epochOf(effect.shard) === null) {
      // The shard's owner abandons it, together with its dead letter.
      if (isAbandoned) return release(effect.id);
      return void this.forward(held, definition, outcome, again);
    }
    const input = { effectId: effect.id, outcome, tookMs: held.tookMs };
    const envelope = newEnvelope(definition.outcome, input, Infinity, null, { kind: 'effect', id: effect.id }, effect.trace ?? null);
    if (isAbandoned) envelope.deadLetter = deadLetterOf(effect, clock.nowMs());
    envelope.resolve = () => release(effect.id);
    envelope.reject = again;
    if (!system.deliver(effect.kind, effect.actorId, envelope)) again();
  }

  /** Delivers the outcome to the node that owns the actor's shard now, which may be this one again. */
  private async forward(held: InFlightEffect, definition: EffectDefinition, outcome: EffectOutcome, again: () => void): Promise<void> {
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
    const gaveUp = () => isOver(held) || monotonicMs() >= deadlineMs;
    try {
      const answer = await askOwner(placement, shard, ask, gaveUp, () => {});
      if (answer !== 'here' && answer !== 'given up') return release(id);
    } catch (error) {
      log.debug({ ...aboutEffect(held.effect), err: error }, 'an outcome could not be delivered to its actor yet; retrying');
    }
    again();
  }
}
