/** The end of an account's stream: its newest event. */
import type { Database } from '../../storage/database.ts';

/** Its number; 0 where the account has none. */
export async function newestSeq(database: Pick<Database, 'read'>, accountId: string): Promise<number> {
  const { rows } = await database.read({
    name: 'newest_seq',
    text: 'select last_seq as seq from event_counter where account_id = $1',
    values: [accountId],
  });
  return rows[0]?.seq ?? 0;
}
