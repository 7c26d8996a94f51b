/**
 * Orders at brokers on one node: a real database, the actors of trading, the watchers of connections, and stand-ins of the brokers
 * over HTTP. The runtime can be killed at any time and continues with the stored state.
 */
import type { ActorSystem } from '../../src/actors/actor-system.ts';
import { systemClock } from '../../src/clock.ts';
import type { BrokerName } from '../../src/domains/trading/brokers/capabilities.ts';
import { connect } from '../../src/domains/trading/brokers/connection/connect.ts';
import { connectionActor } from '../../src/domains/trading/brokers/connection/connection.ts';
import { credentialBox } from '../../src/domains/trading/brokers/connection/credentials.ts';
import type { ConnectedBrokerRow } from '../../src/domains/trading/brokers/connection/entity.ts';
import { brokerConnection, connectionIdOf } from '../../src/domains/trading/brokers/connection/messages.ts';
import { OpenConnections } from '../../src/domains/trading/brokers/connection/open-connections.ts';
import { ConnectionWatchers } from '../../src/domains/trading/brokers/connection/watchers.ts';
import type { VenueCredentials } from '../../src/domains/trading/brokers/open-broker.ts';
import { clientOrderActor } from '../../src/domains/trading/client-order/client-order.ts';
import { openLocalMarket } from '../../src/domains/trading/market/local-market.ts';
import { TradingStats } from '../../src/domains/trading/metrics.ts';
import type { ReplaceRequest } from '../../src/domains/trading/orders/replace.ts';
import type { OrderTerms } from '../../src/domains/trading/orders/terms.ts';
import {
  type AccountSummary,
  defaultLimits,
  tradingAccount,
  tradingOrderIdOf,
} from '../../src/domains/trading/trading-account/messages.ts';
import { tradingAccountActor } from '../../src/domains/trading/trading-account/trading-account.ts';
import type { TradingOrderRow } from '../../src/domains/trading/trading-order/entity.ts';
import { tradingOrder } from '../../src/domains/trading/trading-order/messages.ts';
import { tradingOrderActor } from '../../src/domains/trading/trading-order/trading-order.ts';
import { newId } from '../../src/ids.ts';
import { noLog } from '../../src/log.ts';
import { createOutbound } from '../../src/providers/outbound/outbound.ts';
import { AlpacaServer } from './alpaca-server.ts';
import type { BrokerStandIn, StandInOrder } from './broker-stand-in.ts';
import { CoinbaseServer } from './coinbase-server.ts';
import { type TestRuntime, testRuntime } from './runtime.ts';
import { TradierServer } from './tradier-server.ts';
import { until } from './until.ts';

const secretKey = 'a secret key of thirty-two characters';
export const brokerTiming = { timeoutMs: 400, lookUpMs: 1_500, pollMs: 100, reconcileMs: 400 };

export type Broker = {
  name: 'alpaca' | 'tradier' | 'coinbase';
  server: BrokerStandIn;
  row: ConnectedBrokerRow;
  accountId: string;
  terms: OrderTerms;
};

export class BrokerWorld {
  readonly alpaca = new AlpacaServer();
  readonly tradier = new TradierServer();
  readonly coinbase = new CoinbaseServer();
  readonly market = openLocalMarket({ settings: { marketDataFile: null, marketHours: null }, log: noLog });
  private readonly outbound = createOutbound({ allow: [] });
  private readonly box = credentialBox(secretKey);
  private readonly brokers: Broker[] = [];
  /** How far the clock of the watchers is ahead: it ends sessions. */
  aheadMs = 0;
  readonly stats = new TradingStats();
  connections!: OpenConnections;
  test!: TestRuntime;
  private watchers: ConnectionWatchers | null = null;

  static async start(timing: Partial<typeof brokerTiming> = {}): Promise<BrokerWorld> {
    const world = new BrokerWorld();
    await world.begin({ ...brokerTiming, ...timing });
    return world;
  }

  private async begin({ timeoutMs, lookUpMs, pollMs, reconcileMs }: typeof brokerTiming): Promise<void> {
    await Promise.all([this.alpaca.start(), this.tradier.start(), this.coinbase.start()]);
    const current = () => this.test;
    // The runtime of the moment: it is another one after a crash.
    const actors = {
      ask: (...args: Parameters<ActorSystem['ask']>) => current().actors.ask(...args),
      query: (...args: Parameters<ActorSystem['query']>) => current().actors.query(...args),
    } as unknown as ActorSystem;
    const database = { read: (query: never) => current().database.read(query) } as unknown as TestRuntime['database'];
    const addresses = { alpacaApiUrl: this.alpaca.url, tradierApiUrl: this.tradier.url, coinbaseApiUrl: this.coinbase.url };
    const shared = { actors, database, clock: systemClock, log: noLog };
    const parts = { ...shared, outbound: this.outbound, stats: this.stats, addresses, timeoutMs };
    this.connectionsWith = (secretKey) => new OpenConnections({ ...parts, credentials: credentialBox(secretKey) });
    this.connections = this.connectionsWith(secretKey);
    const ahead = { nowMs: () => systemClock.nowMs() + this.aheadMs };
    this.watch = () =>
      new ConnectionWatchers({
        ...shared,
        clock: ahead,
        stats: this.stats,
        connections: this.connections,
        pollMs,
        reconcileMs,
        lookUpMs,
        placement: this.test.placement,
      });
    this.test = await testRuntime([
      tradingAccountActor(this.market),
      tradingOrderActor({ venue: this.connections.calls, timing: { lookUpMs, reconcileMs }, timeoutMs }),
      clientOrderActor,
      connectionActor((id) => this.watchers?.changed(id)),
    ]);
    this.watchers = this.watch();
  }

  private watch!: () => ConnectionWatchers;
  /** The same connections as a node sees them that has this SECRET_KEY. */
  connectionsWith!: (secretKey: string) => OpenConnections;

  async stop(): Promise<void> {
    this.watchers?.stop();
    await this.test.close();
    await Promise.all([this.alpaca.stop(), this.tradier.stop(), this.coinbase.stop()]);
    await this.outbound.close();
    await this.market.close();
  }

  /** Kills the runtime, and goes on with what is stored. */
  async crash(): Promise<void> {
    this.watchers?.stop();
    this.watchers = null;
    await this.test.crashAndRestart();
    this.watchers = this.watch();
    for (const { row } of this.brokers) this.watchers.changed(row.id);
  }

  /** A new account with a connection to this broker. */
  async connect(name: Broker['name'], orderMode: 'paper' | 'live' = name === 'coinbase' ? 'live' : 'paper'): Promise<Broker> {
    const broker = await this.add(name, orderMode);
    await until(async () => (await this.connection(broker)).status === 'connected', 'the connection');
    return broker;
  }

  /** As `connect`, with any result of the test of the credentials. */
  async add(name: Broker['name'], orderMode: 'paper' | 'live' = 'paper'): Promise<Broker> {
    const accountId = newId('acct_', null);
    const { row } = await this.connectTo(name, accountId, orderMode);
    const symbol = name === 'coinbase' ? 'BTC-USD' : 'AAPL';
    const terms: OrderTerms = {
      symbol,
      assetClass: name === 'coinbase' ? 'crypto' : 'equity',
      side: 'buy',
      quantity: name === 'coinbase' ? '0.02' : '4',
      orderType: 'market',
      limitPrice: null,
      stopPrice: null,
      timeInForce: name === 'coinbase' ? 'gtc' : 'day',
    };
    const broker = { name, server: this[name], row, accountId, terms };
    this.brokers.push(broker);
    return broker;
  }

  /** Connects with the keys that the broker has now. `isNew`: there was no connection to this account of the broker. */
  connectTo(name: Broker['name'], accountId: string, orderMode: 'paper' | 'live' = name === 'coinbase' ? 'live' : 'paper') {
    const { alpaca, tradier, coinbase } = this;
    const given: Record<Broker['name'], VenueCredentials> = {
      alpaca: { venue: 'alpaca', ...alpaca.keys },
      tradier: { venue: 'tradier', ...tradier.keys },
      coinbase: { venue: 'coinbase', ...coinbase.keys },
    };
    const id = connectionIdOf(accountId, newId('brk_', accountId));
    const parts = { actors: this.test.actors, connections: this.connections, credentials: this.box, clock: systemClock };
    const request = { accountId, mode: 'live' as const, orderMode, credentials: given[name], id, mayCreate: async () => {} };
    return connect(parts, request);
  }

  /** Forgets what a test has left behind: its connections are watched no more, and the brokers are empty. */
  forget(): void {
    this.watchers?.stop();
    this.watchers = this.watch();
    this.brokers.length = 0;
    this.aheadMs = 0;
    for (const server of [this.alpaca, this.tradier, this.coinbase]) server.forget();
  }

  place({ row, accountId, terms }: Broker, other: Partial<OrderTerms> = {}): Promise<TradingOrderRow> {
    const orderId = tradingOrderIdOf(accountId, newId('ord_', accountId));
    const route = { brokerKey: row.id, brokerName: row.brokerName as BrokerName, orderMode: row.orderMode, filledBy: row.filledBy };
    const quote = this.market.quoteNow(terms.symbol)!;
    const input = { ...route, orderId, clientOrderId: null, terms: { ...terms, ...other }, quote, limits: defaultLimits };
    return this.test.actors.ask(tradingAccount, accountId, 'place', input);
  }

  order(id: string): Promise<TradingOrderRow> {
    return Promise.resolve(this.test.actors.query(tradingOrder, id, 'get', null)) as Promise<TradingOrderRow>;
  }

  cancel({ accountId }: Broker, orderId: string): Promise<TradingOrderRow> {
    return this.test.actors.ask(tradingAccount, accountId, 'cancel', { orderId });
  }

  /** The order that takes the place of what remains of another one. */
  replace({ accountId, terms }: Broker, orderId: string, change: ReplaceRequest): Promise<TradingOrderRow> {
    const newOrderId = tradingOrderIdOf(accountId, newId('ord_', accountId));
    const asked = { orderId, newOrderId, clientOrderId: null, change, quote: this.market.quoteNow(terms.symbol)!, limits: defaultLimits };
    return this.test.actors.ask(tradingAccount, accountId, 'replace', asked);
  }

  async connection({ row }: Broker): Promise<ConnectedBrokerRow> {
    return (await this.test.actors.query(brokerConnection, row.id, 'get', null))!;
  }

  /** Resolves with the order once it is so. */
  async orderBecomes(id: string, condition: (order: TradingOrderRow) => boolean, what = 'the order'): Promise<TradingOrderRow> {
    let order = await this.order(id);
    await until(async () => condition((order = await this.order(id))), `${what}, now ${JSON.stringify([order.state, order.outbound])}`);
    return order;
  }

  status(id: string, status: TradingOrderRow['status']): Promise<TradingOrderRow> {
    return this.orderBecomes(id, (order) => order.status === status, status);
  }

  /** What is held of the broker's symbol, as the account has it. */
  async held({ row, accountId, terms }: Broker): Promise<string> {
    const held = await this.test.actors.query(tradingAccount, accountId, 'positions', { brokerKey: row.id });
    return held.find(({ symbol }) => symbol === terms.symbol)?.quantity ?? '0';
  }

  async summary({ row, accountId }: Broker): Promise<AccountSummary> {
    return (await this.test.actors.query(tradingAccount, accountId, 'summary', { brokerKey: row.id }))!;
  }

  /** The stand-in's order with our id. */
  at({ server }: Broker, id: string): StandInOrder | undefined {
    return server.orders.find(({ ourId }) => ourId?.replace('-', '_') === id);
  }

  events(accountId: string): { type: string; data: Record<string, unknown> }[] {
    return this.test.events
      .filter((event) => event.accountId === accountId)
      .map(({ type, data }) => ({ type, data: JSON.parse(String((data as { text?: string }).text ?? data)) }));
  }
}
