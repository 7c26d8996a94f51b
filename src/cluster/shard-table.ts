/**
 * The table `shard`: the only authority on ownership. Every change of a row raises its epoch; commits compare epoch and owner.
 *
 * T1 A claim changes a row only if epoch and owner are still those that the claimer read. So of two claimers one gets it.
 * T2 A release changes a row only if this owner still has it.
 * T3 Statements lock rows in the order of their shards, as commits do, so there is no deadlock. A claim waits for running commits, and
 *    later commits see it.
 */
import type pg from 'pg';
import { openPool } from '../storage/connect.ts';
import { connectionName } from '../storage/connection-name.ts';
import { connectionNames, endConnection, endConnections } from '../storage/server-functions.ts';
import { DatabaseHistory, type Verdict } from './database-history.ts';
import { nextEpoch } from './epoch.ts';
import type { ShardRow } from './shard-map.ts';

export type ShardTableOptions = {
  databaseUrl: string;
  owner: string;
  /** Longest time of one statement. Default 5 s. */
  statementTimeoutMs?: number;
};

/** Enough that a read or a check need not wait for a claim that waits for a commit. */
const connections = 3;
const lockTimeoutMs = 2_000;
const lockNotAvailable = '55P03';

export class ShardTable {
  readonly history = new DatabaseHistory();
  /** Digest of all rows at the last read. */
  private digest: string | null = null;
  private readonly pool: pg.Pool;
  private readonly owner: string;

  constructor({ databaseUrl, owner, statementTimeoutMs = 5_000 }: ShardTableOptions) {
    this.owner = owner;
    this.pool = openPool({
      url: databaseUrl,
      max: connections,
      name: connectionName('shards', owner),
      connectTimeoutMs: Math.min(5_000, statementTimeoutMs),
      statementTimeoutMs,
      lockTimeoutMs: Math.min(lockTimeoutMs, statementTimeoutMs),
      queryTimeoutMs: statementTimeoutMs + 500,
    });
  }

  /** All rows. With `unlessSame` no rows if they have not changed since the last read. */
  async read({ unlessSame = false } = {}): Promise<{ rows: ShardRow[]; verdict: Verdict }> {
    const { row, verdict } = await this.history.with((position, variant) =>
      this.one({
        name: `shard_look ${variant}`,
        text: `with s as materialized (select shard, epoch, owner from shard),
        v as (select sum(hashtextextended(coalesce(owner, ''), epoch * 1024 + shard))::text as digest from s)
        select v.digest, l.shards, l.epochs, l.owners, ${position} as position from v left join lateral
        (select array_agg(shard) as shards, array_agg(epoch::float8) as epochs, array_agg(owner) as owners from s) l on v.digest is distinct from $1`,
        values: [unlessSame ? this.digest : null],
      }),
    );
    const { digest, shards, epochs, owners } = row;
    if (shards === null || verdict === 'past') return { rows: [], verdict };
    this.digest = digest;
    return { rows: shards.map((shard: number, i: number): ShardRow => ({ shard, epoch: epochs[i], owner: owners[i] })), verdict };
  }

  /** The shards that this owner has at some moment between the call and the answer, with their epochs. */
  async own(): Promise<{ epochs: Map<number, number>; verdict: Verdict }> {
    const { row, verdict } = await this.history.with((position, variant) =>
      this.one({
        name: `shard_own ${variant}`,
        text: `select array_agg(shard) as shards, array_agg(epoch::float8) as epochs, ${position} as position from shard where owner = $1`,
        values: [this.owner],
      }),
    );
    const { shards, epochs } = row;
    return { epochs: new Map((shards ?? []).map((shard: number, i: number) => [shard, epochs[i]])), verdict };
  }

  /**
   * Raises rows to an epoch above their own and above the known ones; their owners stay. For a database that has lost some of its commits:
   * afterwards every known epoch is older than the stored one. `those`: only rows that are older than known, or all, so that their owners
   * drop their state. Returns the changed rows.
   */
  async raise(known: readonly ShardRow[], those: 'fallen' | 'all'): Promise<ShardRow[]> {
    const { rows } = await this.pool.query({
      name: 'shard_raise',
      text: `with raised as (select s.shard, greatest(s.epoch, w.epoch) as epoch
          from shard s join unnest($1::int[], $2::bigint[], $3::text[]) w(shard, epoch, owner) on s.shard = w.shard
          where $4 or s.epoch < w.epoch or (s.epoch = w.epoch and s.owner is distinct from w.owner) order by s.shard for update of s)
        update shard set epoch = ${nextEpoch('raised.epoch')} from raised where shard.shard = raised.shard
        returning shard.shard, shard.epoch::float8, shard.owner`,
      values: [known.map(({ shard }) => shard), known.map(({ epoch }) => epoch), known.map(({ owner }) => owner), those === 'all'],
    });
    return rows as ShardRow[];
  }

  /** T1. Returns the current rows of the claimed shards. Rows that are locked for seconds are left out. */
  async claim(seen: readonly ShardRow[]): Promise<ShardRow[]> {
    try {
      return await this.claimRows(seen, '');
    } catch (error) {
      if ((error as { code?: unknown }).code !== lockNotAvailable) throw error;
      return this.claimRows(seen, 'skip locked');
    }
  }

  /** T2. Returns the current rows of the released shards. */
  async release(shards: readonly number[]): Promise<ShardRow[]> {
    const { rows } = await this.pool.query({
      name: 'shard_release',
      text: `with mine as (select shard from shard where owner = $1 and shard = any($2) order by shard for update)
        update shard set owner = null, epoch = ${nextEpoch('epoch')} from mine where shard.shard = mine.shard returning shard.shard, epoch::float8`,
      values: [this.owner, shards],
    });
    return rows.map(({ shard, epoch }): ShardRow => ({ shard, epoch, owner: null }));
  }

  /**
   * Ends the commit connections of owners that are out of the cluster, so that a claim need not wait for their running statements. Returns
   * the owners that are still connected, as far as the database reports it.
   */
  async endCommits(owners: readonly string[]): Promise<Set<string>> {
    await endConnections(
      this.pool,
      owners.map((owner) => connectionName('commit', owner)),
    );
    const names = await connectionNames(this.pool, connectionName('shards', this.owner));
    return new Set(
      owners.filter((owner) => names === null || (['node', 'shards'] as const).some((use) => names.has(connectionName(use, owner)))),
    );
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async one(query: pg.QueryConfig): Promise<any> {
    return (await this.pool.query(query)).rows[0];
  }

  private async claimRows(seen: readonly ShardRow[], locked: '' | 'skip locked'): Promise<ShardRow[]> {
    const { rows } = await this.pool.query({
      name: `shard_claim ${locked}`,
      text: `with seen as (select s.shard from shard s join unnest($2::int[], $3::bigint[], $4::text[]) w(shard, epoch, owner) on s.shard = w.shard
        where s.epoch = w.epoch and s.owner is not distinct from w.owner order by s.shard for update of s ${locked})
        update shard set owner = $1, epoch = ${nextEpoch('epoch')} from seen where shard.shard = seen.shard returning shard.shard, epoch::float8`,
      values: [this.owner, seen.map(({ shard }) => shard), seen.map(({ epoch }) => epoch), seen.map(({ owner }) => owner)],
    });
    return rows.map(({ shard, epoch }): ShardRow => ({ shard, epoch, owner: this.owner }));
  }
}

/** `before`: the previous epoch. */
export type RaisedRow = ShardRow & { before: number };

/**
 * After a commit with an unknown outcome, on the commit's new connection: ends the old server process (`pid`) if it still runs, and raises
 * the epochs of these shards, so that its statement can no longer commit. Returns the rows that this owner still has.
 */
export async function raiseEpochs(client: pg.Client, owner: string, shards: readonly number[], pid: number | null): Promise<RaisedRow[]> {
  if (pid !== null) await endConnection(client, connectionName('commit', owner), pid);
  const { rows } = await client.query(
    `with mine as (select shard, epoch as before from shard where owner = $1 and shard = any($2) order by shard for update)
     update shard set epoch = ${nextEpoch('epoch')} from mine where shard.shard = mine.shard
     returning shard.shard, epoch::float8, before::float8`,
    [owner, shards],
  );
  return rows.map(({ shard, epoch, before }): RaisedRow => ({ shard, epoch, owner, before }));
}
