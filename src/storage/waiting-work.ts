/**
 * Messages and timers that have waited long, by name, and how an operator sets those of one name aside: each becomes a dead letter, in one
 * statement. If its actor takes it at the same moment, only one of the two happens.
 */
import { idPrefixes, newId } from '../ids.ts';
import type { Database } from './database.ts';

/** Effects are not moved: their actors wait for an outcome, which has no other source. */
export type DurableTable = 'message' | 'timer' | 'effect';
export type WaitingWork = { place: DurableTable; kind: string; name: string; rows: number; oldestS: number };
export type WorkName = { place: 'message' | 'timer'; kind: string; command: string };

/** At most so many rows of each table are counted. */
export const countedAtMost = 100_000;

export async function listWaitingWork(database: Database, minutes: number): Promise<WaitingWork[]> {
  const { rows } = await database.read({
    text: `${(['message', 'timer', 'effect'] as const).map(countText).join(' union all ')} order by place, kind, name`,
    values: [minutes],
  });
  return rows;
}

/** Makes dead letters of the oldest waiting rows, at most `atMost`. Returns how many. */
export async function moveToDeadLetters(
  database: Database,
  of: WorkName,
  minutes: number,
  actedBy: string,
  atMost: number,
): Promise<number> {
  const { place, kind, command } = of;
  const since = place === 'timer' ? 'due_at' : 'created_at';
  const id = place === 'timer' ? 'name' : 'id';
  const { rows: found } = await database.read({
    text: `select actor_id as "actorId", ${id} as id from ${place} where kind = $1 and command = $2 and ${since} < now() - make_interval(mins => $3)
      order by ${since} limit $4`,
    values: [kind, command, minutes, atMost],
  });
  let count = 0;
  for (const { actorId, id: sourceId } of found) {
    const letterId = newId(idPrefixes.message, actorId);
    const error = `Put aside by ${actedBy}: no node had taken it`;
    const { rows } = await database.write({
      text: `with deleted as (delete from ${place} where kind = $1 and command = $2 and actor_id = $3 and ${id} = $4
          and ${since} < now() - make_interval(mins => $5) returning *)
        insert into dead_letter (id, kind, actor_id, command, input, error, source, source_id, attempts, created_at)
        select $6, kind, actor_id, command, input, $7, '${place}', $4, 0, now() from deleted returning id`,
      values: [kind, command, actorId, sourceId, minutes, letterId, error],
    });
    count += rows.length;
  }
  return count;
}

function countText(place: DurableTable): string {
  const name = place === 'effect' ? 'name' : 'command';
  const since = place === 'timer' ? 'due_at' : 'created_at';
  // An effect that was started is running.
  const more = place === 'effect' ? 'and started_by is null' : '';
  return `select '${place}' as place, kind, name, count(*)::int as rows, extract(epoch from now() - min(since))::float8 as "oldestS"
    from (select kind, ${name} as name, ${since} as since from ${place} where ${since} < now() - make_interval(mins => $1) ${more}
      limit ${countedAtMost}) w group by kind, name`;
}
