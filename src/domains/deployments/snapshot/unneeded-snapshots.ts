/**
 * Removes snapshots that no deployment names: the step that took one was repeated, or its deployment was deleted. A day old, so that those
 * are not affected whose deployment is about to name them. Their contents are found by the sweep of orphaned contents afterwards.
 */
import type { Clock } from '../../../clock.ts';
import type { HousekeepingJob } from '../../../storage/maintenance.ts';

const minAgeMs = 24 * 3_600_000;
/** A walk reads all snapshots. */
const walkEveryMs = 6 * 3_600_000;
/** A snapshot may have as many rows as a site has files. */
const pieceSnapshots = 50;

export function unneededSnapshots(clock: Clock): HousekeepingJob {
  let after = '';
  return {
    name: 'unneeded snapshots',
    everyMs: walkEveryMs,
    pieceRows: pieceSnapshots,
    async doSome(limit, client) {
      const { rows } = await client.query<{ id: string; unneeded: boolean }>(
        `select s.id, s.created_at < $3 and not exists (select from deployment d where d.snapshot_id = s.id)
            and not exists (select from deployment d where d.site_id = s.id) as unneeded
          from snapshot s where s.id > $1 order by s.id limit $2`,
        [after, limit, new Date(clock.nowMs() - minAgeMs)],
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
