/** What a node and the jobs that decide for runs of strategies say to each other. */
import type { BarsFrom, Failed } from '../backtest/job-messages.ts';
import type { Timeframe } from '../market/port.ts';
import type { Strategy } from './config.ts';
import type { LiveWeights, Seen } from './live-weights.ts';

export type DecideJobInput =
  /** Whether code can be used at all: it is evaluated, and has a function onBar. */
  | { task: 'check'; code: string }
  | {
      task: 'decide';
      strategy: Strategy;
      bars: BarsFrom;
      timeframe: Timeframe;
      /** By the market's clock: bars that were complete then are not of the run. */
      startedMs: number;
      seen: Seen;
      /** For code: what the book behind `ctx` begins with, and how many bars from before the start it is shown. */
      capital: number;
      warmUp: number;
    };
export type Decided = { kind: 'checked' } | ({ kind: 'decided' } & LiveWeights) | { kind: 'no_bar' } | Failed;
