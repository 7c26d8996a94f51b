/** The prices that an account's orders are judged by. */
import type { AccountMode } from '../../../mode.ts';
import type { LocalMarket } from './local-market.ts';
import type { Bars, BarsRequest, Quote } from './port.ts';

export interface Prices {
  /** null: the symbol is unknown. Throws `unavailable` where its source has no price now. */
  quoteOf(owner: AccountMode, symbol: string): Promise<Quote | null>;
  /**
   * The history of these prices, where they are a broker's. null: the broker gives no history. `own`, as without this method: the prices are this service's,
   * and so is their history. Throws as `quoteOf`.
   */
  barsOf?(owner: AccountMode, request: BarsRequest): Promise<Bars | 'own' | null>;
}

/** Those of the node's own market. */
export function localPrices(market: Pick<LocalMarket, 'ready' | 'quote'>): Prices {
  return {
    async quoteOf(_owner, symbol) {
      await market.ready;
      return market.quote(symbol);
    },
  };
}
