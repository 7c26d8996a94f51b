/** `troupe dead-letter`: messages that actors could not take, shown without secrets, put back, or removed. */
import { shardOf } from '../cluster/address.ts';
import type { Config } from '../config.ts';
import { secretsOf } from '../log-secrets.ts';
import type { Database } from '../storage/database.ts';
import {
  type DeadLetter,
  deadLetterActions,
  discardDeadLetter,
  listDeadLetters,
  readDeadLetter,
  retryDeadLetter,
} from '../storage/dead-letters.ts';
import { type DeadLetterOptions, deadLetterHelp, readDeadLetterOptions } from './dead-letter-options.ts';
import { actionJson, actionLine, letterJson, letterLine, letterText } from './dead-letter-view.ts';
import { exitCodes, Failure } from './failure.ts';
import { withDatabase } from './find-database.ts';
import { maskedError, maskedPayload } from './masked-payload.ts';
import { operatorName } from './operator.ts';
import { oneLine } from './plain-text.ts';

/** The exit code; throws `Failure`. */
export async function deadLetter(args: string[], config: Config): Promise<number> {
  const options = readDeadLetterOptions(args);
  if (options === 'help') {
    process.stdout.write(`${deadLetterHelp}\n`);
    return exitCodes.complete;
  }
  await withDatabase(config, (database) => carryOut(database, options, secretsOf(config)));
  return exitCodes.complete;
}

async function carryOut(database: Database, options: DeadLetterOptions, secrets: readonly string[]): Promise<void> {
  const json = options.output === 'json';
  const withoutSecrets = (letter: DeadLetter): DeadLetter => ({ ...letter, error: maskedError(letter.error, letter.input, secrets) });
  switch (options.kind) {
    case 'list': {
      const { letters, total } = await listDeadLetters(database, options.actorKind, options.limit);
      const shown = letters.map(withoutSecrets);
      if (json) return print(JSON.stringify({ dead_letters: shown.map(letterJson), total }));
      const counted = `${total} dead letter${total === 1 ? '' : 's'}${total > shown.length ? `, the newest ${shown.length} shown` : ''}`;
      return print([...shown.map(letterLine), counted].join('\n'));
    }
    case 'show': {
      const letter = withoutSecrets(await mustFind(database, options.id));
      const payload = options.payload ? { payload: maskedPayload(letter.input) } : null;
      return print(json ? JSON.stringify({ ...letterJson(letter), ...payload }) : letterText(letter, payload));
    }
    case 'log': {
      const actions = await deadLetterActions(database, null, options.limit);
      return print(
        json
          ? JSON.stringify({ actions: actions.map(actionJson) })
          : actions.map(actionLine).join('\n') || 'No dead letter was retried or discarded',
      );
    }
    default:
      return actOnAll(database, options);
  }
}

async function actOnAll(database: Database, { kind, ids, output }: Extract<DeadLetterOptions, { ids: string[] }>): Promise<void> {
  const done: string[] = [];
  const refused: string[] = [];
  for (const id of ids) {
    try {
      await act(database, kind, id);
      done.push(id);
      if (output === 'human') print(kind === 'retry' ? `${id} is sent to its actor again` : `${id} is deleted`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      refused.push(error.message);
    }
  }
  if (output === 'json') print(JSON.stringify({ [kind === 'retry' ? 'retried' : 'discarded']: done, refused }));
  if (refused.length > 0) throw new Failure('refused', refused.join('\n'));
}

async function act(database: Database, kind: 'retry' | 'discard', id: string): Promise<void> {
  const letter = await mustFind(database, id);
  if (kind === 'retry' && letter.source === 'effect')
    throw new Failure(
      'refused',
      `${id} is an effect that crashed its processes; its actor already has the failure. It can only be discarded`,
    );
  const actedBy = operatorName();
  const isDone =
    kind === 'retry'
      ? await retryDeadLetter(database, letter, shardOf(letter.kind, letter.actorId), actedBy)
      : await discardDeadLetter(database, letter, actedBy);
  if (!isDone) throw await unknown(database, id);
}

async function mustFind(database: Database, id: string): Promise<DeadLetter> {
  const letter = await readDeadLetter(database, id);
  if (letter === null) throw await unknown(database, id);
  return letter;
}

async function unknown(database: Database, id: string): Promise<Failure> {
  const [acted] = await deadLetterActions(database, id, 1);
  const name = oneLine(id, 60);
  if (acted === undefined) return new Failure('refused', `There is no dead letter ${name}: see dead-letter list`);
  const what = acted.action === 'retry' ? 'retried' : 'discarded';
  return new Failure(
    'refused',
    `${name} is no longer a dead letter: ${acted.actedBy} ${what} it at ${new Date(acted.actedAt).toISOString()}`,
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
