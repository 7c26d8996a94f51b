/** The prices against which an account's orders are checked. */
import type { AccountMode } from '../../../mode.ts';
import type { LocalMarket } from './local-market.ts';
import type { Bars, BarsRequest, Quote } from './port.ts';

export interface Prices {
  /**
   * null: the symbol is unknown. Throws `unavailable` if its source has no price now.
   *
   * @param brokerKey the broker of an order or of a run: if it has prices, they are used, and it decides whether the symbol is known
   */
  quoteOf(owner: AccountMode, symbol: string, brokerKey?: string): Promise<Quote | null>;
  /**
   * The history of these prices, if they are a broker's. null: the broker has no history. `own`, also if this method is absent: prices and
   * history are those of this service. Throws as `quoteOf`, and `unavailable` if the named broker is not connected now.
   */
  barsOf?(owner: AccountMode, request: BarsRequest, brokerKey?: string): Promise<Bars | 'own' | null>;
}

/** The prices of the node's own market. */
export function localPrices(market: Pick<LocalMarket, 'ready' | 'quote'>): Prices {
  return {
    async quoteOf(_owner, symbol) {
      await market.ready;
      return market.quote(symbol);
    },
  };
}
