/**
 * Removes snapshots that no deployment needs. A deployment needs its own until 30 days after its end; the one that is live needs them until 30
 * days after a newer one of its configuration is. No deployment names a snapshot whose step was repeated: it is removed when it is a day old,
 * so that a snapshot whose deployment is about to reference it is not affected. The sweep of orphaned contents removes their contents afterwards.
 */
import type { Clock } from '../../../clock.ts';
import type { HousekeepingJob } from '../../../storage/maintenance.ts';
import { keptForMs } from '../retention.ts';

const minAgeMs = 24 * 3_600_000;
/** A walk reads all snapshots. */
const walkEveryMs = 6 * 3_600_000;
/** A snapshot may have as many rows as a site has files. */
const pieceSnapshots = 50;

const isLive = (name: string) => `${name}.status = 'live' and ${name}.mode = 'live'`;
const isNewest = `${isLive('d')} and not exists (select from deployment n
  where n.config_id = d.config_id and ${isLive('n')} and n.completed_at > d.completed_at and n.completed_at < $4)`;
/** A deployment that published nothing cannot be repeated. */
const needsIt = `(d.completed_at is null or (d.site_id is not null and (d.completed_at >= $4 or ${isNewest})))`;

export function unneededSnapshots(clock: Clock): HousekeepingJob {
  let after = '';
  return {
    name: 'unneeded snapshots',
    everyMs: walkEveryMs,
    pieceRows: pieceSnapshots,
    async runBatch(limit, client) {
      const { rows } = await client.query<{ id: string; unneeded: boolean }>(
        `select s.id, s.created_at < $3 and not exists (select from deployment d where d.snapshot_id = s.id and ${needsIt})
            and not exists (select from deployment d where d.site_id = s.id and ${needsIt}) as unneeded
          from snapshot s where s.id > $1 order by s.id limit $2`,
        [after, limit, new Date(clock.nowMs() - minAgeMs), new Date(clock.nowMs() - keptForMs)],
      );
      after = rows.length < limit ? '' : rows.at(-1)!.id;
      const unneeded = rows.filter((row) => row.unneeded).map(({ id }) => id);
      if (unneeded.length > 0) {
        const text = 'with files as (delete from snapshot_file where snapshot_id = any($1)) delete from snapshot where id = any($1)';
        await client.query(text, [unneeded]);
      }
      return { seen: rows.length, removed: unneeded.length };
    },
  };
}
