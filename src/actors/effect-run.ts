/** One run of one effect: limited in time, abortable, always with an outcome. */
import { AppError, mayHaveHappened } from '../errors.ts';
import type { Log } from '../log.ts';
import type { EffectDraft } from '../storage/commit-unit.ts';
import { encodeJson } from '../storage/table.ts';
import { traceFields } from '../trace-fields.ts';
import type { EffectDefinition, EffectOutcome } from './define-actor.ts';
import { inputMismatch } from './durable-input.ts';

/**
 * Never rejects. An effect that ignores its signal keeps running, but its slot is released at its time limit and a late result is ignored.
 * Null: it was stopped because this node stops, and may run again elsewhere.
 *
 * @param repeatable if false, only a failure that the effect itself reports is `failed`: an effect that was stopped (by its time limit or
 *   with the node) or that threw unexpectedly may have acted, and is `unknown`
 */
export async function runEffect(
  effect: EffectDraft,
  definition: EffectDefinition,
  controller: AbortController,
  { log, repeatable, isRepeat, releaseSlot }: { log: Log; repeatable: boolean; isRepeat: boolean; releaseSlot(): void },
): Promise<EffectOutcome | null> {
  const fault = inputMismatch(definition.input, effect.input);
  if (fault !== null) {
    log.error({ ...effectLogFields(effect), fault }, 'the input of an effect does not match its schema');
    return { kind: 'failed', message: 'It was asked for in a form that is not known here' };
  }
  const { signal } = controller;
  const timeout = setTimeout(
    () => controller.abort(new AppError('unavailable', `No answer within ${definition.timeoutMs / 1000} seconds`)),
    definition.timeoutMs,
  );
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  aborted.catch(() => {});
  try {
    const run = definition.run(effect.input, { actorId: effect.actorId, effectId: effect.id, isRepeat, signal, releaseSlot });
    const value = await Promise.race([run, aborted]);
    // The outcome is stored as JSON: a value that cannot be stored fails here, not in the actor's commit.
    if (value !== undefined) encodeJson(value);
    return { kind: 'done', value };
  } catch (error) {
    const code = error instanceof AppError ? error.code : 'internal';
    const message = error instanceof AppError && code !== 'internal' ? error.message : 'It failed unexpectedly';
    if (code === 'internal') log.error({ ...effectLogFields(effect), err: error }, 'an effect failed unexpectedly');
    if (mayHaveHappened(error)) return { kind: 'unknown' };
    if (code === 'draining') return repeatable ? null : { kind: 'unknown' };
    const isExplicitFailure = code !== 'internal' && !signal.aborted;
    return repeatable || isExplicitFailure ? { kind: 'failed', message } : { kind: 'unknown' };
  } finally {
    clearTimeout(timeout);
  }
}

/** False where the definition throws. */
export function isRepeatable(definition: EffectDefinition, input: unknown, log: Log): boolean {
  try {
    return definition.repeatable(input);
  } catch (error) {
    log.error({ err: error }, 'the check whether an effect is repeatable threw; it is not repeated');
    return false;
  }
}

/** The fields of every log line about an effect. */
export function effectLogFields(effect: EffectDraft): object {
  return { effect: effect.name, kind: effect.kind, id: effect.actorId, ...traceFields(effect.trace) };
}
