/** One run of one effect: bounded in time, abortable, and every end of it an outcome. */
import { AppError, mayHaveHappened } from '../errors.ts';
import type { Log } from '../log.ts';
import type { EffectDraft } from '../storage/commit-unit.ts';
import { encodeJson } from '../storage/table.ts';
import { traceFields } from '../trace-fields.ts';
import type { EffectDefinition, EffectOutcome } from './define-actor.ts';
import { faultOf } from './durable-input.ts';

/**
 * Never rejects. An effect that ignores its signal is left to itself: its place is free when its time is up. Null: it was stopped because this
 * node stops, and may run again elsewhere.
 *
 * @param repeatable where it is not, only its own word that it failed is told as `failed`: what was stopped, by its time limit or with the
 *   node, or went wrong unexpectedly, may have been done, and is told as `unknown`
 */
export async function runEffect(
  effect: EffectDraft,
  definition: EffectDefinition,
  controller: AbortController,
  { log, repeatable }: { log: Log; repeatable: boolean },
): Promise<EffectOutcome | null> {
  const fault = faultOf(definition.input, effect.input);
  if (fault !== null) {
    log.error({ ...aboutEffect(effect), fault }, 'an effect has an input that does not fit');
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
    const run = definition.run(effect.input, { actorId: effect.actorId, effectId: effect.id, signal });
    const value = await Promise.race([run, aborted]);
    // An outcome is kept like any other input: what cannot be written is found out here, not in the actor's commit.
    if (value !== undefined) encodeJson(value);
    return { kind: 'done', value };
  } catch (error) {
    const code = error instanceof AppError ? error.code : 'internal';
    const message = error instanceof AppError && code !== 'internal' ? error.message : 'It failed unexpectedly';
    if (code === 'internal') log.error({ ...aboutEffect(effect), err: error }, 'an effect failed unexpectedly');
    if (mayHaveHappened(error)) return { kind: 'unknown' };
    if (code === 'draining') return repeatable ? null : { kind: 'unknown' };
    const isItsOwnWord = code !== 'internal' && !signal.aborted;
    return repeatable || isItsOwnWord ? { kind: 'failed', message } : { kind: 'unknown' };
  } finally {
    clearTimeout(timeout);
  }
}

/** What cannot be told is not repeated. */
export function isRepeatable(definition: EffectDefinition, input: unknown, log: Log): boolean {
  try {
    return definition.repeatable(input);
  } catch (error) {
    log.error({ err: error }, 'whether an effect may be repeated could not be told');
    return false;
  }
}

/** What every log line about an effect says of it. */
export function aboutEffect(effect: EffectDraft): object {
  return { effect: effect.name, kind: effect.kind, id: effect.actorId, ...traceFields(effect.trace) };
}
