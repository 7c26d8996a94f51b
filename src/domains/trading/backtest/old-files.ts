/**
 * Bounds the space of an account's backtests in the file store: the large files of the oldest ones are removed. Figures and curve stay, and
 * the same request generates the same files again.
 */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Database } from '../../../storage/database.ts';
import { backtest } from './messages.ts';
import { largeFiles, type StoredResults } from './stored-results.ts';

/** Bytes of all backtests of an account together. */
export const maxStoredBytes = 2 ** 30;
const atOnce = 100;

export type OldFilesParts = { actors: Pick<ActorSystem, 'ask'>; database: Pick<Database, 'read'>; results: StoredResults };

/** The files are removed first: after a crash between the two steps they are removed again. */
export async function removeOldFiles(
  { actors, database, results }: OldFilesParts,
  accountId: string,
  maxBytes = maxStoredBytes,
): Promise<void> {
  const { rows } = await database.read({
    name: 'old_backtest_files',
    text: `select id from (
        select id, created_at, sum(coalesce((files->>'equity.csv')::bigint, 0) + coalesce((files->>'trades.csv')::bigint, 0))
          over (order by created_at desc, id desc) as bytes
        from backtest where account_id = $1 and files->>'equity.csv' is not null) stored
      where bytes > $2 order by created_at limit ${atOnce}`,
    values: [accountId, maxBytes],
  });
  for (const { id } of rows) {
    await results.remove(id, largeFiles);
    await actors.ask(backtest, id, 'forgetFiles', null);
  }
}
