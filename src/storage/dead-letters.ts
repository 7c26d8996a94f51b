/**
 * What operators do with dead letters. Each act is one statement, so that two operators, or an act that is cut off and done again, never put one
 * back twice; the same statement records it in `dead_letter_action`.
 */
import type { DeadLetterSource } from './commit-unit.ts';
import type { Database } from './database.ts';

export type DeadLetter = {
  id: string;
  kind: string;
  actorId: string;
  command: string;
  source: DeadLetterSource;
  /** The id of the message or the effect, the name of the timer; null where the version that wrote the row did not say. */
  sourceId: string | null;
  attempts: number | null;
  error: string;
  /** Of the input as JSON. */
  sizeBytes: number;
  createdAt: number;
  /** Null where it was not asked for, or is too large to be looked through. */
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
const longestListedBytes = 100_000;

/** Versions before 0027 wrote no source: an effect that was given up is told by its command. */
const columns = `id, kind, actor_id as "actorId", command, coalesce(source, case when command like 'effect %' then 'effect' else 'message' end) as source,
  source_id as "sourceId", attempts, error, octet_length(input::text) as "sizeBytes", created_at as "createdAt"`;

/** The newest first, and how many there are in all. */
export async function listDeadLetters(
  database: Database,
  kind: string | null,
  limit: number,
): Promise<{ letters: DeadLetter[]; total: number }> {
  const where = 'where $1::text is null or kind = $1';
  const [listed, counted] = await Promise.all([
    database.read({
      text: `select ${columns}, case when octet_length(input::text) <= ${longestListedBytes} then input end as input
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
 * Puts it back as a message to its actor, under its own id: the actor's commit deletes that row, so it is taken once. What a timer or an outcome
 * would have run is the same command with the same input. False: it is gone meanwhile.
 *
 * @param shard of its actor
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

/** Removes it for good. False: it is gone already. */
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
