/** A strategy as callers see it. */
import Type, { type Static, type TSchema } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { barDate } from '../bars.ts';
import { timeframes } from '../market/port.ts';
import { strategyTypes } from '../strategy/config.ts';
import type { StrategyRow } from '../strategy/entity.ts';
import type { Run } from '../strategy/run.ts';

const Time = Type.String({ format: 'date-time' });

const OrNull = <S extends TSchema>(schema: S, description: string) => Type.Union([schema, Type.Null()], { description });

const RunView = Type.Object(
  {
    version: Type.Integer({ description: 'Of the strategy: the run keeps the one it was started with' }),
    timeframe: Type.Enum([...timeframes]),
    started_at: Type.String({ format: 'date-time', description: "By the market's clock" }),
    busy: Type.Boolean({ description: 'A decision or its orders are in progress' }),
    last_bar: OrNull(Type.String(), 'The newest bar that was decided on: its date, or the minute in which it begins'),
    next_bar_at: Type.String({ format: 'date-time', description: 'When the next bar is complete' }),
    targets: Type.Array(
      Type.Object({
        symbol: Type.String(),
        weight: Type.Number(),
        quantity: OrNull(Type.Number(), 'What the weight came to when it was sized; null: it was not yet'),
      }),
    ),
    orders: Type.Array(
      Type.Object({
        order_id: OrNull(Type.String(), 'null: it was refused'),
        symbol: Type.String(),
        side: Type.Enum(['buy', 'sell']),
        quantity: Type.Number(),
        refused: OrNull(Type.String(), 'Why it was refused; the next bar tries again'),
      }),
      { description: 'Of the last bar' },
    ),
    skipped: Type.Array(Type.Object({ symbol: Type.String(), reason: Type.String() }), {
      description: 'What could not be traded on the last bar',
    }),
    failures: Type.Integer({ description: 'Decisions in a row that failed; the third ends the run' }),
    last_failure: OrNull(Type.String(), 'What failed'),
  },
  { title: 'StrategyRun' },
);

export const StrategyView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    type: Type.Enum([...strategyTypes]),
    symbols: Type.Array(Type.String()),
    mode: Type.Enum(['paper', 'live', 'test'], {
      description: 'The mode of its run; `paper` before the first run. `test`: created by a test key',
    }),
    config: Type.Record(Type.String(), Type.Unknown(), { examples: [{ lookback: 20 }] }),
    version: Type.Integer({ description: 'Grows by one with each change; runs and backtests name the one they use' }),
    status: Type.Enum(['stopped', 'running', 'error']),
    error: Type.Union([Type.String(), Type.Null()], { description: 'Why its status is `error`' }),
    run: OrNull(RunView, 'The run that goes on, or the last one; null: it never ran'),
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
    run: row.run === null ? null : runView(row.run),
    created_at: isoTimestamp(row.createdAt),
    updated_at: isoTimestamp(row.updatedAt),
  };
}

function runView({ version, timeframe, startedMs, nextMs, bar, stage, targets, failures, lastFailure }: Run): Static<typeof RunView> {
  return {
    version,
    timeframe,
    started_at: isoTimestamp(startedMs),
    busy: stage.at !== 'idle',
    last_bar: bar === null ? null : barDate(bar.barMs, timeframe === '1d'),
    next_bar_at: isoTimestamp(nextMs),
    targets: Object.entries(targets).map(([symbol, { weight, quantity }]) => ({
      symbol,
      weight,
      quantity: quantity === null ? null : Number(quantity),
    })),
    orders: (bar?.orders ?? []).map(({ orderId, symbol, side, quantity, refused }) => ({
      order_id: refused === null ? orderId : null,
      symbol,
      side,
      quantity: Number(quantity),
      refused,
    })),
    skipped: Object.entries(bar?.skipped ?? {}).map(([symbol, reason]) => ({ symbol, reason })),
    failures,
    last_failure: lastFailure,
  };
}
