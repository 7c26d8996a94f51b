/** A strategy as callers see it. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { strategyTypes } from '../strategy/config.ts';
import type { StrategyRow } from '../strategy/entity.ts';

const Time = Type.String({ format: 'date-time' });

export const StrategyView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    type: Type.Enum([...strategyTypes]),
    symbols: Type.Array(Type.String()),
    mode: Type.Enum(['paper', 'live', 'test'], { description: 'Of its run, and `paper` before the first. `test`: made by a test key' }),
    config: Type.Record(Type.String(), Type.Unknown(), { examples: [{ lookback: 20 }] }),
    version: Type.Integer({ description: 'Grows by one with each change; runs and backtests name the one they use' }),
    status: Type.Enum(['stopped', 'running', 'error']),
    error: Type.Union([Type.String(), Type.Null()], { description: 'Why its status is `error`' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Strategy' },
);

export function strategyView(row: StrategyRow): Static<typeof StrategyView> {
  const { id, name, type, symbols, mode, orderMode, version, status, error } = row;
  return {
    id,
    name,
    type,
    symbols,
    mode: mode === 'test' ? 'test' : orderMode,
    config: { ...row.config, ...row.settings },
    version,
    status,
    error,
    created_at: isoTimestamp(row.createdAt),
    updated_at: isoTimestamp(row.updatedAt),
  };
}
