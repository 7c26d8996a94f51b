/** How long rows are kept that are of use for a time only: the jobs of `maintenance.ts` that keep to it. */
import type { Clock } from '../clock.ts';
import { deleteAgedRows } from './aged-rows.ts';
import { type IdempotencyKeys, keysKeptForMs, monthlyCommands } from './idempotency-keys.ts';
import type { HousekeepingJob } from './maintenance.ts';

const dayMs = 24 * 3_600_000;

/**
 * Events that belong to no task, after `retentionDays`; those of a task stay as long as it does. Whoever replays events must go by their age,
 * not by what is still there: events are older than their commit by however long it waited.
 */
export function oldEvents(retentionDays: number, clock: Clock): HousekeepingJob {
  const keepMs = retentionDays * dayMs;
  return deleteAgedRows({
    name: 'events',
    table: 'event',
    column: 'created_at',
    only: 'task_id is null',
    index: 'event_to_forget',
    keepMs,
    clock,
  });
}

/** Replies to commands with an id: as long as somebody may ask the same command again, which for some is a month. */
export function oldCommandRecords(keepMs: number, clock: Clock): HousekeepingJob {
  const common = { table: 'command_record', column: 'created_at', clock };
  const isMonthly = `starts_with(id, '${monthlyCommands}')`;
  const [name, index] = ['command records', 'command_record_to_forget'];
  const ofDay = deleteAgedRows({ ...common, name, index, only: `not ${isMonthly}`, keepMs });
  const month = { name: `${name} of a month`, index: `${index}_monthly`, keepMs: keysKeptForMs.month };
  const ofMonth = deleteAgedRows({ ...common, ...month, only: isMonthly });
  return {
    name,
    async doSome(limit, client) {
      const first = await ofDay.doSome(limit, client);
      if (first.seen >= limit) return first;
      const second = await ofMonth.doSome(limit, client);
      return { seen: second.seen, removed: first.removed + second.removed };
    },
  };
}

/** Keys that are over, and secrets in answers before that. */
export function expiredIdempotencyKeys(keys: IdempotencyKeys): HousekeepingJob {
  const name = 'idempotency keys';
  const expired = deleteAgedRows({ name, table: 'idempotency_key', column: 'expires_at', keepMs: 0, areChanged: true, clock: keys.clock });
  return {
    name,
    async doSome(limit, client) {
      const forgotten = await keys.forgetSecrets(limit);
      const { seen, removed } = await expired.doSome(limit, client);
      return { seen: Math.max(forgotten, seen), removed };
    },
  };
}

/** The last batches of an owner that owns nothing any more, when nobody can still wonder whether they were committed. */
export function deadOwnersMarkers(clock: Clock): HousekeepingJob {
  return {
    name: 'commit markers',
    async doSome(limit, client) {
      const { rowCount } = await client.query(
        `delete from commit_marker where owner = any(array(select m.owner from commit_marker m
          where m.committed_at < to_timestamp($1::float8 / 1000) and not exists (select from shard s where starts_with(m.owner, s.owner)) limit $2))`,
        [clock.nowMs() - dayMs, limit],
      );
      const removed = rowCount ?? 0;
      return { seen: removed, removed };
    },
  };
}

/** Processes that have ended in order, long after somebody has gone on with all they had begun. */
export function pastOwners(clock: Clock): HousekeepingJob {
  return deleteAgedRows({ name: 'ended owners', table: 'ended_owner', column: 'ended_at', keepMs: 30 * dayMs, clock });
}
