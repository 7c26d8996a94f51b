/**
 * Prices of an account: from the market's file if there is one, else from the broker of the order, else from its newest connected broker
 * that trades the asset class, has market data and knows the symbol, else from the node's own market.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '../../../../errors.ts';
import type { AccountMode } from '../../../../mode.ts';
import { type AlpacaDataOptions, createAlpacaData } from '../../market/alpaca-data.ts';
import type { LocalMarket } from '../../market/local-market.ts';
import { type Bars, type BarsRequest, CredentialsRefused, type MarketSource, type Quote } from '../../market/port.ts';
import type { Prices } from '../../market/prices.ts';
import { quoteOfSides } from '../../market/quote-of-sides.ts';
import { type Instrument, parseSymbol } from '../../market/symbol.ts';
import { barsOfVendor } from '../../market/vendor-bars.ts';
import { capabilitiesOf } from '../capabilities.ts';
import type { KnownConnection, OpenConnections } from './open-connections.ts';

export type BrokerPricesParts = {
  market: Pick<LocalMarket, 'name' | 'ready' | 'quote'>;
  connections: Pick<OpenConnections, 'of' | 'credentialsOf' | 'quote' | 'bars'>;
  data: Omit<AlpacaDataOptions, 'credentials' | 'account'>;
  /** Whether Alpaca's data may be requested: not if another server replaces its trading API and none its data API. */
  hasData: boolean;
};

/** `no_data`: the broker has no data for this service; the next broker is queried. */
type BrokerQuote = { kind: 'quoted'; quote: Quote | null } | { kind: 'no_data' };

/** Accounts are marked each second, and orders come in bursts. */
const keptMs = 1_000;
const keptQuotes = 5_000;
const keptSources = 1_000;

export function brokerPrices({ market, connections, data, hasData }: BrokerPricesParts): Prices {
  const sources = new LRUCache<string, { key: string; source: MarketSource }>({ max: keptSources, ttl: 600_000 });
  const answers = new LRUCache<string, Promise<BrokerQuote>>({ max: keptQuotes, ttl: keptMs });

  async function alpacaData(owner: AccountMode, id: string): Promise<MarketSource | null> {
    const credentials = await connections.credentialsOf(id);
    if (credentials?.venue !== 'alpaca') return null;
    const kept = sources.get(id);
    const key = `${credentials.apiKey} ${credentials.apiSecret}`;
    if (kept?.key === key) return kept.source;
    const source = createAlpacaData({ ...data, credentials, account: owner.accountId });
    sources.set(id, { key, source });
    return source;
  }

  /** Whether the broker's prices count for a symbol of this class. */
  function isSource({ brokerName, status }: KnownConnection, { assetClass }: Instrument): boolean {
    const trades = capabilitiesOf[brokerName].assetClasses[assetClass] !== undefined;
    return status === 'connected' && trades && (brokerName !== 'alpaca' || hasData);
  }

  /**
   * The broker whose price of the symbol counts, and this price. null: the symbol is unknown; `own`: no broker has prices.
   *
   * @param known the account's connections, newest first
   */
  async function quotedBy(owner: AccountMode, known: readonly KnownConnection[], instrument: Instrument, brokerKey?: string) {
    const isNamed = ({ id }: KnownConnection) => id === brokerKey;
    const sources = known.filter((connection) => isSource(connection, instrument));
    let isUnknown = false;
    for (const connection of sources.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)))) {
      const answer = await quoteOnce(owner, connection, instrument);
      if (answer.kind !== 'quoted') continue;
      if (answer.quote !== null) return { connection, quote: answer.quote };
      if (isNamed(connection)) return null;
      isUnknown = true;
    }
    return isUnknown ? null : 'own';
  }

  /** The account's connections; none if the market's file has the prices. */
  const knownTo = async (owner: AccountMode) => (market.name === 'file' ? [] : connections.of(owner));

  async function ask(owner: AccountMode, { id, brokerName }: KnownConnection, instrument: Instrument): Promise<BrokerQuote> {
    if (brokerName === 'alpaca') {
      const source = await alpacaData(owner, id);
      return source === null ? { kind: 'no_data' } : { kind: 'quoted', quote: await source.quote(instrument.symbol) };
    }
    const answer = await connections.quote(id, instrument.symbol);
    if (answer.kind === 'no_data') return answer;
    if (answer.kind === 'credentials') throw new CredentialsRefused(answer.reason);
    if (answer.kind !== 'known') throw new AppError('unavailable', 'The broker returned no price: try again');
    return { kind: 'quoted', quote: answer.value === null ? null : quoteOfSides(instrument, answer.value, data) };
  }

  /** Requested at most once a second, for all callers together. A failure is not cached. */
  async function quoteOnce(owner: AccountMode, connection: KnownConnection, instrument: Instrument): Promise<BrokerQuote> {
    const name = `${connection.id} ${instrument.symbol}`;
    let pending = answers.get(name);
    if (pending === undefined) answers.set(name, (pending = ask(owner, connection, instrument)));
    try {
      return await pending;
    } catch (cause) {
      answers.delete(name);
      throw shown(cause);
    }
  }

  async function barsAt({ id }: KnownConnection, request: BarsRequest, { assetClass }: Instrument): Promise<Bars | null> {
    const answer = await connections.bars(id, request);
    if (answer.kind === 'credentials') throw shown(new CredentialsRefused(answer.reason));
    if (answer.kind !== 'known') throw new AppError('unavailable', 'The broker returned no bars: try again');
    return answer.value === null ? null : barsOfVendor(answer.value, { ...request, assetClass }, data.clock.nowMs());
  }

  return {
    async quoteOf(owner, symbol, brokerKey) {
      await market.ready;
      const instrument = parseSymbol(symbol);
      if (instrument === null) return market.quote(symbol);
      const found = await quotedBy(owner, await knownTo(owner), instrument, brokerKey);
      return found === 'own' ? market.quote(symbol) : (found?.quote ?? null);
    },

    async barsOf(owner, request, brokerKey) {
      await market.ready;
      const instrument = parseSymbol(request.symbol);
      if (instrument === null) return null;
      const known = await knownTo(owner);
      // Decisions must not pass to the history of another broker for as long as this one is not connected.
      if (known.some(({ id, status }) => id === brokerKey && status === 'error'))
        throw new AppError('unavailable', 'The broker is not connected');
      const found = await quotedBy(owner, known, instrument, brokerKey);
      if (found === null || found === 'own') return found;
      const { connection } = found;
      if (connection.brokerName !== 'alpaca') return barsAt(connection, request, instrument);
      const source = await alpacaData(owner, connection.id);
      if (source === null) throw new AppError('unavailable', 'The broker returned no bars: try again');
      try {
        return await source.bars(request);
      } catch (cause) {
        throw shown(cause);
      }
    },
  };
}

/** Keys that do not allow market data may still allow trading. */
function shown(cause: unknown): unknown {
  return cause instanceof CredentialsRefused
    ? new AppError('unavailable', 'The broker refuses prices to these credentials', { cause })
    : cause;
}
