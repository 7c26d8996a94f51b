/** The dead letter for durable work that its actor could not take. */
import { idPrefixes, newId } from '../ids.ts';
import type { DeadLetterDraft, DeadLetterSource } from '../storage/commit-unit.ts';
import type { Activation } from './activation.ts';
import type { Envelope, Source } from './envelope.ts';

const maxErrorChars = 2_000;

export function deadLetterDraft({ kind, id: actorId }: Activation, envelope: Envelope, reason: Error, nowMs: number): DeadLetterDraft {
  const { command, input, failures } = envelope;
  return {
    id: newId(idPrefixes.message, actorId, nowMs),
    ...originOf(envelope.source),
    kind: kind.name,
    actorId,
    command,
    input,
    attempts: failures,
    error: storable(String(reason)),
    createdAt: nowMs,
  };
}

function originOf(source: Source): { source: DeadLetterSource; sourceId: string } {
  if (source.kind === 'timer') return { source: 'timer', sourceId: source.name };
  if (source.kind === 'message' || source.kind === 'effect')
    return { source: source.kind === 'effect' ? 'outcome' : 'message', sourceId: source.id };
  throw new Error(`A ${source.kind} is not durable work`);
}

/** PostgreSQL refuses NUL and lone surrogates; the text of an error must not keep the dead letter from being stored. */
function storable(text: string): string {
  return text.replaceAll('\0', '').slice(0, maxErrorChars).toWellFormed();
}
