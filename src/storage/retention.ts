/** How long rows are kept that are of use for a time only: the chores of `maintenance.ts` that keep to it. */
import type pg from 'pg';
import type { Clock } from '../clock.ts';
import { type IdempotencyKeys, keysKeptForMs, monthlyCommands } from './idempotency-keys.ts';
import type { Chore } from './maintenance.ts';

const dayMs = 24 * 3_600_000;

/**
 * Events that belong to no task, after `retentionDays`; those of a task stay as long as it does. Whoever replays events must go by their age,
 * not by what is still there: the oldest go in no particular order.
 */
export function oldEvents(retentionDays: number, clock: Clock): Chore {
  // Everything before it is done: a round looks only at what has become too old since the last one.
  let doneUntilMs = 0;
  return {
    name: 'events',
    async doSome(limit, client) {
      const untilMs = clock.nowMs() - retentionDays * dayMs;
      const removed = await remove(
        client,
        `delete from event where ctid = any(array(select ctid from event
          where task_id is null and created_at >= to_timestamp($1::float8 / 1000) and created_at < to_timestamp($2::float8 / 1000) limit $3))`,
        [doneUntilMs, untilMs, limit],
      );
      // A day's overlap: an event's time is its turn's, and its commit a moment later.
      if (removed < limit) doneUntilMs = untilMs - dayMs;
      return { seen: removed, removed };
    },
  };
}

/** Replies to commands with an id: as long as somebody may ask the same command again, which for some is a month. */
export function oldCommandRecords(keepMs: number, clock: Clock): Chore {
  return {
    name: 'command records',
    async doSome(limit, client) {
      const removed = await remove(
        client,
        `delete from command_record where ctid = any(array(select ctid from command_record where created_at < to_timestamp($1::float8 / 1000)
          and (not starts_with(id, $3) or created_at < to_timestamp($4::float8 / 1000)) limit $2))`,
        [clock.nowMs() - keepMs, limit, monthlyCommands, clock.nowMs() - keysKeptForMs.month],
      );
      return { seen: removed, removed };
    },
  };
}

/** Records of deliveries, for as long as the events they tell of. */
export function oldDeliveries(retentionDays: number, clock: Clock): Chore {
  return {
    name: 'webhook deliveries',
    async doSome(limit, client) {
      const removed = await remove(
        client,
        `delete from webhook_delivery where ctid = any(array(select ctid from webhook_delivery where created_at < to_timestamp($1::float8 / 1000) limit $2))`,
        [clock.nowMs() - retentionDays * dayMs, limit],
      );
      return { seen: removed, removed };
    },
  };
}

/** Keys that are over, and secrets in answers before that. */
export function expiredIdempotencyKeys(keys: IdempotencyKeys): Chore {
  return {
    name: 'idempotency keys',
    async doSome(limit) {
      const forgotten = await keys.forgetSecrets(limit);
      const removed = await keys.deleteExpired(limit, 1);
      return { seen: Math.max(forgotten, removed), removed };
    },
  };
}

/** The last batches of an owner that owns nothing any more, when nobody can still wonder whether they were committed. */
export function deadOwnersMarkers(clock: Clock): Chore {
  return {
    name: 'commit markers',
    async doSome(limit, client) {
      const removed = await remove(
        client,
        `delete from commit_marker where owner = any(array(select m.owner from commit_marker m
          where m.committed_at < to_timestamp($1::float8 / 1000) and not exists (select from shard s where starts_with(m.owner, s.owner)) limit $2))`,
        [clock.nowMs() - dayMs, limit],
      );
      return { seen: removed, removed };
    },
  };
}

/** Processes that have ended in order, long after somebody has gone on with all they had begun. */
export function pastOwners(clock: Clock): Chore {
  return outlived('ended owners', 'ended_owner', 'ended_at', 30 * dayMs, clock);
}

/** What was counted of wrong attempts, when it counts no more. */
export function pastThrottles(clock: Clock): Chore {
  return outlived('throttles', 'throttle', 'forget_at', 5 * 60_000, clock);
}

/** Sessions that nobody can go on with: the last cookie made in one outlives its last refresh token by seven days at most. */
export function pastSessions(clock: Clock): Chore {
  return outlived('sessions', 'session', 'refresh_expires_at', 8 * dayMs, clock);
}

/** Checkouts that came to nothing; those that somebody paid, or is paying, stay. */
export function pastCheckouts(clock: Clock): Chore {
  return outlived(
    'checkouts',
    'checkout',
    'expires_at',
    8 * dayMs,
    clock,
    ` and status in ('failed', 'open', 'cancelled', 'contacted', 'expired')`,
  );
}

/** Rows by the time their use was over. An actor that still has one in memory goes on with what a fresh one would do. */
function outlived(name: string, table: string, column: string, keepMs: number, clock: Clock, only = ''): Chore {
  return {
    name,
    async doSome(limit, client) {
      const text = `delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} < to_timestamp($1::float8 / 1000)${only} limit $2))`;
      const removed = await remove(client, text, [clock.nowMs() - keepMs, limit]);
      return { seen: removed, removed };
    },
  };
}

async function remove(client: pg.Client, text: string, values: unknown[]): Promise<number> {
  const { rowCount } = await client.query(text, values);
  return rowCount ?? 0;
}
