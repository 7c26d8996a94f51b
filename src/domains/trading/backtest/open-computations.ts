/** Limits how many backtests and sweeps of an account may wait and run. */
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';

export const maxOpen = 1_000;

/** Rejects with `rate_limited` if the account has too many open ones. Requests at the same moment may exceed the limit by a few. */
export async function requireCapacity(database: Database, table: 'backtest' | 'sweep', accountId: string): Promise<void> {
  const { rows } = await database.read({
    name: `open_${table}s`,
    text: `select count(*)::int as count from (select from ${table} where account_id = $1 and status = 'running' limit ${maxOpen}) open`,
    values: [accountId],
  });
  if (rows[0].count >= maxOpen) throw new AppError('rate_limited', `${maxOpen} ${table}s have not ended yet`, { retryAfterS: 30 });
}
