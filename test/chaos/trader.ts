/**
 * One account and what its clients trade on paper: orders that fill at once, that rest, that open a position with legs; cancels and replacements of orders that
 * are just filling; several at a time, at random. Every order has a client_order_id of its own, by which it is found in the books.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Mode } from '../../src/mode.ts';
import type { Random } from '../support/random.ts';
import { type Account, allowLiveTrading, registerAccount } from './account.ts';
import { type Answer, type Ask, Client, type Door } from './client.ts';
import type { History, OperationName } from './history.ts';
import type { AtBroker } from './venue.ts';

export type TraderParts = { history: History; nodes: () => Door[]; random: Random };

const symbols = ['AAPL', 'MSFT', 'KO', 'BTC-USD'] as const;
const longestThoughtMs = 60;
/** The share of operations that are not retried after a lost answer, so that their outcome stays unknown. */
const noRetryChance = 0.04;
/** The share of operations that are repeated although they were answered. */
const repeatChance = 0.04;
const mostOpen = 60;
const cancelWithinMs = 120_000;
/** 409: a block, a stale quote, an order that has ended; 422: risk. */
const refusals = [409, 422];

export class Trader {
  readonly account: string;
  readonly token: string;
  readonly client: Client;
  private readonly random: Random;
  private readonly registered: Account;
  /** Trades at a broker. */
  private broker: AtBroker | null = null;
  private strategy: string | null = null;
  /** Orders that may still be open, newest last. */
  private readonly open: string[] = [];
  private marks = 0;

  private constructor(client: Client, registered: Account, random: Random) {
    this.client = client;
    this.registered = registered;
    this.account = registered.id;
    this.token = registered.key;
    this.random = random;
  }

  /** Registers, before anything is broken. */
  static async register(parts: TraderParts, mode: Mode): Promise<Trader> {
    const account = await registerAccount(parts.nodes()[0]!.url, mode);
    return new Trader(new Client({ ...parts, account: account.id, token: account.key }), account, parts.random);
  }

  /** From now on its orders go to this broker. Before anything is broken. */
  async connect(url: string, broker: AtBroker): Promise<void> {
    if (broker.mode === 'live') await allowLiveTrading(url, this.registered);
    const answer = await this.client.ask(posting('/v1/trading/brokers', broker.body));
    if (answer?.status !== 201 || answer.json.status !== 'connected') throw new Error(`The broker was not connected: ${answer?.text}`);
    this.broker = broker;
  }

  /** From now on a strategy trades for it too, on minutes of a market that never closes. Before anything is broken. */
  async runStrategy(): Promise<void> {
    const config = { lookback: 1, timeframe: '1m', capital: 1_000 };
    const body = { name: 'minutes', type: 'momentum', symbols: ['BTC-USD', 'ETH-USD'], config };
    const made = await this.client.ask(posting('/v1/trading/strategies', body));
    const started = made?.status === 201 ? await this.client.ask(posting(`/v1/trading/strategies/${made.json.id}/start`, {})) : made;
    if (started?.status !== 200) throw new Error(`The strategy was not started: ${started?.text}`);
    this.strategy = made!.json.id;
  }

  /** Performs one operation after the other until `isOver`. Several calls may run for one account. */
  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.doSomething();
      await pause(this.random.next() * longestThoughtMs);
    }
  }

  /** Cancels all orders that may be open, until none is. The checker reports orders that are open after two minutes. */
  async cancelAll(): Promise<void> {
    const giveUpAtMs = performance.now() + cancelWithinMs;
    if (this.strategy !== null) await this.client.ask(posting(`/v1/trading/strategies/${this.strategy}/stop`, {}));
    while (performance.now() < giveUpAtMs) {
      const answers = await Promise.all(
        ['submitted', 'accepted', 'partially_filled'].map((status) =>
          this.client.ask({ method: 'GET', path: `/v1/trading/orders?limit=100&status=${status}` }),
        ),
      );
      const ids = answers.flatMap((answer) => (answer?.status === 200 ? answer.json.data.map(({ id }: { id: string }) => id) : []));
      if (ids.length === 0 && answers.every((answer) => answer?.status === 200)) return;
      await pause(100);
      for (const id of ids) await this.client.ask({ method: 'DELETE', path: `/v1/trading/orders/${id}` });
    }
  }

  private async doSomething(): Promise<void> {
    const chance = this.random.next();
    if (chance < 0.45) await this.market();
    else if (chance < 0.5) await Promise.all(Array.from({ length: 8 }, () => this.market()));
    else if (chance < 0.68) await this.limit();
    else if (chance < 0.73) await this.bracket();
    else if (chance < 0.85 || this.open.length > mostOpen) await this.cancel();
    else if (chance < 0.93) await this.replace();
    else await this.query();
  }

  private async market(): Promise<void> {
    const { symbol, quantity } = this.choice();
    await this.place({ symbol, quantity, side: this.side(), order_type: 'market' });
  }

  /** Near the market, so that some fill at once, some later, and some never. */
  private async limit(): Promise<void> {
    const { symbol, quantity } = this.choice();
    const quote = await this.client.ask({ method: 'GET', path: `/v1/trading/quotes/${symbol}` });
    if (quote?.status !== 200) return;
    const { bid, tick } = quote.json;
    const price = Math.round((bid * (0.98 + this.random.next() * 0.04)) / tick) * tick;
    const limit = Number(price.toFixed(2));
    await this.place({ symbol, quantity, side: this.side(), order_type: 'limit', limit_price: limit, time_in_force: 'gtc' });
  }

  private async bracket(): Promise<void> {
    const mark = this.mark();
    const body = {
      symbol: 'AAPL',
      quantity: this.random.between(1, 3),
      side: 'long',
      stop_loss: 1,
      take_profit: 100_000,
      client_order_id: mark,
    };
    const { answer } = await this.perform('trade', mark, {
      ...posting('/v1/trading/positions/open', body),
      resultOf: ({ json }) => json.order.id,
    });
    if (answer?.status === 201) this.open.push(answer.json.order.id);
  }

  private async cancel(): Promise<void> {
    const id = this.anyOpen();
    if (id === undefined) return;
    await this.perform('cancel trade', id, { method: 'DELETE', path: `/v1/trading/orders/${id}`, resultOf: ({ json }) => json.status });
  }

  /** Asked once: it takes no Idempotency-Key, so a second request would be refused where the first took effect. */
  private async replace(): Promise<void> {
    const id = this.anyOpen();
    if (id === undefined) return;
    const mark = this.mark();
    const { answer } = await this.perform('replace trade', mark, {
      method: 'PATCH',
      path: `/v1/trading/orders/${id}`,
      body: () => JSON.stringify({ quantity: this.random.between(1, 4), client_order_id: mark }),
      resultOf: ({ json }) => json.id,
      patienceMs: 0,
      isRepeated: false,
    });
    if (answer?.status === 200) this.open.push(answer.json.id);
  }

  /** What is wrong at any moment is wrong. */
  private async query(): Promise<void> {
    const path = '/v1/trading/account';
    const { answer } = await this.client.perform('query', path, null, { method: 'GET', path, refusals: [] });
    const { cash, equity, halted } = answer?.json ?? { cash: 0, equity: 0, halted: false };
    if (!Number.isFinite(cash) || !Number.isFinite(equity) || halted) this.client.unexpected(`${path} was answered ${answer!.text}`);
  }

  private async place(order: object): Promise<void> {
    const mark = this.mark();
    const { answer } = await this.perform('trade', mark, {
      ...posting('/v1/trading/orders', { ...order, client_order_id: mark, mode: this.broker?.mode ?? 'paper' }),
      resultOf: ({ json }) => json.id,
    });
    if (answer?.status === 201) this.open.push(answer.json.id);
    if (answer?.status === 409 && answer.text.includes('client_order_id')) this.client.unexpected(`${mark} was answered ${answer.text}`);
  }

  private anyOpen(): string | undefined {
    return this.open.splice(this.random.between(0, this.open.length), 1)[0];
  }

  private choice(): { symbol: string; quantity: number } {
    const symbol = this.random.pick(this.broker?.symbols ?? symbols);
    if (this.broker?.isWhole) return { symbol, quantity: this.random.between(1, 5) };
    const fraction = this.random.between(1, 999_999_999) / 1e9;
    if (symbol === 'BTC-USD') return { symbol, quantity: Number((fraction / 1_000).toFixed(9)) };
    return { symbol, quantity: this.random.next() < 0.3 ? fraction : this.random.between(1, 5) };
  }

  private side(): 'buy' | 'sell' {
    return this.random.next() < 0.55 ? 'buy' : 'sell';
  }

  private mark(): string {
    return `t-${this.account}-${++this.marks}`;
  }

  private perform(name: OperationName, subject: string, ask: Ask): Promise<{ answer: Answer | null }> {
    const chance = this.random.next();
    const patienceMs = chance < noRetryChance ? 0 : undefined;
    const isRepeated = ask.method === 'POST' && chance > 1 - repeatChance;
    return this.client.perform(name, subject, null, { refusals, patienceMs, isRepeated, ...ask });
  }
}

function posting(path: string, body: object): Ask {
  return { method: 'POST', path, body: () => JSON.stringify(body) };
}
