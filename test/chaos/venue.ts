/**
 * A broker and a market for the length of a run, which nothing is done to but what brokers do by themselves: answers that are lost, late or refused for now.
 * Orders fill by chance, whole or in part.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AlpacaServer, alpacaKeys } from '../support/alpaca-server.ts';
import type { Fault } from '../support/broker-stand-in.ts';
import type { Random } from '../support/random.ts';

const contentEveryMs = 250;
const fillEveryMs = 60;
const faultChance = 0.15;
const faults: readonly Fault[] = [
  'lost',
  'cut',
  { lateMs: 1_500 },
  { status: 503, json: { message: 'later' } },
  { status: 429, headers: { 'retry-after': '1' }, json: {} },
];
const prices = { AAPL: 200, MSFT: 400, KO: 60, 'BTC-USD': 60_000 };

export const venueCredentials = { broker_name: 'alpaca', credentials: { api_key: alpacaKeys.apiKey, api_secret: alpacaKeys.apiSecret } };

export class Venue {
  readonly broker: AlpacaServer;
  private readonly path: string;
  private readonly random: Random;
  private timer: NodeJS.Timeout | undefined;
  private quoting: Promise<void> = Promise.resolve();
  private isOver = false;
  private isQuiet = false;

  private constructor(broker: AlpacaServer, folder: string, random: Random) {
    this.broker = broker;
    this.path = join(folder, 'market.json');
    this.random = random;
  }

  static async start(folder: string, random: Random): Promise<Venue> {
    const venue = new Venue(await new AlpacaServer().start(), folder, random);
    venue.broker.cash = 100_000_000;
    await venue.quote();
    venue.quoting = venue.quoteOn();
    venue.timer = setInterval(() => venue.trade(), fillEveryMs);
    return venue;
  }

  get env(): Record<string, string> {
    const timing = { BROKER_TIMEOUT_MS: '1000', BROKER_LOOKUP_MS: '30000', BROKER_POLL_MS: '300', BROKER_RECONCILE_MS: '3000' };
    return {
      ALPACA_API_URL: this.broker.url,
      OUTBOUND_ALLOW: '127.0.0.0/8',
      MARKET_DATA_FILE: this.path,
      MARKET_HOURS: 'always',
      ...timing,
    };
  }

  /** Nothing fills any more, and every answer comes. */
  quieten(): void {
    this.isQuiet = true;
    this.broker.faults = [];
  }

  async stop(): Promise<void> {
    this.isOver = true;
    clearInterval(this.timer);
    await this.quoting;
    await this.broker.stop();
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
    if (this.broker.faults.length === 0 && this.random.next() < faultChance) this.broker.faults.push(this.random.pick(faults));
    const working = this.broker.orders.filter(({ state, type }) => state === 'working' && (type === 'market' || this.random.next() < 0.1));
    if (working.length === 0) return;
    const order = this.random.pick(working);
    const left = order.quantity - order.filled;
    const isWhole = left <= 1 || this.random.next() < 0.6;
    this.broker.fill(order, isWhole ? left : Math.floor(left / 2) || left, prices[order.symbol as keyof typeof prices]);
  }
}
