/**
 * Notifies runs of complete bars. A run's row contains when it has something to do next, by the market's clock; every second, and at each
 * new content of the market, each node queries the due rows of its shards. So no crash and no move of a shard loses a bar, and a clock that
 * jumps is followed.
 */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { shardOf } from '../../../cluster/address.ts';
import type { Placement } from '../../../cluster/placement.ts';
import type { Log } from '../../../log.ts';
import type { Database } from '../../../storage/database.ts';
import type { LocalMarket } from '../market/local-market.ts';
import { strategy } from './messages.ts';

export type StrategyWatchParts = {
  database: Database;
  actors: ActorSystem;
  placement: Pick<Placement, 'epochOf'>;
  market: Pick<LocalMarket, 'clock' | 'onContent' | 'ready'>;
  log: Log;
};

/** From the end of one poll to the next. */
const everyMs = 1_000;
const pageSize = 500;
/** Rows of one query. */
const atOnce = 16;

export class StrategyWatch {
  private readonly parts: StrategyWatchParts;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  /** Failures of the last poll, and of this one: only the first failure is logged. */
  private failing = false;
  private hasFailed = false;
  private isPolling = false;
  private pollAgain = false;
  private endContent: (() => void) | null = null;

  constructor(parts: StrategyWatchParts) {
    this.parts = parts;
  }

  start(): void {
    this.endContent = this.parts.market.onContent(() => this.wake());
    this.wake();
  }

  stop(): void {
    this.stopped = true;
    this.endContent?.();
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Polls now, or once more after the current poll. */
  private wake(): void {
    if (this.stopped) return;
    if (this.isPolling) {
      this.pollAgain = true;
      return;
    }
    if (this.timer !== null) clearTimeout(this.timer);
    this.isPolling = true;
    void this.poll().finally(() => {
      this.isPolling = false;
      if (this.stopped) return;
      if (this.pollAgain) {
        this.pollAgain = false;
        return this.wake();
      }
      this.timer = setTimeout(() => this.wake(), everyMs);
      this.timer.unref();
    });
  }

  /** Failures are logged, never thrown: the next poll finds the remaining runs. */
  private async poll(): Promise<void> {
    const { placement, market } = this.parts;
    this.hasFailed = false;
    try {
      await market.ready;
      const nowMs = market.clock.nowMs();
      for (let after: string | null = ''; after !== null && !this.stopped; ) {
        const ids = await this.dueAfter(after, nowMs);
        const ours = ids.filter((id) => placement.epochOf(shardOf(strategy.kind, id)) !== null);
        for (let from = 0; from < ours.length; from += atOnce)
          await Promise.all(ours.slice(from, from + atOnce).map((id) => this.notify(id, nowMs)));
        after = ids.length < pageSize ? null : ids.at(-1)!;
      }
    } catch (error) {
      this.failed(error, 'due runs of strategies could not be found; retrying', {});
    }
    this.failing = this.hasFailed;
  }

  /** A run that cannot be notified does not delay the others. */
  private async notify(id: string, nowMs: number): Promise<void> {
    try {
      await this.parts.actors.ask(strategy, id, 'due', { nowMs });
    } catch (error) {
      this.failed(error, 'a run of a strategy was not notified of a complete bar; retrying', { strategy_id: id });
    }
  }

  private failed(err: unknown, message: string, about: object): void {
    if (!this.failing && !this.hasFailed && !this.stopped) this.parts.log.warn({ err, ...about }, message);
    this.hasFailed = true;
  }

  private async dueAfter(after: string, nowMs: number): Promise<string[]> {
    const { rows } = await this.parts.database.read({
      name: 'strategies_due',
      text: `select id from strategy where due_at <= to_timestamp($1::float8 / 1000) and id > $2 order by id limit ${pageSize}`,
      values: [nowMs, after],
    });
    return rows.map(({ id }) => id);
  }
}
