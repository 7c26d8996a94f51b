/** One run of one effect: bounded in time, abortable, and every end of it an outcome. */
import { AppError, mayHaveHappened } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { EffectDraft } from '../../storage/commit-unit.ts';
import { encodeJson } from '../../storage/table.ts';
import { traceFields } from '../../trace-fields.ts';
import type { EffectDefinition, EffectOutcome } from './define-actor.ts';

/** Never rejects. An effect that ignores its signal is left to itself: its place is free when its time is up. */
export async function runEffect(
  effect: EffectDraft,
  definition: EffectDefinition,
  controller: AbortController,
  log: Log,
): Promise<EffectOutcome> {
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
    if (mayHaveHappened(error)) return { kind: 'unknown' };
    if (error instanceof AppError && error.code !== 'internal') return { kind: 'failed', message: error.message };
    log.error({ ...aboutEffect(effect), err: error }, 'an effect failed unexpectedly');
    return { kind: 'failed', message: 'It failed unexpectedly' };
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
