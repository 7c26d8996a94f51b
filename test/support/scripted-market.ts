/** A market whose clock and contents a test sets, with the interface that trading accounts use. */

import { sessionState } from '../../src/domains/trading/market/calendar.ts';
import type { CorporateAction, Quote } from '../../src/domains/trading/market/port.ts';
import { parseSymbol } from '../../src/domains/trading/market/symbol.ts';
import type { AccountMarket } from '../../src/domains/trading/trading-account/market.ts';

export type Price = { bid: number; ask: number; last: number; volume: number };

export class ScriptedMarket implements AccountMarket {
  readonly name = 'file';
  /** What its prices say of themselves. */
  source: Quote['source'] = 'file';
  readonly hours = 'exchange';
  readonly clock = { nowMs: () => this.nowMs };
  private nowMs: number;
  private sequence = 0;
  private actions: CorporateAction[] = [];
  private readonly prices = new Map<string, Price & { atMs: number; sequence: number }>();

  constructor(now: string) {
    this.nowMs = Date.parse(now);
  }

  /** A new content: of the symbols that are named; others keep their price, and it is a new content of them too. A number is bid, ask and last. */
  content(prices: Record<string, number | Partial<Price>> = {}, now?: string): void {
    this.nowMs = now === undefined ? this.nowMs + 1_000 : Date.parse(now);
    this.sequence++;
    for (const [symbol, price] of Object.entries(prices)) {
      const whole = typeof price === 'number' ? { bid: price, ask: price, last: price } : price;
      const before = this.prices.get(symbol) ?? { bid: 1, ask: 1, last: 1, volume: 1_000_000 };
      this.prices.set(symbol, { ...before, ...whole, atMs: 0, sequence: 0 });
    }
    for (const [symbol, price] of this.prices) this.prices.set(symbol, { ...price, atMs: this.nowMs, sequence: this.sequence });
  }

  /** Time goes on, and no new content comes. */
  wait(ms: number): void {
    this.nowMs += ms;
  }

  act(...actions: CorporateAction[]): void {
    this.actions = actions;
  }

  quoteNow(symbol: string): Quote | null {
    const price = this.prices.get(symbol);
    const instrument = parseSymbol(symbol);
    if (price === undefined || instrument === null) return null;
    return { ...instrument, ...price, ...sessionState(instrument.assetClass, this.hours, this.nowMs), tick: 0.01, source: this.source };
  }

  quoteAt(): null {
    return null;
  }

  actionsNow(symbol: string): CorporateAction[] {
    return this.actions.filter((action) => action.symbol === symbol);
  }
}
