/** Finds the start of an account's stream: its oldest event that is still within the retention time. */
import type { Database } from '../../storage/database.ts';

/**
 * A binary search: an account may have millions of older events, of tasks that are kept. All events up to `low` are too old; the first
 * event from `high` on, if there is one, is not. Within an account, times grow with the numbers, except for some seconds.
 */
const text = `with recursive half(low, high) as (
    select 0::bigint, $3::bigint + 1
    union all
    select case when found.is_kept then low else coalesce(found.seq, low) end, case when coalesce(found.is_kept, true) then (low + high) / 2 else high end
    from half left join lateral (select seq, created_at > now() - make_interval(days => $2) as is_kept from event
      where account_id = $1 and seq >= (low + high) / 2 and seq < high order by seq limit 1) found on true
    where high - low > 1)
  select seq from event where account_id = $1 and seq >= (select min(high) from half) order by seq limit 1`;

/** The number after `newest` where no event is kept. */
export async function oldestKeptSeq(
  database: Pick<Database, 'read'>,
  accountId: string,
  newest: number,
  retentionDays: number,
): Promise<number> {
  const { rows } = await database.read({ name: 'oldest_seq', text, values: [accountId, retentionDays, newest] });
  return rows[0]?.seq ?? newest + 1;
}
