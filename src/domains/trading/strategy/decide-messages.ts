/** The messages between a node and the jobs that decide for runs of strategies. */
import type { BarsFrom, Failed } from '../backtest/job-messages.ts';
import type { Timeframe } from '../market/port.ts';
import type { Strategy } from './config.ts';
import type { LiveWeights, Seen } from './live-weights.ts';

export type DecideJobInput =
  /** Checks code: it is evaluated, and must have a function onBar. */
  | { task: 'check'; code: string }
  | {
      task: 'decide';
      strategy: Strategy;
      bars: BarsFrom;
      timeframe: Timeframe;
      /** By the market's clock: bars that were complete before this are not part of the run. */
      startedMs: number;
      seen: Seen;
      /** For code: the initial state of the book behind `ctx`, and the number of bars before the start that it sees. */
      capital: number;
      warmUp: number;
    };
export type Decided =
  | { kind: 'checked' }
  | ({ kind: 'decided' } & LiveWeights)
  | { kind: 'no_bar' }
  | Failed
  /** It did not end in time, and may do so when it is repeated. */
  | { kind: 'stalled'; error: string };
