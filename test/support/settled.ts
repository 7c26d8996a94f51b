/** Waits until no committed work is in transit. */
import type { Runtime } from '../../src/actors/runtime.ts';
import type { Database } from '../../src/storage/database.ts';
import { until } from './until.ts';

/** Waits until all messages are taken and all effects done, and the runtime knows of it: the database shows a commit a little earlier. */
export async function settled({ pool }: Database, { commit }: Runtime): Promise<void> {
  await until(async () => {
    const { rows } = await pool.query('select (select count(*) from message) + (select count(*) from effect) as left');
    return Number(rows[0].left) === 0;
  }, 'no message and no effect to be left');
  await commit.drained();
}
