/** Queries a version of a strategy, and converts stored columns to a configuration. */
import type { Database } from '../../../storage/database.ts';
import type { Strategy as DecidingPart } from './config.ts';
import { type StrategyRow, StrategyVersion, type StrategyVersionRow } from './entity.ts';

/** null: there is no such version. Versions of a deleted strategy are found too. */
export async function findVersion(
  database: Database,
  of: { accountId: string; id: string },
  version: number,
): Promise<StrategyVersionRow | null> {
  const { accountId, id: strategyId } = of;
  const row = await database.list(accountId, (em) =>
    em.findOne(StrategyVersion, { strategyId, version, accountId }, { disableIdentityMap: true }),
  );
  return row as StrategyVersionRow | null;
}

/** Type and configuration together, as deciders and backtests use them. */
export function decidingPart({ type, config }: Pick<StrategyRow, 'type' | 'config'>): DecidingPart {
  return { type, config } as DecidingPart;
}
