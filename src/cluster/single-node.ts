/**
 * Placement for a service of one node: all shards are here. A session lock in PostgreSQL excludes a second node from the database; the
 * epochs in the `shard` table fence statements that an earlier process may still have in flight.
 *
 * N1 Shards are claimed only while the lock is held, and always under a new epoch.
 * N2 A shard whose epoch the database refused is first dropped and then claimed again: no state in memory survives the loss.
 * N3 Committed state is shown only for a read lease after the database has confirmed, on the connection that holds the lock, that this node
 *    owns every shard. A node that takes the database over waits that long before it serves.
 * N4 A node that lost its lock to another node drops all state at once, answers `unavailable`, claims no shard and ends no connection.
 * N5 If the database has lost confirmed commits, all shards are dropped, and claimed again under epochs that were never used.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { type Clock, machineClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { FenceControl } from '../storage/commit-lane.ts';
import { connectionName } from '../storage/connection-name.ts';
import { endConnectionsLike } from '../storage/server-functions.ts';
import { shardCount } from './address.ts';
import { DatabaseHistory } from './database-history.ts';
import { nextEpoch } from './epoch.ts';
import { NodeLock } from './node-lock.ts';
import type { Placement, RemoteAsk } from './placement.ts';
import { ReadLease } from './read-lease.ts';
import { raiseEpochs } from './shard-table.ts';

const retryMs = 500;
/** Clocks of two machines do not run at the same rate. */
const leaseWaitFactor = 1.2;
const releaseMs = 500;
/** A claim waits for commits of earlier owners. */
const claimMs = 60_000;
/** Sums of epochs are compared modulo this number: so they are exact as doubles. */
const sumModulo = 1_000_000_007;

export type SingleNodeOptions = {
  /** How long a start waits for the lock of a process that was just killed, whose connection takes a moment to break. Default 5 s. */
  lockWaitMs?: number;
  /** How long committed state is shown without asking the database. Default 300 ms. */
  readLeaseMs?: number;
  /** How often the database is asked while there are no queries. Default 1 s. */
  checkIntervalMs?: number;
  /** Whether an earlier owner that did not release its shards may still run on another machine. Default true. */
  mayHaveEarlierOwner?: boolean;
  /** The machine's wall clock, which continues while the machine is suspended. Another one only in tests. */
  clock?: Clock;
  /** Called once, when another node has the database: this node must stop. */
  onTakenOver?: (error: AppError) => void;
};

/** `unconfirmed`: the connection that holds the lock is broken, so another node may have taken the database. `taken over`: another node has it. */
export type SingleNodeState = 'ready' | 'unconfirmed' | 'taken over';

export class SingleNode implements Placement {
  readonly owner: string;
  /** Nothing is handed over here, so the fence uses the same epochs as turns. */
  readonly fence: FenceControl;
  private readonly epochs: (number | null)[] = new Array(shardCount).fill(null);
  /** The largest known epoch of each shard. */
  private readonly largestEpochs: number[] = new Array(shardCount).fill(-1);
  private readonly acquired: ((shards: number[], orphaned: number[]) => void)[] = [];
  private readonly lost: ((shards: number[]) => void)[] = [];
  private readonly lostCommits: (() => void)[] = [];
  private readonly lock: NodeLock;
  private readonly lease: ReadLease;
  private readonly history = new DatabaseHistory();
  private readonly options: Required<Pick<SingleNodeOptions, 'readLeaseMs' | 'checkIntervalMs' | 'mayHaveEarlierOwner'>> &
    SingleNodeOptions;
  private claiming: Promise<void> | null = null;
  private checkTimer: NodeJS.Timeout | null = null;
  private takenOver: AppError | null = null;
  private stopping = false;
  private checking = false;
  private readonly log: Log;

  constructor(databaseUrl: string, nodeName: string, log: Log, options: SingleNodeOptions = {}) {
    this.owner = `${nodeName}/${randomUUID()}`;
    this.log = log;
    this.options = { readLeaseMs: 300, checkIntervalMs: 1_000, mayHaveEarlierOwner: true, ...options };
    const { lockWaitMs: waitMs, readLeaseMs: leaseMs, clock = machineClock } = this.options;
    this.fence = {
      owner: this.owner,
      epochOf: (shard) => this.epochOf(shard),
      connected: (client) => this.connected(client),
      renew: (client, shards, pid) => this.renew(client, shards, pid),
      refused: (shards) => this.refused(shards),
    };
    const onTakenOver = (error: AppError) => this.handleTakeover(error);
    this.lock = new NodeLock({ databaseUrl, owner: this.owner, mode: 'exclusive', log, waitMs, onTakenOver });
    this.lease = new ReadLease({ check: () => this.check(), clock, leaseMs, renewAfterMs: leaseMs / 2, waitMs: 2_000 });
  }

  /** Whether this is certainly the only node: false while the connection with the lock is broken. */
  get isOnly(): boolean {
    return this.lock.held;
  }

  get state(): SingleNodeState {
    if (this.takenOver !== null) return 'taken over';
    return this.lock.held ? 'ready' : 'unconfirmed';
  }

  epochOf(shard: number): number | null {
    return this.epochs[shard]!;
  }

  forward(_shard: number, _ask: RemoteAsk): Promise<unknown> {
    return Promise.reject(this.refusal() ?? new AppError('shard_not_owned', 'This node does not own the shard now'));
  }

  confirmation(): Promise<void> | null {
    const refusal = this.refusal();
    if (refusal === null) return this.lease.confirmation();
    const refused = Promise.reject(refusal);
    // Some callers only check for null and do not await it.
    refused.catch(() => {});
    return refused;
  }

  moved(timeoutMs: number): Promise<void> {
    return pause(timeoutMs);
  }

  /** All shards are here; messages of shards that are being reclaimed are read after the claim. */
  relayMessages(): void {}

  onRelayedMessages(): void {}

  isAlive(incarnation: string): boolean {
    return incarnation === this.owner;
  }

  onIncarnationEnded(): void {}

  onSealing(): void {}

  onAcquired(listener: (shards: number[], orphaned: number[]) => void): void {
    this.acquired.push(listener);
  }

  onLost(listener: (shards: number[]) => void): void {
    this.lost.push(listener);
  }

  onLostCommits(listener: () => void): void {
    this.lostCommits.push(listener);
  }

  /** Throws `conflict` when another node runs on this database. */
  async start(): Promise<void> {
    await this.lock.take();
    await this.claim();
    // Markers of dead owners are not needed any more.
    await this.lock.use((client) => client.query('delete from commit_marker where owner <> $1', [this.owner]), claimMs);
    this.checkTimer = setInterval(() => this.checkPeriodically(), this.options.checkIntervalMs).unref();
  }

  /** Shards that are released in order are served at once after the next start. */
  async stop(): Promise<void> {
    this.stopping = true;
    if (this.checkTimer !== null) clearInterval(this.checkTimer);
    this.epochs.fill(null);
    if (this.lock.held && this.takenOver === null) {
      // A row locked by a commit is left as it is.
      const text = `with mine as (select shard from shard where owner = $1 order by shard for update skip locked)
        update shard set owner = null, epoch = ${nextEpoch('epoch')} from mine where shard.shard = mine.shard`;
      const released = this.lock.use((client) => client.query(text, [this.owner]), releaseMs);
      await released.catch((err) => this.log.debug({ err }, 'shards were not released'));
    }
    await this.lock.release();
  }

  /** The error for callers; null if this node may serve. */
  private refusal(): AppError | null {
    if (this.takenOver === null) return null;
    return new AppError('unavailable', 'Another node has taken over the database; this node stops', { retryAfterS: 2 });
  }

  /** Checks ownership also while there are no queries. */
  private checkPeriodically(): void {
    if (this.checking) return;
    this.checking = true;
    void this.check()
      .catch(() => {})
      .finally(() => (this.checking = false));
  }

  /** N3. Shards that the database does not list for this node are dropped before this resolves. */
  private async check(): Promise<void> {
    // The claim uses the connection alone, and takes as long as a commit that it waits for.
    if (this.claiming !== null) await this.claiming;
    await this.lock.take();
    const before = [...this.epochs];
    const { row, verdict } = await this.history.with((position, variant) =>
      this.ask<{ count: number; sum: number; position: unknown }>({
        name: `single_check ${variant}`,
        text: `select count(*)::int, coalesce(sum(epoch % ${sumModulo}), 0)::float8 as sum, ${position} as position from shard where owner = $1`,
        values: [this.owner],
      }),
    );
    if (verdict === 'past') throw new AppError('unavailable', 'The database has changed meanwhile');
    if (verdict === 'changed') return this.handleLostCommits();
    if (row.count === shardCount && row.sum === before.reduce<number>((sum, epoch) => sum + ((epoch ?? 0) % sumModulo), 0)) return;
    await this.compare(before);
  }

  private ask<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row> {
    return this.lock.use(async (client) => (await client.query<Row>(query)).rows[0]!);
  }

  /** Shard by shard. */
  private async compare(before: readonly (number | null)[]): Promise<void> {
    const text = "select coalesce(json_object_agg(shard, epoch), '{}') as epochs from shard where owner = $1";
    const { epochs } = await this.ask<{ epochs: Record<number, number> }>({ text, values: [this.owner] });
    const found = new Map(Object.entries(epochs).map(([shard, epoch]): [number, number] => [Number(shard), epoch]));
    if (before.some((epoch, shard) => epoch !== null && (found.get(shard) ?? epoch) < epoch)) return this.handleLostCommits();
    const lost = before.flatMap((epoch, shard) => (epoch === null || this.epochs[shard] !== epoch || found.has(shard) ? [] : [shard]));
    if (lost.length > 0) this.refused(lost);
  }

  /** Checks a new commit connection before its first use. */
  private async connected(client: pg.Client): Promise<void> {
    const verdict = await this.history.compare(client);
    if (verdict === 'past') throw new AppError('unavailable', 'This connection leads to the database as it was');
    if (verdict === 'changed') this.handleLostCommits();
  }

  private async renew(client: pg.Client, shards: readonly number[], pid: number | null): Promise<void> {
    const before = [...this.epochs];
    const held = shards.filter((shard) => before[shard] !== null);
    const rows = await raiseEpochs(client, this.owner, held, pid);
    if (rows.some((row) => row.before < before[row.shard]!)) return this.handleLostCommits();
    const renewed = new Set<number>();
    for (const { shard, epoch } of rows) {
      renewed.add(shard);
      if (this.epochs[shard] !== null) this.setEpoch(shard, epoch);
    }
    this.lose(held.filter((shard) => !renewed.has(shard)));
  }

  private refused(shards: number[]): void {
    this.log.warn({ count: shards.length }, 'the database refused the epochs of these shards; this node drops them');
    this.lose(shards);
  }

  /** N5. */
  private handleLostCommits(): void {
    this.log.error(
      {},
      'the database has lost confirmed commits, as after a failover or a restored backup: this node drops its state and reads it again',
    );
    this.lose(this.epochs.flatMap((epoch, shard) => (epoch === null ? [] : [shard])));
    for (const listener of this.lostCommits) listener();
  }

  /** N4. */
  private handleTakeover(error: AppError): void {
    this.takenOver = error;
    this.log.error({ reason: error.message }, 'another node holds the lock on this database; this node stops');
    this.lose(this.epochs.flatMap((epoch, shard) => (epoch === null ? [] : [shard])));
    this.options.onTakenOver?.(error);
  }

  private lose(shards: number[]): void {
    this.lease.end();
    if (shards.length === 0) return;
    for (const shard of shards) this.epochs[shard] = null;
    for (const listener of this.lost) listener(shards);
    this.claiming ??= this.claimUntilDone().finally(() => (this.claiming = null));
  }

  private setEpoch(shard: number, epoch: number): void {
    this.epochs[shard] = epoch;
    this.largestEpochs[shard] = Math.max(this.largestEpochs[shard]!, epoch);
  }

  /** Claims all shards that are not held. The update waits for running commits of earlier owners; later ones are refused. */
  private async claim(): Promise<void> {
    const missing = this.epochs.flatMap((epoch, shard) => (epoch === null ? [shard] : []));
    const rows = await this.lock.use(async (client) => {
      await endEarlierCommits(client, this.owner);
      const claimed = await client.query<{ shard: number; epoch: number; owner: string | null }>(
        `with before as (select s.shard, s.owner, w.epoch from shard s join unnest($2::int[], $3::bigint[]) w(shard, epoch) on s.shard = w.shard
         order by s.shard for update of s)
         update shard set owner = $1, epoch = ${nextEpoch('greatest(shard.epoch, before.epoch)')} from before where shard.shard = before.shard
         returning shard.shard, shard.epoch::float8, before.owner`,
        [this.owner, missing, missing.map((shard) => this.largestEpochs[shard])],
      );
      return claimed.rows;
    }, claimMs);
    const { readLeaseMs, mayHaveEarlierOwner } = this.options;
    const mayBeShown = mayHaveEarlierOwner && rows.some(({ owner }) => owner !== null && owner !== this.owner);
    if (mayBeShown) await pause(readLeaseMs * leaseWaitFactor);
    if (this.stopping || this.takenOver !== null) return;
    for (const { shard, epoch } of rows) this.setEpoch(shard, epoch);
    // No orphaned shards: `isAlive` is false for all other owners.
    const shards = rows.map(({ shard }) => shard);
    for (const listener of this.acquired) listener(shards, []);
  }

  /** Claims lost shards as soon as the lock and the database allow. */
  private async claimUntilDone(): Promise<void> {
    while (!this.stopping && this.takenOver === null && this.epochs.includes(null)) {
      try {
        await this.lock.take();
        await this.claim();
      } catch (error) {
        if (this.takenOver !== null) return;
        this.log.warn({ err: error }, 'lost shards could not be claimed; retrying');
        await pause(retryMs);
      }
    }
  }
}

/** Commit connections of dead incarnations can still run a statement: they are ended, so that the claim need not wait for it. */
async function endEarlierCommits(client: pg.Client, currentOwner: string): Promise<void> {
  await endConnectionsLike(client, 'troupe commit ', connectionName('commit', currentOwner));
}
