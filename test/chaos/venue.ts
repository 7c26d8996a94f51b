/**
 * The brokers and a market during a run, with the faults of real brokers: answers that are lost, late or temporarily refused. Orders
 * fill at random, completely or in part.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AlpacaServer, alpacaKeys } from '../support/alpaca-server.ts';
import type { BrokerStandIn, Fault } from '../support/broker-stand-in.ts';
import { CoinbaseServer, coinbaseKeys } from '../support/coinbase-server.ts';
import type { Random } from '../support/random.ts';
import { TradierServer, tradierKeys } from '../support/tradier-server.ts';

const contentEveryMs = 250;
const fillEveryMs = 60;
const faultChance = 0.15;
const reportedFaults: readonly Fault[] = ['lost', { lateMs: 1_500 }, { status: 429, headers: { 'retry-after': '1' }, json: {} }];
/** The broker has not acted, and does not say so. Tradier keeps no id unique: there nothing settles such an order before the session ends. */
const unreportedFaults: readonly Fault[] = ['cut', { status: 503, json: { message: 'later' } }];
const prices = { AAPL: 200, MSFT: 400, KO: 60, 'BTC-USD': 60_000, 'ETH-USD': 2_000 };

/** Where a trader of a broker trades, and what. */
export type AtBroker = {
  body: object;
  mode: 'paper' | 'live';
  symbols: readonly (keyof typeof prices)[];
  /** Whole shares alone. */
  isWhole: boolean;
};
const shares = { mode: 'paper', symbols: ['AAPL', 'KO'], isWhole: true } as const;

/** One for a trader each. Coinbase has no paper venue: only live orders reach it. */
export const brokers: readonly AtBroker[] = [
  {
    ...shares,
    body: { broker_name: 'alpaca', credentials: { api_key: alpacaKeys.apiKey, api_secret: alpacaKeys.apiSecret } },
  },
  {
    ...shares,
    body: { broker_name: 'tradier', credentials: { access_token: tradierKeys.accessToken, account_id: tradierKeys.accountId } },
  },
  {
    mode: 'live',
    symbols: ['BTC-USD'],
    isWhole: false,
    body: { broker_name: 'coinbase', mode: 'live', credentials: { api_key: coinbaseKeys.apiKey, api_secret: coinbaseKeys.apiSecret } },
  },
];

export class Venue {
  private readonly alpaca = new AlpacaServer();
  private readonly tradier = new TradierServer();
  private readonly coinbase = new CoinbaseServer();
  private readonly all: readonly BrokerStandIn[] = [this.alpaca, this.tradier, this.coinbase];
  private readonly path: string;
  private readonly random: Random;
  private timer: NodeJS.Timeout | undefined;
  private quoting: Promise<void> = Promise.resolve();
  private isOver = false;
  private isQuiet = false;

  private constructor(folder: string, random: Random) {
    this.path = join(folder, 'market.json');
    this.random = random;
  }

  static async start(folder: string, random: Random): Promise<Venue> {
    const venue = new Venue(folder, random);
    for (const broker of venue.all) {
      await broker.start();
      broker.cash = 100_000_000;
    }
    await venue.quote();
    venue.quoting = venue.quoteOn();
    venue.timer = setInterval(() => venue.trade(), fillEveryMs);
    return venue;
  }

  get env(): Record<string, string> {
    const timing = { BROKER_TIMEOUT_MS: '1000', BROKER_LOOKUP_MS: '30000', BROKER_POLL_MS: '300', BROKER_RECONCILE_MS: '3000' };
    return {
      ALPACA_API_URL: this.alpaca.url,
      TRADIER_API_URL: this.tradier.url,
      COINBASE_API_URL: this.coinbase.url,
      OUTBOUND_ALLOW: '127.0.0.0/8',
      MARKET_DATA_FILE: this.path,
      MARKET_HOURS: 'always',
      ...timing,
    };
  }

  /** What the brokers have, by our ids. A tag of Tradier's has no "_". */
  get orders(): { ourId: string | null; filled: number }[] {
    return this.all.flatMap(({ orders }) => orders.map(({ ourId, filled }) => ({ ourId: ourId?.replace('-', '_') ?? null, filled })));
  }

  /** Nothing fills any more, and every answer comes. */
  quieten(): void {
    this.isQuiet = true;
    for (const broker of this.all) broker.faults = [];
  }

  async stop(): Promise<void> {
    this.isOver = true;
    clearInterval(this.timer);
    await this.quoting;
    await Promise.all(this.all.map((broker) => broker.stop()));
  }

  private async quoteOn(): Promise<void> {
    for (; !this.isOver; await pause(contentEveryMs)) await this.quote();
  }

  private async quote(): Promise<void> {
    const quotes = Object.fromEntries(
      Object.entries(prices).map(([symbol, price]) => {
        const last = Number((price * (0.999 + this.random.next() * 0.002)).toFixed(2));
        return [symbol, { bid: Number((last - 0.01).toFixed(2)), ask: Number((last + 0.01).toFixed(2)), last, volume: 10_000 }];
      }),
    );
    await writeFile(`${this.path}.new`, JSON.stringify({ quotes }));
    await rename(`${this.path}.new`, this.path);
  }

  private trade(): void {
    if (this.isQuiet) return;
    for (const broker of this.all) this.tradeAt(broker);
  }

  private tradeAt(broker: BrokerStandIn): void {
    const faults = broker === this.tradier ? reportedFaults : [...reportedFaults, ...unreportedFaults];
    if (broker.faults.length === 0 && this.random.next() < faultChance) broker.faults.push(this.random.pick(faults));
    const isMarket = (type: string) => type.startsWith('market');
    const working = broker.orders.filter(({ state, type }) => state === 'working' && (isMarket(type) || this.random.next() < 0.1));
    if (working.length === 0) return;
    const order = this.random.pick(working);
    const left = order.quantity - order.filled;
    const isWhole = left <= 1 || this.random.next() < 0.6;
    broker.fill(order, isWhole ? left : Math.floor(left / 2) || left, prices[order.symbol as keyof typeof prices]);
  }
}
