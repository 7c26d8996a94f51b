/** Prices and the market's clock set by a test: the file of MARKET_DATA_FILE, replaced atomically. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from './json.ts';
import type { Scope } from './scope.ts';
import { Caller, type Service, startService } from './service.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

export type FileQuote = { bid: number; ask: number; last: number; volume: number; at?: string };
export type FileAction = { type: 'split'; symbol: string; ratio: number } | { type: 'dividend'; symbol: string; amount: number };

/** Always traded, in every content, and no test's own. */
const clockSymbol = 'CLOCK-USD';

/** A Friday, half an hour into the session of New York. */
export const inSession = '2026-11-20T15:00:00Z';

/** A cent below and above `last`, and more of it than anybody asks for, unless it is said. */
export function quote(last: number, more: Partial<FileQuote> = {}): FileQuote {
  const cents = Math.round(last * 100);
  return { bid: (cents - 1) / 100, ask: (cents + 1) / 100, last, volume: 1_000_000, ...more };
}

/** Every content is one new quote of each symbol, also where no price has changed. Its clock goes on by a second more than the machine's each time. */
export class MarketData {
  readonly path: string;
  private quotes: Record<string, FileQuote> = {};
  private nowMs = Date.parse(inSession);
  private writtenAtMs = performance.now();

  private constructor(path: string) {
    this.path = path;
  }

  static async open(t: Scope, quotes: Record<string, FileQuote>): Promise<MarketData> {
    const folder = await temporaryFolder('troupe-market-');
    t.after(() => folder.remove());
    const market = new MarketData(join(folder.path, 'market.json'));
    await market.write(quotes);
    return market;
  }

  /** Sets the market's clock, for the next content. */
  setClock(at: string): void {
    this.nowMs = Date.parse(at);
    this.writtenAtMs = performance.now();
  }

  /** Quotes over those of before; null: the symbol is gone. Answers the market's clock at this content. */
  async write(quotes: Record<string, FileQuote | null> = {}, actions: FileAction[] = []): Promise<string> {
    const all = Object.entries({ ...this.quotes, ...quotes }).filter(([, quote]) => quote !== null);
    this.quotes = Object.fromEntries(all) as Record<string, FileQuote>;
    this.nowMs += 1_000 + Math.ceil(performance.now() - this.writtenAtMs);
    this.writtenAtMs = performance.now();
    const now = new Date(this.nowMs).toISOString();
    await writeFile(`${this.path}.new`, JSON.stringify({ now, quotes: { ...this.quotes, [clockSymbol]: quote(1) }, actions }));
    await rename(`${this.path}.new`, this.path);
    return now;
  }
}

export type TradingSite = {
  service: Service;
  market: MarketData;
  /** Writes a content, and resolves when the service has it. */
  show(quotes?: Record<string, FileQuote | null>, actions?: FileAction[]): Promise<void>;
  trader(): Promise<Trader>;
  /** As `show`, and resolves when the trader's account has met the content: an order of its own of the clock symbol has filled on it. */
  meet(trader: Trader, quotes?: Record<string, FileQuote | null>): Promise<void>;
};

/** The service with a market that the test moves. */
export async function startTradingService(
  t: Scope,
  quotes: Record<string, FileQuote>,
  env: Record<string, string> = {},
): Promise<TradingSite> {
  const market = await MarketData.open(t, quotes);
  const service = await startService(t, { MARKET_DATA_FILE: market.path, ...env });
  const watcher = await Caller.register(service);
  const show: TradingSite['show'] = async (next = {}, actions = []) => {
    const now = await market.write(next, actions);
    await until(async () => (await watcher.json('GET', `/v1/trading/quotes/${clockSymbol}`)).at === now, 'the new content');
  };
  return {
    service,
    market,
    show,
    trader: async () => new Trader(await Caller.register(service)),
    async meet(trader, quotes) {
      const { id } = await trader.place({ symbol: clockSymbol, quantity: 0.001 });
      await show(quotes);
      await trader.until(id, 'filled');
    },
  };
}

export type Answer = { status: number; json: Json };

/** What a caller asks of trading. */
export class Trader {
  readonly caller: Caller;

  constructor(caller: Caller) {
    this.caller = caller;
  }

  async ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    const response = await this.caller.fetch(method, `/v1/trading/${path}`, body, headers);
    const text = await response.text();
    return { status: response.status, json: text === '' ? null : JSON.parse(text) };
  }

  /** A placed order. Fails where it is refused. */
  place(order: object): Promise<Json> {
    return this.caller.json('POST', '/v1/trading/orders', { side: 'buy', order_type: 'market', ...order });
  }

  order(id: string): Promise<Json> {
    return this.caller.json('GET', `/v1/trading/orders/${id}`);
  }

  /** Resolves with the order as soon as it is so. */
  async until(id: string, status: string): Promise<Json> {
    let order: Json;
    await until(async () => (order = await this.order(id)).status === status, `order ${id} to be ${status}: ${JSON.stringify(order!)}`);
    return order!;
  }

  account(query = ''): Promise<Json> {
    return this.caller.json('GET', `/v1/trading/account${query}`);
  }

  async position(symbol: string): Promise<Json | undefined> {
    const { data } = await this.caller.json('GET', '/v1/trading/positions?limit=100');
    return data.find((position: Json) => position.symbol === symbol);
  }

  async fills(id: string): Promise<Json[]> {
    return (await this.caller.json('GET', `/v1/trading/orders/${id}/fills?limit=100`)).data;
  }

  /** What an order is refused with: the status, and of a 422 the one issue's field, type and context. */
  async refusal(order: object, path = 'orders'): Promise<unknown> {
    return refusalOf(await this.ask('POST', path, { side: 'buy', order_type: 'market', ...order }));
  }
}

export function refusalOf({ status, json }: Answer): unknown {
  if (status !== 422) return status;
  return json.detail.map(({ loc, type }: Json) => [loc.slice(1).join('.'), type]);
}
