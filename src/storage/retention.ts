/** Housekeeping jobs that delete rows after their retention time. */
import type { Clock } from '../clock.ts';
import { deleteAgedRows } from './aged-rows.ts';
import { type IdempotencyKeys, keysKeptForMs, monthlyCommands } from './idempotency-keys.ts';
import type { HousekeepingJob } from './maintenance.ts';

const dayMs = 24 * 3_600_000;

/**
 * Events without a task, after `retentionDays`; events of a task stay as long as the task. A replay must use an event's age, not its
 * presence: an event's time is earlier than its commit by any waiting time.
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

/** Replies to commands with an id: kept as long as the same command may be repeated, for some a month. */
export function oldCommandRecords(keepMs: number, clock: Clock): HousekeepingJob {
  const common = { table: 'command_record', column: 'created_at', clock };
  const isMonthly = `starts_with(id, '${monthlyCommands}')`;
  const [name, index] = ['command records', 'command_record_to_forget'];
  const ofDay = deleteAgedRows({ ...common, name, index, only: `not ${isMonthly}`, keepMs });
  const month = { name: `${name} of a month`, index: `${index}_monthly`, keepMs: keysKeptForMs.month };
  const ofMonth = deleteAgedRows({ ...common, ...month, only: isMonthly });
  return {
    name,
    async runBatch(limit, client) {
      const first = await ofDay.runBatch(limit, client);
      if (first.seen >= limit) return first;
      const second = await ofMonth.runBatch(limit, client);
      return { seen: second.seen, removed: first.removed + second.removed };
    },
  };
}

/** Expired keys, and secrets in answers before that. */
export function expiredIdempotencyKeys(keys: IdempotencyKeys): HousekeepingJob {
  const name = 'idempotency keys';
  const expired = deleteAgedRows({ name, table: 'idempotency_key', column: 'expires_at', keepMs: 0, areChanged: true, clock: keys.clock });
  return {
    name,
    async runBatch(limit, client) {
      const deleted = await keys.deleteSecrets(limit);
      const { seen, removed } = await expired.runBatch(limit, client);
      return { seen: Math.max(deleted, seen), removed };
    },
  };
}

/** Markers of owners without shards, after any check of their last batches has ended. */
export function deadOwnersMarkers(clock: Clock): HousekeepingJob {
  return {
    name: 'commit markers',
    async runBatch(limit, client) {
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

/** Incarnations that stopped in order, long after their unfinished effects were continued by others. */
export function pastOwners(clock: Clock): HousekeepingJob {
  return deleteAgedRows({ name: 'ended owners', table: 'ended_owner', column: 'ended_at', keepMs: 30 * dayMs, clock });
}
