/**
 * Marks the trading accounts of this node's shards: each second, and at each new content of the market's file. Only accounts that time or prices can
 * change are marked (`watched`, a column with an index). A mark that changes nothing is a turn without a commit. A failure is logged; the next round
 * marks the remaining accounts.
 */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { shardOf } from '../../../cluster/address.ts';
import type { Placement } from '../../../cluster/placement.ts';
import type { Log } from '../../../log.ts';
import { accountModeOf } from '../../../mode.ts';
import type { Database } from '../../../storage/database.ts';
import type { LocalMarket } from '../market/local-market.ts';
import type { Quote } from '../market/port.ts';
import type { Prices } from '../market/prices.ts';
import type { MarkStats } from '../metrics.ts';
import { tradingAccount } from './messages.ts';

export type MarketWatchParts = {
  database: Pick<Database, 'read'>;
  actors: Pick<ActorSystem, 'ask' | 'query'>;
  placement: Pick<Placement, 'epochOf'>;
  market: Pick<LocalMarket, 'onContent' | 'name' | 'hasPrices'>;
  /** Prices of brokers. */
  prices: Prices;
  stats: MarkStats;
  log: Log;
};

const everyMs = 1_000;
const pageSize = 500;
/** Accounts marked concurrently: those that write share one commit. Fewer than admission control allows under any load. */
const markedAtOnce = 64;
/** Concurrent quote requests of one account. */
const quotesAtOnce = 16;
/**
 * Turns for one account in one round; the rest is left for the next round, and newer contents begin the next round at once. Every account has its
 * first turn before any has its second: many orders of one account delay the others by one turn only.
 */
const maxTurns = 20;

/** An account in a round, with the prices that the round uses for it. */
type Marked = { id: string; quotes: Record<string, Quote> | null; open: number };

/** One pass over all accounts, and further ones over those that have more to do. */
type Round = { beganAtMs: number; accounts: number; openOrders: number; hasFailed: boolean };

export class MarketWatch {
  private readonly parts: MarketWatchParts;
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> | null = null;
  /** New content came during a round: another round must begin. */
  private isBehind = false;
  private isStopped = false;
  private isFailing = false;
  private stopListening: () => void = () => {};

  constructor(parts: MarketWatchParts) {
    this.parts = parts;
  }

  start(): void {
    this.parts.stats.start();
    this.stopListening = this.parts.market.onContent(() => void this.round());
    this.await();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.stopListening();
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
  }

  /** Marks all accounts of this node's shards on contents at least as new as this call. Never rejects. */
  round(): Promise<void> {
    if (this.running !== null) {
      this.isBehind = true;
      return this.running;
    }
    this.running = this.rounds().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private await(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.round().finally(() => this.await()), everyMs);
    this.timer.unref();
  }

  private async rounds(): Promise<void> {
    do {
      this.isBehind = false;
      const round: Round = { beganAtMs: performance.now(), accounts: 0, openOrders: 0, hasFailed: false };
      await this.markAll(round).catch((error) => this.failed(round, error));
      if (round.hasFailed || this.isStopped) continue;
      this.isFailing = false;
      this.parts.stats.completed(round);
    } while (this.isBehind && !this.isStopped);
  }

  private async markAll(round: Round): Promise<void> {
    if (!this.parts.market.hasPrices()) {
      round.hasFailed = true;
      return;
    }
    let after = '';
    let unfinished: Marked[] = [];
    while (!this.isStopped) {
      const { rows } = await this.parts.database.read({
        name: 'trading_account_watched',
        text: `select id from trading_account where watched and id > $1 order by id limit ${pageSize}`,
        values: [after],
      });
      const ids = rows.map(({ id }) => id as string);
      const ours = ids.filter((id) => this.parts.placement.epochOf(shardOf(tradingAccount.kind, id)) !== null);
      round.accounts += ours.length;
      unfinished.push(...(await this.markEach(ours.map(unmarked), round)));
      if (ids.length < pageSize) break;
      after = ids.at(-1)!;
    }
    for (let turns = 1; unfinished.length > 0 && turns < maxTurns && !this.isBehind && !this.isStopped; turns++)
      unfinished = await this.markEach(unfinished, round);
    for (const { open } of unfinished) round.openOrders += open;
  }

  /** One turn for each account. Returns those that have something left to do. */
  private async markEach(accounts: readonly Marked[], round: Round): Promise<Marked[]> {
    const unfinished: Marked[] = [];
    await eachOf(markedAtOnce, accounts, async ({ id, quotes: known }) => {
      try {
        const quotes = known ?? (await this.brokerQuotes(id));
        const { more, open } = await this.parts.actors.ask(tradingAccount, id, 'mark', { quotes });
        if (more) unfinished.push({ id, quotes, open });
        else round.openOrders += open;
      } catch (error) {
        this.failed(round, error);
      }
    });
    return unfinished;
  }

  /** A price that is unavailable now is left out: the last price stays, and ages. */
  private async brokerQuotes(id: string): Promise<Record<string, Quote>> {
    const { actors, market, prices } = this.parts;
    if (market.name === 'file') return {};
    const { fromBroker } = await actors.query(tradingAccount, id, 'watchedSymbols', null);
    const found: Record<string, Quote> = {};
    await eachOf(quotesAtOnce, fromBroker, async (symbol) => {
      const quote = await prices.quoteOf(accountModeOf(id), symbol).catch(() => null);
      if (quote !== null) found[symbol] = quote;
    });
    return found;
  }

  private failed(round: Round, error: unknown): void {
    round.hasFailed = true;
    if (!this.isFailing && !this.isStopped) this.parts.log.warn({ err: error }, 'trading accounts could not be marked; retrying');
    this.isFailing = true;
  }
}

function unmarked(id: string): Marked {
  return { id, quotes: null, open: 0 };
}

async function eachOf<T>(atOnce: number, all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: Math.min(atOnce, all.length) }, async () => {
      for (const one of left) await work(one);
    }),
  );
}
