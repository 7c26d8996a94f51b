/**
 * Prices of an account: of the market's file where there is one, else of its newest connected broker that has market data, else of the node's own market.
 * Only Alpaca's data is read so far.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '../../../../errors.ts';
import type { AccountMode } from '../../../../mode.ts';
import { type AlpacaDataOptions, createAlpacaData } from '../../market/alpaca-data.ts';
import type { LocalMarket } from '../../market/local-market.ts';
import { CredentialsRefused, type MarketSource, type Quote } from '../../market/port.ts';
import type { Prices } from '../../market/prices.ts';
import type { OpenConnections } from './open-connections.ts';

export type BrokerPricesParts = {
  market: Pick<LocalMarket, 'name' | 'ready' | 'quote'>;
  connections: Pick<OpenConnections, 'of' | 'credentialsOf'>;
  data: Omit<AlpacaDataOptions, 'credentials' | 'account'>;
  /** Whether Alpaca's data may be asked for: not where another server stands for its trading and none for its data. */
  hasData: boolean;
};

/** Marks come each second, and orders in bursts. */
const keptMs = 1_000;
const keptQuotes = 5_000;
const keptSources = 1_000;

export function brokerPrices({ market, connections, data, hasData }: BrokerPricesParts): Prices {
  const sources = new LRUCache<string, { key: string; source: MarketSource }>({ max: keptSources, ttl: 600_000 });
  const quotes = new LRUCache<string, Promise<Quote | null>>({ max: keptQuotes, ttl: keptMs });

  async function sourceOf(owner: AccountMode): Promise<{ id: string; source: MarketSource } | null> {
    const known = hasData ? await connections.of(owner) : [];
    const newest = known.find(({ brokerName, status }) => brokerName === 'alpaca' && status === 'connected');
    const credentials = newest === undefined ? null : await connections.credentialsOf(newest.id);
    if (newest === undefined || credentials?.venue !== 'alpaca') return null;
    const kept = sources.get(newest.id);
    if (kept?.key === credentials.apiKey) return { id: newest.id, source: kept.source };
    const source = createAlpacaData({ ...data, credentials, account: owner.accountId });
    sources.set(newest.id, { key: credentials.apiKey, source });
    return { id: newest.id, source };
  }

  return {
    async quoteOf(owner, symbol) {
      await market.ready;
      const of = market.name === 'file' ? null : await sourceOf(owner);
      if (of === null) return market.quote(symbol);
      const name = `${of.id} ${symbol}`;
      let asked = quotes.get(name);
      if (asked === undefined) quotes.set(name, (asked = of.source.quote(symbol)));
      try {
        return await asked;
      } catch (cause) {
        quotes.delete(name);
        // What the keys do not allow of market data says nothing of trading with them.
        if (cause instanceof CredentialsRefused)
          throw new AppError('unavailable', 'The broker gives no prices to these credentials', { cause });
        throw cause;
      }
    },
  };
}
