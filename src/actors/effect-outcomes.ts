/**
 * Outcomes of effects on their way to the actors that wait for them, on this node or another.
 *
 * E4 The outcome is delivered until the actor, wherever it lives by then, has committed it. What keeps it from being taken (no room, a move, a
 *    node that is not reached) may last: it comes again after growing pauses.
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
import { askElsewhere } from './elsewhere.ts';
import { newEnvelope } from './envelope.ts';

/** An effect that this node has in hand. */
export type HeldEffect = {
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
  /** Nobody waits for its outcome here any more. */
  isOver(held: HeldEffect): boolean;
  letGo(effectId: string): void;
};

/** How long one try to bring an outcome to another node may take. */
const forwardTimeoutMs = 10_000;
const shortestPauseMs = 250;
const longestPauseMs = 5_000;

export class EffectOutcomes {
  private readonly parts: EffectOutcomesParts;

  constructor(parts: EffectOutcomesParts) {
    this.parts = parts;
  }

  /** @param triedSinceMs monotonic; when it was first to be delivered */
  deliver(held: HeldEffect, definition: EffectDefinition, outcome: EffectOutcome, triedSinceMs = performance.now()): void {
    const { effect } = held;
    const { system, placement, clock, isOver, letGo } = this.parts;
    if (isOver(held)) return;
    const isAbandoned = outcome.kind === 'failed' && outcome.abandoned === true;
    const again = () => {
      const pauseMs = elapsedBackoffMs(performance.now() - triedSinceMs, shortestPauseMs, longestPauseMs);
      setTimeout(() => this.deliver(held, definition, outcome, triedSinceMs), pauseMs).unref();
    };
    if (placement.epochOf(effect.shard) === null) {
      // Whoever has the shard now abandons it, with the dead letter that belongs to it.
      if (isAbandoned) return letGo(effect.id);
      return void this.forward(held, definition, outcome, again);
    }
    const input = { effectId: effect.id, outcome, tookMs: held.tookMs };
    const envelope = newEnvelope(definition.outcome, input, Infinity, null, { kind: 'effect', id: effect.id }, effect.trace ?? null);
    if (isAbandoned) envelope.deadLetter = deadLetterOf(effect, clock.nowMs());
    envelope.resolve = () => letGo(effect.id);
    envelope.reject = again;
    if (!system.deliver(effect.kind, effect.actorId, envelope)) again();
  }

  /** Brings the outcome to the node where the actor lives now; back here, should that be this one again. */
  private async forward(held: HeldEffect, definition: EffectDefinition, outcome: EffectOutcome, again: () => void): Promise<void> {
    const { shard, kind, actorId, id } = held.effect;
    const { placement, log, isOver, letGo } = this.parts;
    const deadlineMs = monotonicMs() + forwardTimeoutMs;
    const input = { effectId: id, outcome, tookMs: held.tookMs };
    const trace = held.effect.trace ?? null;
    const ask = { kind, id: actorId, name: definition.outcome, input, query: false, deadlineMs, commandId: null, effectId: id, trace };
    const gaveUp = () => isOver(held) || monotonicMs() >= deadlineMs;
    try {
      const answer = await askElsewhere(placement, shard, ask, gaveUp, () => {});
      if (answer !== 'here' && answer !== 'given up') return letGo(id);
    } catch (error) {
      log.debug({ ...aboutEffect(held.effect), err: error }, 'an outcome could not be brought to its actor yet; trying again');
    }
    again();
  }
}
