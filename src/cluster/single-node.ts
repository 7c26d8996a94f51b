/**
 * Placement for a service of one node: every shard lives here. A session lock in PostgreSQL keeps a second node off the same database;
 * the epochs in the `shard` table fence whatever an earlier process of this database may still have on its way.
 *
 * N1 Shards are claimed only while the lock is held, and always under a new epoch.
 * N2 A shard that the database refused is lost first and claimed anew afterwards: nothing in memory outlives the loss.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { FenceControl } from '../storage/commit-lane.ts';
import { connectionName } from '../storage/connection-name.ts';
import { endConnection, endConnectionsLike } from '../storage/server-functions.ts';
import { shardCount } from './address.ts';
import { NodeLock } from './node-lock.ts';
import type { Placement, RemoteAsk } from './placement.ts';

const retryMs = 500;

export type SingleNodeOptions = {
  /** How long a start waits for the lock of a process that was just killed, whose connection takes a moment to break. Default 5 s. */
  lockWaitMs?: number;
};

export class SingleNode implements Placement {
  readonly owner: string;
  /** Nothing is handed over here, so the fence knows the very epochs that turns are taken under. */
  readonly fence: FenceControl;
  private readonly epochs: (number | null)[] = new Array(shardCount).fill(null);
  private readonly acquired: ((shards: number[], orphaned: number[]) => void)[] = [];
  private readonly lost: ((shards: number[]) => void)[] = [];
  private readonly lock: NodeLock;
  private claiming = false;
  private stopping = false;
  private readonly log: Log;

  constructor(databaseUrl: string, nodeName: string, log: Log, { lockWaitMs }: SingleNodeOptions = {}) {
    this.owner = `${nodeName}/${randomUUID()}`;
    this.log = log;
    this.fence = {
      owner: this.owner,
      epochOf: (shard) => this.epochOf(shard),
      renew: (client, shards, pid) => this.renew(client, shards, pid),
      refused: (shards) => this.refused(shards),
    };
    this.lock = new NodeLock({ databaseUrl, owner: this.owner, mode: 'exclusive', log, waitMs: lockWaitMs });
  }

  /** Whether this is certainly the only node: false while the connection that says so is broken. */
  get isOnly(): boolean {
    return this.lock.held;
  }

  epochOf(shard: number): number | null {
    return this.epochs[shard]!;
  }

  forward(_shard: number, _ask: RemoteAsk): Promise<unknown> {
    return Promise.reject(new AppError('shard_not_owned', 'This node does not own the shard now'));
  }

  /** Only a process that takes this one's lock could have written meanwhile. */
  confirmation(): null {
    return null;
  }

  moved(timeoutMs: number): Promise<void> {
    return pause(timeoutMs);
  }

  /** All shards live here; those that are being claimed anew are looked through when they are back. */
  passOn(): void {}

  onPassedOn(): void {}

  isAlive(incarnation: string): boolean {
    return incarnation === this.owner;
  }

  onGone(): void {}

  onSealing(): void {}

  onAcquired(listener: (shards: number[], orphaned: number[]) => void): void {
    this.acquired.push(listener);
  }

  onLost(listener: (shards: number[]) => void): void {
    this.lost.push(listener);
  }

  /** Throws `conflict` when another node runs on this database. */
  async start(): Promise<void> {
    await this.lock.take();
    await this.claim();
    // Nobody asks any more what a dead owner committed last.
    await this.lock.connection!.query('delete from commit_marker where owner <> $1', [this.owner]);
  }

  private async renew(client: pg.Client, shards: readonly number[], pid: number | null): Promise<void> {
    if (pid !== null) await endConnection(client, connectionName('commit', this.owner), pid);
    const held = shards.filter((shard) => this.epochs[shard] !== null);
    const { rows } = await client.query('update shard set epoch = epoch + 1 where owner = $1 and shard = any($2) returning shard, epoch', [
      this.owner,
      held,
    ]);
    const kept = new Set<number>();
    for (const { shard, epoch } of rows) {
      kept.add(shard);
      if (this.epochs[shard] !== null) this.epochs[shard] = Number(epoch);
    }
    this.lose(held.filter((shard) => !kept.has(shard)));
  }

  private refused(shards: number[]): void {
    this.log.warn({ count: shards.length }, 'the database says that these shards are not ours under their epochs');
    this.lose(shards);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.epochs.fill(null);
    await this.lock.release();
  }

  private lose(shards: number[]): void {
    if (shards.length === 0) return;
    for (const shard of shards) this.epochs[shard] = null;
    for (const listener of this.lost) listener(shards);
    void this.claimUntilDone();
  }

  /** Claims what is not held. The update waits for commits that earlier owners have on their way, and refuses those that come later. */
  private async claim(): Promise<void> {
    const { connection } = this.lock;
    if (connection === null) throw new Error('Without the lock nothing is claimed');
    await endEarlierCommits(connection, this.owner);
    const missing = this.epochs.flatMap((epoch, shard) => (epoch === null ? [shard] : []));
    const { rows } = await connection.query('update shard set owner = $1, epoch = epoch + 1 where shard = any($2) returning shard, epoch', [
      this.owner,
      missing,
    ]);
    if (this.stopping) return;
    for (const { shard, epoch } of rows) this.epochs[shard] = Number(epoch);
    // Nobody else is alive here: who was is told by `isAlive`.
    const shards = rows.map((row) => row.shard);
    for (const listener of this.acquired) listener(shards, []);
  }

  /** Claims what was lost as soon as the lock and the database allow. */
  private async claimUntilDone(): Promise<void> {
    if (this.claiming) return;
    this.claiming = true;
    try {
      while (!this.stopping && this.epochs.includes(null)) {
        try {
          await this.lock.take();
          await this.claim();
        } catch (error) {
          this.log.warn({ err: error }, 'lost shards could not be claimed yet; trying again');
          await pause(retryMs);
        }
      }
    } finally {
      this.claiming = false;
    }
  }
}

/** Commit connections of dead incarnations can still hold a statement: they are ended, so that the claim need not wait for it. */
async function endEarlierCommits(client: pg.Client, spared: string): Promise<void> {
  await endConnectionsLike(client, 'troupe commit ', connectionName('commit', spared));
}
