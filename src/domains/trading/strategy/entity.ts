/** Strategies, and every version that one had: backtests and runs name the version they used. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { Strategy as DecidingPart, StrategyType } from './config.ts';
import type { Run } from './run.ts';
import type { RunSettings } from './settings.ts';

export type StrategyStatus = 'stopped' | 'running' | 'error';
/** `live` trades real money. Strategies of test keys are stored as `paper`, and shown as `test`. */
export type OrderMode = 'paper' | 'live';

export const Strategy = defineEntity({
  name: 'Strategy',
  tableName: 'strategy',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    /** The mode of the key that made it. */
    mode: p.text().$type<Mode>(),
    name: p.text(),
    type: p.text().$type<StrategyType>(),
    symbols: json<string[]>(),
    /** In the form of its type (`configForms`). */
    config: json<DecidingPart['config']>(),
    /** The settings of `config` for runs in the market. */
    settings: json<RunSettings>(),
    version: p.integer(),
    status: p.text().$type<StrategyStatus>(),
    /** Of its current run; of the last one while it is stopped. */
    orderMode: p.text().$type<OrderMode>(),
    /** The state of a run; kept after the run's end, until the next run. */
    run: json<Run>().strictNullable(),
    /** When the run has something to do next, by the market's clock. null: not running. */
    dueAt: epochMs().strictNullable(),
    /** Why the status is `error`. */
    error: p.text().strictNullable(),
    createdAt: epochMs(),
    updatedAt: epochMs(),
    /** Its versions stay for the backtests that name them. */
    deletedAt: epochMs().strictNullable(),
  },
});
export type StrategyRow = InferEntity<typeof Strategy>;

export const StrategyVersion = defineEntity({
  name: 'StrategyVersion',
  tableName: 'strategy_version',
  readonly: true,
  primaryKeys: ['strategyId', 'version'],
  properties: {
    strategyId: p.text().primary(),
    version: p.integer().primary(),
    accountId: p.text(),
    name: p.text(),
    type: p.text().$type<StrategyType>(),
    symbols: json<string[]>(),
    config: json<DecidingPart['config']>(),
    settings: json<RunSettings>(),
    createdAt: epochMs(),
  },
});
export type StrategyVersionRow = InferEntity<typeof StrategyVersion>;
