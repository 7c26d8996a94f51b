/**
 * Placement for a service of one node: every shard lives here. A session lock in PostgreSQL keeps a second node off the same database;
 * the epochs in the `shard` table fence whatever an earlier process of this database may still have on its way.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { shardCount } from './address.ts';
import type { Placement, RemoteAsk } from './placement.ts';

const nodeLock = 7_081_736;

export class SingleNode implements Placement {
  readonly owner: string;
  private readonly epochs: (number | null)[] = new Array(shardCount).fill(null);
  private readonly acquired: ((shards: number[]) => void)[] = [];
  private readonly lost: ((shards: number[]) => void)[] = [];
  private lock: pg.Client | null = null;
  private stopping = false;
  private readonly databaseUrl: string;
  private readonly log: Log;

  constructor(databaseUrl: string, nodeName: string, log: Log) {
    this.databaseUrl = databaseUrl;
    this.owner = `${nodeName}/${randomUUID()}`;
    this.log = log;
  }

  epochOf(shard: number): number | null {
    return this.epochs[shard]!;
  }

  forward(_shard: number, _ask: RemoteAsk): Promise<unknown> {
    return Promise.reject(new AppError('shard_not_owned', 'This node does not own the shard now'));
  }

  onAcquired(listener: (shards: number[]) => void): void {
    this.acquired.push(listener);
  }

  onLost(listener: (shards: number[]) => void): void {
    this.lost.push(listener);
  }

  /** Throws `conflict` when another node without REDIS_URL runs on this database. */
  async start(): Promise<void> {
    await this.takeLock();
    await this.endEarlierOwners();
    // The update waits for commits that earlier owners still have on their way, and refuses those that come later.
    const { rows } = await this.lock!.query('update shard set owner = $1, epoch = epoch + 1 returning shard, epoch', [this.owner]);
    this.take(rows);
    for (const listener of this.acquired) listener(rows.map((row) => row.shard));
  }

  async renew(client: pg.Client): Promise<void> {
    await this.endEarlierOwners(client);
    const { rows } = await client.query('update shard set epoch = epoch + 1 where owner = $1 returning shard, epoch', [this.owner]);
    const before = this.epochs.slice();
    this.epochs.fill(null);
    this.take(rows);
    const lost = before.flatMap((epoch, shard) => (epoch !== null && this.epochs[shard] === null ? [shard] : []));
    if (lost.length > 0) for (const listener of this.lost) listener(lost);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.epochs.fill(null);
    await this.lock?.end().catch(() => {});
  }

  private take(rows: { shard: number; epoch: string }[]): void {
    for (const row of rows) this.epochs[row.shard] = Number(row.epoch);
  }

  /** A process that was just killed may hold the lock for the moment its connection takes to break. */
  private async takeLock(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const client = new pg.Client({ connectionString: this.databaseUrl, application_name: `troupe node ${this.owner}`, keepAlive: true });
      await client.connect();
      const { rows } = await client.query('select pg_try_advisory_lock($1) as taken', [nodeLock]);
      if (rows[0].taken) {
        client.on('error', (error) => this.lockLost(client, error));
        this.lock = client;
        return;
      }
      await client.end();
      if (attempt >= 50) {
        throw new AppError('conflict', 'Another node runs on this database: stop it, or give both the same REDIS_URL to form a cluster');
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** The database was restarted or cut off. Commits are fenced by epochs; the lock is taken again as soon as there is an answer. */
  private lockLost(client: pg.Client, error: Error): void {
    if (this.lock !== client || this.stopping) return;
    this.log.warn({ err: error }, 'the connection that marks this node as the only one broke; taking it again');
    this.lock = null;
    const retry = async (): Promise<void> => {
      if (this.stopping) return;
      try {
        await this.takeLock();
      } catch (failure) {
        if (failure instanceof AppError) this.log.error({ err: failure }, 'another node has taken over this database');
        else setTimeout(() => void retry(), 500).unref();
      }
    };
    void retry();
  }

  /** Commit connections of dead incarnations can still hold a statement: they are ended, so that the claim need not wait for it. */
  private async endEarlierOwners(client: pg.Client = this.lock!): Promise<void> {
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name like 'troupe commit %'`,
    );
  }
}
