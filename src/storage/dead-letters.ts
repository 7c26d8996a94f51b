/**
 * Operators' actions on dead letters. Each action is one statement that also records it in `dead_letter_action`. So two operators, or a
 * repeated action after an interruption, never put a dead letter back twice.
 */
import type { DeadLetterSource } from './commit-unit.ts';
import type { Database } from './database.ts';

export type DeadLetter = {
  id: string;
  kind: string;
  actorId: string;
  command: string;
  source: DeadLetterSource;
  /** The id of the message or effect, the name of the timer; null if the version that wrote the row did not record it. */
  sourceId: string | null;
  attempts: number | null;
  error: string;
  /** Size of the input as JSON. */
  sizeBytes: number;
  createdAt: number;
  /** Null if it was not requested, or is too large for a list. */
  input: unknown;
};
export type DeadLetterAction = {
  letterId: string;
  action: 'retry' | 'discard';
  kind: string;
  actorId: string;
  command: string;
  error: string;
  attempts: number | null;
  actedBy: string;
  actedAt: number;
};

/** Larger inputs are not read for a list. */
const maxListedBytes = 100_000;

/** Versions before 0027 wrote no source: there, an abandoned effect is recognised by its command. */
const columns = `id, kind, actor_id as "actorId", command, coalesce(source, case when command like 'effect %' then 'effect' else 'message' end) as source,
  source_id as "sourceId", attempts, error, octet_length(input::text) as "sizeBytes", created_at as "createdAt"`;

/** The newest first, and the total number. */
export async function listDeadLetters(
  database: Database,
  kind: string | null,
  limit: number,
): Promise<{ letters: DeadLetter[]; total: number }> {
  const where = 'where $1::text is null or kind = $1';
  const [listed, counted] = await Promise.all([
    database.read({
      text: `select ${columns}, case when octet_length(input::text) <= ${maxListedBytes} then input end as input
        from dead_letter ${where} order by id desc limit $2`,
      values: [kind, limit],
    }),
    database.read({ text: `select count(*)::int as n from dead_letter ${where}`, values: [kind] }),
  ]);
  return { letters: listed.rows, total: counted.rows[0].n };
}

export async function readDeadLetter(database: Database, id: string): Promise<DeadLetter | null> {
  const { rows } = await database.read({ text: `select ${columns}, input from dead_letter where id = $1`, values: [id] });
  return rows[0] ?? null;
}

/**
 * Puts it back as a message to its actor, under its own id: the actor's commit deletes the message, so it is consumed once. For a timer or
 * an outcome the message has the same command and input. False: the dead letter no longer exists.
 */
export async function retryDeadLetter(database: Database, { id }: DeadLetter, shard: number, actedBy: string): Promise<boolean> {
  const { rows } = await database.write({
    text: `with letter as (delete from dead_letter where id = $1 returning *),
      ${recorded('retry', '$2')},
      message as (insert into message (id, shard, kind, actor_id, command, input, created_at)
        select id, $3::int, kind, actor_id, command, input, now() from letter)
      select id from letter`,
    values: [id, actedBy, shard],
  });
  return rows.length === 1;
}

/** Deletes it. False: it no longer exists. */
export async function discardDeadLetter(database: Database, { id }: DeadLetter, actedBy: string): Promise<boolean> {
  const { rows } = await database.write({
    text: `with letter as (delete from dead_letter where id = $1 returning *), ${recorded('discard', '$2')} select id from letter`,
    values: [id, actedBy],
  });
  return rows.length === 1;
}

/** The newest first. */
export async function deadLetterActions(database: Database, letterId: string | null, limit: number): Promise<DeadLetterAction[]> {
  const { rows } = await database.read({
    text: `select letter_id as "letterId", action, kind, actor_id as "actorId", command, error, attempts, acted_by as "actedBy", acted_at as "actedAt"
      from dead_letter_action where $1::text is null or letter_id = $1 order by id desc limit $2`,
    values: [letterId, limit],
  });
  return rows;
}

function recorded(action: DeadLetterAction['action'], actedBy: string): string {
  return `acted as (insert into dead_letter_action (letter_id, action, kind, actor_id, command, error, attempts, acted_by)
    select id, '${action}', kind, actor_id, command, error, attempts, ${actedBy} from letter)`;
}
