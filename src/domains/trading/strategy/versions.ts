/** Looks up a version of a strategy, and shows stored columns as what decides. */
import type { Database } from '../../../storage/database.ts';
import type { Strategy as DecidingPart } from './config.ts';
import { type StrategyRow, StrategyVersion, type StrategyVersionRow } from './entity.ts';

/** null: there is no such version. Those of a deleted strategy are found too. */
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

/** Type and configuration together, as the deciders and backtests take them. */
export function decidingPart({ type, config }: Pick<StrategyRow, 'type' | 'config'>): DecidingPart {
  return { type, config } as DecidingPart;
}
