/** The strategy that a backtest tests: a version of a stored strategy, or a type with a configuration. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { tradingIds } from '../ids.ts';
import { parseSymbol } from '../market/symbol.ts';
import { checkedConfig } from '../strategy/check.ts';
import { type StrategyType, strategyTypes } from '../strategy/config.ts';
import { strategy as strategyRef } from '../strategy/messages.ts';
import { decidingPart, findVersion } from '../strategy/versions.ts';
import type { Subject } from './request.ts';

export type NamedSubject = Subject & { strategyId: string | null; strategyVersion: number | null };
export type SubjectParts = { actors: ActorSystem; database: Database };
type Caller = Pick<Principal, 'accountId' | 'mode'>;

/** Configurations of types that have defaults for all fields. */
const usual: Readonly<Record<StrategyType, Record<string, unknown>>> = {
  momentum: { lookback: 20 },
  mean_reversion: { lookback: 20, z_entry: 2, z_exit: 0.5 },
  arbitrage: { z_entry: 2, z_exit: 0.5 },
  custom: {},
};

/** Rejects with `not_found`. @param version default: the newest */
export async function storedSubject(
  { actors, database }: SubjectParts,
  caller: Caller,
  id: string,
  version?: number,
): Promise<NamedSubject> {
  const found = id.startsWith(tradingIds.strategy) ? await actors.query(strategyRef, id, 'get', null) : null;
  const newest = ownedInMode(caller as Principal, found, 'Strategy');
  const row = version === undefined || version === newest.version ? newest : await findVersion(database, newest, version);
  if (row === null) throw new AppError('not_found', 'There is no such version of the strategy');
  return { ...subjectOf(row), strategyId: id, strategyVersion: row.version };

  function subjectOf({ type, config, symbols, settings }: Pick<typeof newest, 'type' | 'config' | 'symbols' | 'settings'>): Subject {
    return { strategy: decidingPart({ type, config }), symbols, ...(settings.timeframe && { timeframe: settings.timeframe }) };
  }
}

/**
 * A strategy by its type or its id, on one symbol. Rejects with `not_found` and `invalid`.
 *
 * @param config of the type; omitted fields have their defaults
 */
export async function namedSubject(
  parts: SubjectParts,
  caller: Caller,
  { strategy: name, symbol: named, config }: { strategy: string; symbol: string; config?: Record<string, unknown> | undefined },
): Promise<NamedSubject> {
  const symbol = parseSymbol(named)?.symbol ?? named;
  const subject = await ofName();
  const { strategy } = subject;
  if (strategy.type !== 'arbitrage') return { ...subject, symbols: [symbol] };
  const { pair } = strategy.config;
  if (!pair.includes(symbol)) throw issue('symbol', `The symbol should be one of the pair: ${pair.join(', ')}`, 'value_error', named);
  return { ...subject, symbols: pair };

  async function ofName(): Promise<NamedSubject> {
    if (name.startsWith(tradingIds.strategy)) {
      if (config !== undefined) throw issue('config', 'The strategy has its own configuration', 'value_error', {});
      return storedSubject(parts, caller, name);
    }
    const type = strategyTypes.find((one) => one === name);
    if (type === undefined) throw issue('strategy', `Should be the id of a strategy, or one of ${strategyTypes.join(', ')}`, 'enum', name);
    const { strategy, settings } = checkedConfig(type, { ...usual[type], ...config });
    return {
      strategy,
      symbols: [symbol],
      strategyId: null,
      strategyVersion: null,
      ...(settings.timeframe && { timeframe: settings.timeframe }),
    };
  }
}

function issue(field: string, msg: string, type: string, input: unknown): AppError {
  return new AppError('invalid', msg, { issues: [{ loc: ['body', field], msg, type, input, ctx: {} }] });
}
