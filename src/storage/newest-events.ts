/** Finds the numbers of events that were committed a moment ago. */
import type pg from 'pg';

const firstRange = 1_000;

/**
 * Finds events by their ids among the newest of their accounts, in growing ranges until all are found: an account may have millions of
 * events, and ids have no index.
 *
 * @param events all of them are committed
 */
export async function newestSeqs(
  client: pg.ClientBase,
  events: readonly { accountId: string; id: string }[],
): Promise<Map<string, number>> {
  const missing = new Map<string, Set<string>>();
  for (const { accountId, id } of events) missing.set(accountId, (missing.get(accountId) ?? new Set()).add(id));
  const counters = await client.query('select account_id, last_seq from event_counter where account_id = any($1)', [[...missing.keys()]]);
  const found = new Map<string, number>();
  for (const { account_id, last_seq } of counters.rows) {
    const ids = missing.get(account_id)!;
    for (let back = firstRange; ids.size > 0; back *= 16) {
      // A range of numbers: for "the last N rows" the planner may sort all events of an account that it considers small.
      const { rows } = await client.query('select id, seq from event where account_id = $1 and seq > $2 and id = any($3)', [
        account_id,
        Number(last_seq) - back,
        [...ids],
      ]);
      for (const { id, seq } of rows) if (ids.delete(id)) found.set(id, Number(seq));
      if (back > last_seq) break;
    }
  }
  return found;
}
