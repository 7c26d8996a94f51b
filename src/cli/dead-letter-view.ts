/** Dead letters as text and as JSON. Their content is untrusted, so none of it may control the terminal. */
import type { DeadLetter, DeadLetterAction } from '../storage/dead-letters.ts';
import { fileSize, oneLine, plainText } from './plain-text.ts';

export function letterLine(letter: DeadLetter): string {
  const { id, createdAt, source, sizeBytes, error } = letter;
  const columns = [id, timeOf(createdAt), source.padEnd(7), addressOf(letter), triesOf(letter), fileSize(sizeBytes), oneLine(error, 120)];
  return columns.join('  ');
}

export function letterText(letter: DeadLetter, payload: { payload: unknown } | null): string {
  const { id, createdAt, source, sourceId, sizeBytes, error } = letter;
  const lines: [string, string][] = [
    ['id', id],
    ['since', timeOf(createdAt)],
    ['what', `${source}${sourceId === null ? '' : ` ${oneLine(sourceId, 100)}`}`],
    ['actor', `${oneLine(letter.kind, 60)}/${oneLine(letter.actorId, 200)}`],
    ['command', oneLine(letter.command, 100)],
    ['tries', triesOf(letter)],
    ['size', fileSize(sizeBytes)],
    ['error', plainText(error)],
  ];
  const text = lines.map(([name, value]) => `${name.padEnd(9)}${value}`).join('\n');
  return payload === null ? text : `${text}\npayload with masked texts\n${plainText(JSON.stringify(payload.payload, null, 2))}`;
}

export function letterJson({ id, createdAt, source, sourceId, kind, actorId, command, attempts, sizeBytes, error }: DeadLetter) {
  return {
    id,
    created_at: new Date(createdAt).toISOString(),
    source,
    source_id: sourceId,
    actor: { kind, id: actorId },
    command,
    attempts,
    size_bytes: sizeBytes,
    error,
  };
}

export function actionLine(action: DeadLetterAction): string {
  return [action.letterId, timeOf(action.actedAt), action.action.padEnd(7), addressOf(action), oneLine(action.actedBy, 60)].join('  ');
}

export function actionJson({ letterId, action, kind, actorId, command, attempts, actedBy, actedAt }: DeadLetterAction) {
  const acted = { by: actedBy, at: new Date(actedAt).toISOString() };
  return { id: letterId, action, actor: { kind, id: actorId }, command, attempts, ...acted };
}

function addressOf({ kind, actorId, command }: { kind: string; actorId: string; command: string }): string {
  return `${oneLine(kind, 60)}/${oneLine(actorId, 60)} ${oneLine(command, 60)}`;
}

function triesOf({ attempts }: DeadLetter): string {
  return attempts === null ? 'some tries' : attempts === 1 ? '1 try' : `${attempts} tries`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
