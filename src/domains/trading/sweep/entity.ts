/** Sweeps: backtests over a grid of parameters. The runs are in the file store. */
import { defineEntity } from '@mikro-orm/core';
import type { SweepRequest, SweepResult } from '../backtest/computation.ts';
import { type ComputationRow, computationColumns } from '../backtest/entity.ts';

export const Sweep = defineEntity({ name: 'Sweep', tableName: 'sweep', properties: computationColumns<SweepRequest, SweepResult>() });
export type SweepRow = ComputationRow<SweepRequest, SweepResult>;
