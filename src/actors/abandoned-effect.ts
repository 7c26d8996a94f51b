/** An effect whose process died too often: its actor gets `failed`, and it is kept as a dead letter. */
import { idPrefixes, newId } from '../ids.ts';
import type { DeadLetterDraft, EffectDraft } from '../storage/commit-unit.ts';

/**
 * An effect that was started this often, each time by a process that died before the effect ended, is not started again. Four kills of the
 * node for other reasons do not lose the effect.
 */
export const maxStarts = 5;
/** Longer than the life of a process that crashes in a loop right after its start. */
export const suspectPauseMs = 2_000;
/** After this time the next suspect may start: an effect that kills its process mostly does so at once. */
export const isolatedMs = 5_000;

export const abandonedMessage = `This step was started ${maxStarts} times, and each time the node that ran it stopped. It is not started again.`;

/** Keeps the recorded effect with its input, the most likely cause. */
export function deadLetterOf({ id: sourceId, kind, actorId, name, input }: EffectDraft, nowMs: number): DeadLetterDraft {
  const id = newId(idPrefixes.message, actorId, nowMs);
  const origin = { source: 'effect', sourceId, attempts: maxStarts } as const;
  return { id, ...origin, kind, actorId, command: `effect ${name}`, input, error: abandonedMessage, createdAt: nowMs };
}
