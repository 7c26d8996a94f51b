/** The request of a backtest or a sweep, its result, and the form of both in answers. */
import type { Mode } from '../../../mode.ts';
import type { Timeframe } from '../market/port.ts';
import type { BuiltInStrategy, Strategy } from '../strategy/config.ts';
import type { Terms } from './engine.ts';
import type { BarsFrom } from './job-messages.ts';
import type { Metrics } from './metrics.ts';
import type { Figures, Grid, Parameters, Ranking } from './sweep.ts';

/** The request, in the fields of answers. */
export type BacktestRequest = {
  strategy: Strategy['type'];
  /** null: the code of a custom strategy; `code_hash` identifies it. */
  config: object | null;
  symbols: readonly string[];
  /** null: taken from the file. */
  timeframe: Timeframe | null;
  start_date: string;
  end_date: string;
  initial_capital: number;
  commission_bps: number;
  slippage_bps: number;
  data_file_id: string | null;
  data_file_ids: Readonly<Record<string, string>> | null;
};
export type SweepRequest = BacktestRequest & { parameters: Grid; rank_by: Ranking };

type FactsOfData = {
  bars: number;
  timeframe: Timeframe | null;
  data_source: BarsFrom['kind'];
  data_hash: string;
  engine_version: string;
};
export type BacktestResult = FactsOfData & {
  final_value: number;
  total_return_pct: number;
  metrics: Metrics;
  benchmark: { final_value: number; total_return_pct: number };
  first_bar: string;
  last_bar: string;
  periods_per_year: number;
  commission_paid: number;
  equity_curve_step: number;
  code_hash: string;
};
type RunOfSweep = { parameters: Parameters } & Figures;
export type SweepResult = FactsOfData & {
  tried: number;
  best_run: RunOfSweep;
  walk_forward: {
    folds: { parameters: Parameters; in_sample: Figures; out_of_sample: Figures; first_bar: string; last_bar: string }[];
    out_of_sample_return_pct: number;
  };
};

/** The input of the effect: everything that the computation needs, also when it is repeated after a crash. */
export type ComputeInput = {
  accountId: string;
  title: string;
  terms: Terms;
  bars: Exclude<BarsFrom, { kind: 'columns' }>;
  /** SHA-256 of the contents of the files in `bars`, in the order of the files. */
  contentKeys: readonly string[];
} & ({ strategy: Strategy; sweep: null } | { strategy: BuiltInStrategy; sweep: { grid: Grid; rankBy: Ranking } });

export type Owner = {
  accountId: string;
  /** The mode of the caller's key. */
  mode: Mode;
  /** null: the request names the type of a strategy. */
  strategyId: string | null;
  strategyVersion: number | null;
};
export type NewComputation<Request> = Owner & { request: Request; compute: ComputeInput };

export type Computed<Result> = { kind: 'complete'; result: Result; files: Record<string, number> } | { kind: 'failed'; error: string };
