/** The messages between the node and the jobs that compute backtests. */
import type { Series } from '../bars.ts';
import type { Timeframe } from '../market/port.ts';
import type { AssetClass } from '../market/symbol.ts';
import type { BuiltInStrategy, Strategy } from '../strategy/config.ts';
import type { Terms } from './engine.ts';
import type { Summary } from './run.ts';
import type { Parameters, Part, SweepRun } from './sweep.ts';

/** Where the bars come from. Dates are UTC dates, inclusive. */
export type BarsFrom =
  /** The embedded (invented) market, as known at `nowMs`; prices adjusted for splits, dividends as cash. */
  | { kind: 'embedded'; symbols: readonly string[]; timeframe: Timeframe; start: string; end: string; nowMs: number }
  /** Files, one for each symbol: the job opens its source once for each, in this order. */
  | {
      kind: 'csv';
      files: readonly { symbol: string; assetClass: AssetClass }[];
      start: string | null;
      end: string | null;
      timeframe: Timeframe | null;
    }
  /** Bars that the node already has, such as those of a broker. */
  | { kind: 'columns'; series: readonly Series[]; daily: boolean };

export type RunInput = { task: 'run'; strategy: Strategy; terms: Terms; bars: BarsFrom; title: string };
export type SweepInput = {
  task: 'sweep';
  strategy: BuiltInStrategy;
  terms: Terms;
  bars: BarsFrom;
  combinations: readonly Parameters[];
};
export type JobInput = RunInput | SweepInput;

export type OutputFile = 'equity.csv' | 'trades.csv';
/** Sent before the result: the progress from 0 to 1, and chunks of the compressed (gzip) files, in the order of each file. */
export type JobReport = { progress: number } | { file: OutputFile; piece: Uint8Array };

export type Failed = { kind: 'failed'; error: string };
export type DataFacts = { data_source: BarsFrom['kind']; data_hash: string; timeframe: Timeframe | null };
export type RunResult = ({ kind: 'complete'; svg: string } & Summary & DataFacts) | Failed;
/** The runs of as many combinations, from the first on, as were computed in the job's time. */
export type SweepResult = ({ kind: 'complete'; runs: SweepRun[]; parts: Part[]; bars: number } & DataFacts) | Failed;
