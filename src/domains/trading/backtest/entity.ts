/** Backtests: one row each, small enough for lists. Curves, charts and lists of trades are in the file store (`stored-results.ts`). */
import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../mode.ts';
import { epochMs, json } from '../../../storage/column-types.ts';
import type { BacktestRequest, BacktestResult, Owner } from './computation.ts';

export type ComputationStatus = 'running' | 'complete' | 'failed';

/** A computation: requested once, computed outside the node's event loop, unchanged after its end. */
export type ComputationRow<Request, Result> = Owner & {
  id: string;
  request: Request;
  status: ComputationStatus;
  /** In percent. */
  progress: number;
  /** Why it failed. */
  error: string | null;
  /** null until it is complete. */
  result: Result | null;
  /** The stored size of each file in bytes; null until the computation is complete. */
  files: Readonly<Record<string, number>> | null;
  /** The effect that computes it; null after its end. */
  effectId: string | null;
  createdAt: number;
  completedAt: number | null;
};

/** The columns of a table of such rows. */
export const computationColumns = <Request, Result>() => ({
  id: p.text().primary(),
  accountId: p.text(),
  mode: p.text().$type<Mode>(),
  strategyId: p.text().strictNullable(),
  strategyVersion: p.integer().strictNullable(),
  request: json<Request>(),
  status: p.text().$type<ComputationStatus>(),
  progress: p.integer(),
  error: p.text().strictNullable(),
  result: json<Result>().strictNullable(),
  files: json<Readonly<Record<string, number>>>().strictNullable(),
  effectId: p.text().strictNullable(),
  createdAt: epochMs(),
  completedAt: epochMs().strictNullable(),
});

export const Backtest = defineEntity({
  name: 'Backtest',
  tableName: 'backtest',
  properties: computationColumns<BacktestRequest, BacktestResult>(),
});
export type BacktestRow = ComputationRow<BacktestRequest, BacktestResult>;
