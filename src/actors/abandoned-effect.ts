/** What becomes of an effect that has ended the process that ran it too often: its actor is told, and a person finds it as a dead letter. */
import { idPrefixes, newId } from '../ids.ts';
import type { DeadLetterDraft, EffectDraft } from '../storage/commit-unit.ts';

/**
 * An effect that was begun this often, each time by a process that died before it had ended, is not begun again. A healthy node that is killed
 * by others while one effect runs, four times in a row, loses nothing.
 */
export const maxStarts = 5;
/** Longer than the lives of a process that is killed again and again right after its starts. */
export const suspectPauseMs = 2_000;
/** A suspect that has run for so long keeps the next one waiting no longer: what ends its process mostly does so at once. */
export const isolatedMs = 5_000;

export const abandonedBecause = `This step was started ${maxStarts} times, and each time the node that ran it stopped. It is not started again.`;

/** The effect itself, as it was recorded: what made the process end is most likely in its input. */
export function deadLetterOf({ id: sourceId, kind, actorId, name, input }: EffectDraft, nowMs: number): DeadLetterDraft {
  const id = newId(idPrefixes.message, nowMs);
  const origin = { source: 'effect', sourceId, attempts: maxStarts } as const;
  return { id, ...origin, kind, actorId, command: `effect ${name}`, input, error: abandonedBecause, createdAt: nowMs };
}
