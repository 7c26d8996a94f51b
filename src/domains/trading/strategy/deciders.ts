/**
 * The decisions of the built-in strategies, bar by bar. Backtests and runs in the market use the same objects: one for each symbol, or one for a
 * pair. A decider has got all bars up to and including the current one, and no later bar.
 *
 * The holding (`held`) is the only state that does not follow from the last bars: a run that continues on another node observes the bars of its
 * warm-up (`warmUpBars`) and restores `held`.
 */
import {
  type ArbitrageConfig,
  type BuiltInStrategy,
  defaultArbitrageLookback,
  type MeanReversionConfig,
  type MomentumConfig,
} from './config.ts';
import { ZWindow } from './z-window.ts';

/** Long, flat or short. For a pair: long the spread (A bought, B sold), or short. */
export type Held = -1 | 0 | 1;

/** Decides about one symbol. */
export interface Decider {
  held: Held;
  /** Adds a bar to the windows without deciding. */
  observe(close: number): void;
  /** Adds the next bar and returns the target weight after it. */
  decide(close: number): number;
}

export class Momentum implements Decider {
  held: Held = 0;
  private readonly past: Float64Array;
  private next = 0;

  constructor({ lookback }: MomentumConfig) {
    this.past = new Float64Array(lookback).fill(Number.NaN);
  }

  observe(close: number): void {
    this.replace(close);
  }

  decide(close: number): number {
    // Before there are enough bars the earlier close is NaN, and comparisons with it are false.
    this.held = close > this.replace(close) ? 1 : 0;
    return this.held;
  }

  /** Replaces the close that is `lookback` bars older, and returns it. */
  private replace(close: number): number {
    const past = this.past;
    const at = this.next;
    const before = past[at]!;
    past[at] = close;
    this.next = at + 1 === past.length ? 0 : at + 1;
    return before;
  }
}

export class MeanReversion implements Decider {
  held: Held = 0;
  private readonly window: ZWindow;
  private readonly entry: number;
  private readonly exit: number;

  constructor({ lookback, z_entry, z_exit }: MeanReversionConfig) {
    this.window = new ZWindow(lookback);
    this.entry = z_entry;
    this.exit = z_exit;
  }

  observe(close: number): void {
    this.window.push(close);
  }

  decide(close: number): number {
    this.window.push(close);
    const z = this.window.near(this.entry, this.exit);
    if (this.held === 1 && z >= -this.exit) this.held = 0;
    else if (this.held === -1 && z <= this.exit) this.held = 0;
    if (this.held === 0) {
      if (z <= -this.entry) this.held = 1;
      else if (z >= this.entry) this.held = -1;
    }
    return this.held;
  }
}

/** Decides about two symbols at the bars that both have. */
export class Arbitrage {
  held: Held = 0;
  private readonly window: ZWindow;
  private readonly entry: number;
  private readonly exit: number;

  constructor({ lookback = defaultArbitrageLookback, z_entry, z_exit }: ArbitrageConfig) {
    this.window = new ZWindow(lookback);
    this.entry = z_entry;
    this.exit = z_exit;
  }

  observe(closeA: number, closeB: number): void {
    this.window.push(Math.log(closeA) - Math.log(closeB));
  }

  /** Returns the target weight of A; that of B is its negative. */
  decide(closeA: number, closeB: number): number {
    this.observe(closeA, closeB);
    const z = this.window.near(this.entry, this.exit);
    // A spread above its mean is held short, one below it long: past the mean, the sign of z is that of what is held.
    if (this.held !== 0 && (Math.abs(z) <= this.exit || z * this.held > 0)) this.held = 0;
    if (this.held === 0) {
      if (z >= this.entry) this.held = -1;
      else if (z <= -this.entry) this.held = 1;
    }
    return this.held / 2;
  }
}

/** For strategies that decide about each symbol separately. */
export function deciderOf(strategy: Exclude<BuiltInStrategy, { type: 'arbitrage' }>): Decider {
  return strategy.type === 'momentum' ? new Momentum(strategy.config) : new MeanReversion(strategy.config);
}
