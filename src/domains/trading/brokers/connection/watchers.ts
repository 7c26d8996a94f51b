/** The watchers of this node: one for each connection of its shards. */

import { shardOf } from '../../../../cluster/address.ts';
import type { Placement } from '../../../../cluster/placement.ts';
import type { TradingStats } from '../../metrics.ts';
import { brokerConnection } from './messages.ts';
import { openOrdersOf } from './stored-orders.ts';
import { ConnectionWatcher, type WatcherParts } from './watcher.ts';

export type WatchersParts = WatcherParts & { placement: Placement; stats: Pick<TradingStats, 'openAtBrokers'> };

const pageSize = 500;
const retryMs = 1_000;

export class ConnectionWatchers {
  private readonly parts: WatchersParts;
  private readonly watchers = new Map<string, ConnectionWatcher>();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private isFailing = false;

  constructor(parts: WatchersParts) {
    this.parts = parts;
    const { placement } = parts;
    placement.onAcquired((shards) => void this.startWatchers(shards));
    placement.onSealing(async (shards) => this.drop(new Set(shards)));
    placement.onLost((shards) => this.drop(new Set(shards)));
    this.pollLater();
  }

  /** For metrics. */
  get size(): number {
    return this.watchers.size;
  }

  /** A connection in this node's shards is new, or has changed. */
  changed(id: string): void {
    const shard = shardOf(brokerConnection.kind, id);
    if (this.isStopped || this.parts.placement.epochOf(shard) === null) return;
    let watcher = this.watchers.get(id);
    if (watcher === undefined || watcher.isEnded) this.watchers.set(id, (watcher = new ConnectionWatcher(id, shard, this.parts)));
    watcher.changed();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    for (const watcher of this.watchers.values()) watcher.end();
    this.watchers.clear();
  }

  private async startWatchers(shards: number[]): Promise<void> {
    const { database, log } = this.parts;
    for (let after = ''; !this.isStopped; ) {
      try {
        const { rows } = await database.read({
          name: 'connections_of_shards',
          text: `select id from broker_connection where shard = any($1) and id > $2 and removed_at is null order by id limit ${pageSize}`,
          values: [shards, after],
        });
        for (const { id } of rows) this.changed(id);
        if (rows.length < pageSize) return;
        after = rows.at(-1).id;
      } catch (err) {
        log.warn({ err }, 'the broker connections of acquired shards could not be read; retrying');
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
  }

  private drop(shards: ReadonlySet<number>): void {
    for (const [id, watcher] of this.watchers) {
      if (!shards.has(watcher.shard)) continue;
      watcher.end();
      this.watchers.delete(id);
    }
  }

  private pollLater(): void {
    this.timer = setTimeout(() => {
      void this.poll().finally(() => {
        if (!this.isStopped) this.pollLater();
      });
    }, this.parts.pollMs);
    this.timer.unref();
  }

  /** Finds the connections of this node with open orders, by one statement. */
  private async poll(): Promise<void> {
    for (const [id, { isEnded }] of this.watchers) if (isEnded) this.watchers.delete(id);
    const { stats, database } = this.parts;
    if (this.watchers.size === 0) {
      stats.openAtBrokers = 0;
      return;
    }
    try {
      const open = await openOrdersOf(database, [...this.watchers.keys()]);
      stats.openAtBrokers = [...open.values()].reduce((sum, orders) => sum + orders.length, 0);
      for (const [id, orders] of open) this.watchers.get(id)?.poll(orders);
      this.isFailing = false;
    } catch (err) {
      if (!this.isFailing && !this.isStopped) this.parts.log.warn({ err }, 'open orders at brokers could not be read; retrying');
      this.isFailing = true;
    }
  }
}
