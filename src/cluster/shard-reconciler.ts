/**
 * Brings what this node owns closer to what it should own, in small steps, and loses what the database says is lost. PostgreSQL has the truth.
 *
 * K1 A shard is claimed under what was last seen of it; where that was wrong, nothing happens, and the table is read again.
 * K2 A shard of another owner is claimed only when a view read after that owner was seen does not have it, or has it as one that cannot commit.
 * K3 Such a shard is not served before a read lease has passed, unless its owner was proven dead and the database has no connection of it.
 * K4 What is claimed while the node is put out, or stops, is not served.
 * K5 Nothing depends on one piece of news: whatever is missed is found by a look at the table.
 * K6 Where the database has lost what it had confirmed (its history is another, or an epoch fell) everything is lost, every epoch is raised
 *    above what was known of it before anything is claimed, and what is claimed then is not served before a read lease has passed.
 */
import type pg from 'pg';
import { monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { shardCount } from './address.ts';
import type { Verdict } from './database-history.ts';
import { Handoffs, type Pace } from './handoff.ts';
import { MovementLog } from './movement-log.ts';
import { OwnShards } from './own-shards.ts';
import { claimable, type Situation, surplus } from './rebalance.ts';
import { hasFallen, type ShardMap, type ShardRow } from './shard-map.ts';
import { raiseEpochs, type ShardTable } from './shard-table.ts';

export type PlacementView = {
  /** Who should own each shard; null where nobody can. */
  plan: readonly (string | null)[];
  /** Nobody knows who lives now. */
  frozen: boolean;
  /** Those that own what they own. */
  members: readonly string[];
  /** Whether shards may be handed to this member now. */
  canTake: (incarnation: string) => boolean;
};

export type ShardReconcilerOptions = {
  self: string;
  table: ShardTable;
  map: ShardMap;
  log: Log;
  /** Null while this node is no member. */
  placementView: () => PlacementView | null;
  /** Resolves when the view is as new as the call; rejects where it cannot be had. */
  refresh: () => Promise<void>;
  isProvenDead: (incarnation: string) => boolean;
  isMember: (incarnation: string) => boolean;
  /** Tells the others what this node has changed. */
  announce: (rows: readonly ShardRow[]) => void;
  /** `orphaned`: those of them that were a dead owner's. */
  acquired: (shards: number[], orphaned: number[]) => void;
  sealing: (shards: number[]) => Promise<void>;
  lost: (shards: number[]) => void;
  /** The database has lost commits, and everything this node had was lost with `lost`. */
  rewound: () => void;
  /** A read lease and a little more. */
  waitOutMs: number;
  rereadMs: number;
  takeBackMs: number;
  shunMs: number;
  pace: () => Pace;
};

export class ShardReconciler {
  readonly own = new OwnShards();
  readonly handoffs: Handoffs;
  /** Claims that got something, since the start. */
  claims = 0;
  /** How often the database was found to have lost commits. */
  rewinds = 0;
  private readonly movement: MovementLog;
  private readonly options: ShardReconcilerOptions;
  /** Lost by refusal: whoever else may have them, this node had reason to believe that they are its own. */
  private readonly refusedShards = new Set<number>();
  /** Offered in vain: this node has them again until the better owner recovers. */
  private readonly takenBack = new Set<number>();
  private readonly shunnedUntilMs = new Map<string, number>();
  private reconciling: Promise<void> | null = null;
  private again = false;
  /** Grows when everything is lost at once. */
  private era = 0;
  /** Which epochs have yet to be raised above what was known. */
  private mustRaise: 'none' | 'fallen' | 'all' = 'none';
  /** Until then others may show what the database has lost. */
  private lateUntilMs = -Infinity;
  private ended: 'no' | 'released' | 'abandoned' = 'no';
  private rereadTimer: NodeJS.Timeout | null = null;
  private lastReadMs = -Infinity;
  /** Of the map, right after the last look. Where it has changed since, the table is compared with all of it. */
  private changesAtRead = -1;

  constructor(options: ShardReconcilerOptions) {
    this.options = options;
    const { table, log, sealing, lost, takeBackMs, pace } = options;
    this.movement = new MovementLog(log, () => this.own.held().length);
    this.handoffs = new Handoffs({
      own: this.own,
      table,
      log,
      sealing,
      lost,
      released: (rows) => {
        this.movement.releasedShards(rows.length);
        this.changed(rows);
      },
      onCapacity: () => void this.reconcile(),
      takeBackMs,
      pace,
    });
  }

  /** Takes every step that can be taken now. One round at a time; what happens meanwhile brings another. */
  reconcile(): Promise<void> {
    if (this.reconciling !== null) this.again = true;
    this.reconciling ??= this.reconcileUntilDone().finally(() => (this.reconciling = null));
    return this.reconciling;
  }

  /** Reads the table and settles. */
  async poll(): Promise<void> {
    this.takeBack();
    await this.readTable();
    await this.reconcile();
  }

  /** Reads the table soon: one read for everyone who finds that what is known is wrong. */
  pollSoon(): void {
    if (this.rereadTimer !== null || this.ended !== 'no') return;
    const waitMs = Math.max(0, this.lastReadMs + this.options.rereadMs - performance.now());
    this.rereadTimer = setTimeout(() => {
      this.rereadTimer = null;
      this.poll().catch((error) => this.options.log.warn({ err: error }, 'the table of shards could not be read'));
    }, waitMs);
    this.rereadTimer.unref();
  }

  /** The database says that these are not this node's under the epochs it was told. */
  refused(shards: readonly number[]): void {
    this.options.log.warn({ count: shards.length }, 'the database says that these shards are not ours under their epochs');
    for (const shard of shards) this.refusedShards.add(shard);
    this.lose(shards);
    this.pollSoon();
  }

  /** To be told of rows that changed hands: what another has by a later epoch is lost, whoever says so. */
  overtaken(rows: readonly ShardRow[]): void {
    const { self } = this.options;
    const lost = rows.filter(({ shard, epoch, owner }) => owner !== self && epoch > (this.confirmableEpoch(shard) ?? Infinity));
    if (lost.length > 0) this.options.log.warn({ count: lost.length }, 'shards of this node are owned by others now');
    this.lose(lost.map(({ shard }) => shard));
  }

  loseAll(): void {
    this.era++;
    this.lose(this.own.held());
  }

  /** Compares what is held with the database. What it does not have as this node's is lost before this resolves. */
  async check(): Promise<void> {
    const before = Array.from({ length: shardCount }, (_, shard) => this.confirmableEpoch(shard));
    const { epochs, verdict } = await this.options.table.own();
    const held = before.flatMap((epoch, shard) => (epoch === null || this.confirmableEpoch(shard) !== epoch ? [] : [shard]));
    const fell = held.some((shard) => (epochs.get(shard) ?? Infinity) < before[shard]!);
    if (this.hasChanged(verdict)) this.rewind('history');
    else if (fell) this.rewind('epochs');
    // Another epoch of this owner's: another node has raised it, which knew more than was left of the history.
    else this.lose(held.filter((shard) => epochs.get(shard) !== before[shard]));
  }

  /** For the connection of the commits, before it is used. */
  async connected(client: pg.ClientBase): Promise<void> {
    if (this.hasChanged(await this.options.table.history.compare(client))) this.rewind('history');
  }

  /** After an unknown outcome of a commit, on its new connection; `pid` is the server process of the old one. */
  async renew(client: pg.Client, shards: readonly number[], pid: number | null): Promise<void> {
    const before = new Map(
      shards.flatMap((shard) => {
        const epoch = this.own.heldEpochOf(shard);
        return epoch === null ? [] : [[shard, epoch] as const];
      }),
    );
    const rows = await raiseEpochs(client, this.options.self, [...before.keys()], pid);
    if (rows.some((row) => row.before < before.get(row.shard)!)) return this.rewind('epochs');
    for (const { shard, epoch, before: was } of rows) {
      if (was !== before.get(shard)) continue;
      this.own.raise(shard, epoch);
      before.delete(shard);
    }
    this.options.map.learn(rows.map(({ before: _, ...row }) => row));
    this.lose([...before].flatMap(([shard, epoch]) => (this.own.heldEpochOf(shard) === epoch ? [shard] : [])));
  }

  /** Gives up everything. With `release` the others may have it at once; else they find out by themselves. */
  async stop(release: boolean): Promise<void> {
    this.ended = release ? 'released' : 'abandoned';
    this.handoffs.stop();
    this.movement.stop();
    if (this.rereadTimer !== null) clearTimeout(this.rereadTimer);
    const held = this.own.held();
    this.loseAll();
    if (!release) return;
    if (held.length > 0) {
      const rows = await this.options.table.release(held);
      this.options.map.learn(rows);
      this.options.announce(rows);
    }
    await this.reconciling;
  }

  private async reconcileUntilDone(): Promise<void> {
    do {
      this.again = false;
      try {
        await this.step();
      } catch (error) {
        if (this.ended === 'no') this.options.log.warn({ err: error }, 'shards could not be claimed now; trying again');
      }
    } while (this.again && this.ended === 'no');
  }

  private async step(): Promise<void> {
    const view = this.options.placementView();
    if (view === null || this.ended !== 'no' || this.mustRaise !== 'none') return;
    const { free, orphaned } = claimable(this.situation(view));
    if (free.length > 0) await this.claim(free);
    if (orphaned.length > 0) await this.claimOrphaned();
    const now = this.options.placementView();
    if (now === null || this.ended !== 'no') return;
    const canTake = (to: string) => now.canTake(to) && !this.isShunned(to);
    const leaving = surplus(this.situation(now), canTake);
    if (leaving.length > 0) this.handoffs.begin(leaving, (shard) => this.options.placementView()?.plan[shard] ?? null);
  }

  /** K2. */
  private async claimOrphaned(): Promise<void> {
    const { refresh, placementView, table, isProvenDead } = this.options;
    await refresh();
    const { era } = this;
    const now = placementView();
    if (now === null || this.mustRaise !== 'none') return;
    const { orphaned } = claimable(this.situation(now));
    if (orphaned.length === 0) return;
    const owners = [...new Set(orphaned.map(({ owner }) => owner!))];
    const connected = await table.endCommits(owners);
    // K4: put out meanwhile.
    if (era !== this.era) return;
    await this.claim(orphaned, new Set(owners.filter((owner) => isProvenDead(owner) && !connected.has(owner))));
  }

  /** @param dead owners that certainly show nothing any more */
  private async claim(seen: readonly ShardRow[], dead: ReadonlySet<string> = new Set()): Promise<void> {
    const { table, map, self, waitOutMs, isMember } = this.options;
    const { era } = this;
    const rows = await table.claim(seen);
    // K4: whoever should have them finds them, this node as well.
    if (era !== this.era || this.ended !== 'no') {
      if (this.ended === 'released') await table.release(rows.map(({ shard }) => shard));
      else map.learn(rows);
      return;
    }
    const ownerBefore = new Map(seen.map(({ shard, owner }) => [shard, owner]));
    const atOnce: number[] = [];
    const later: number[] = [];
    for (const { shard, epoch } of rows) {
      // Who has it since may have been heard of before the answer to this claim, or an own release that was on its way.
      if (map.row(shard).epoch > epoch || !this.own.take(shard, epoch)) continue;
      const before = ownerBefore.get(shard)!;
      const isFree = before === null || before === self || dead.has(before);
      (isFree && performance.now() >= this.lateUntilMs ? atOnce : later).push(shard);
    }
    if (rows.length > 0) {
      this.claims++;
      this.movement.claimedShards(rows.length, later.length);
    }
    const isOrphaned = (shard: number) => [null, self].every((own) => ownerBefore.get(shard) !== own) && !isMember(ownerBefore.get(shard)!);
    this.serve(atOnce, isOrphaned);
    if (later.length > 0) setTimeout(() => this.serve(later, isOrphaned, era), waitOutMs).unref();
    this.changed(rows);
    if (rows.length < seen.length && (await this.readTable())) this.again = true;
  }

  private serve(shards: number[], isOrphaned: (shard: number) => boolean, era = this.era): void {
    if (era !== this.era) return;
    const served = shards.filter((shard) => this.own.serve(shard));
    if (served.length === 0) return;
    for (const shard of served) {
      this.refusedShards.delete(shard);
      this.takenBack.delete(shard);
    }
    this.options.acquired(served, served.filter(isOrphaned));
  }

  private lose(shards: readonly number[]): void {
    const inMemory: number[] = [];
    for (const shard of shards) {
      const state = this.own.drop(shard);
      if (state === 'owned' || state === 'sealing') inMemory.push(shard);
    }
    if (inMemory.length > 0) this.options.lost(inMemory);
  }

  /** This node has changed rows. */
  private changed(rows: readonly ShardRow[]): void {
    if (rows.length === 0) return;
    this.options.map.learn(rows);
    this.options.announce(rows);
  }

  /** True where something has changed. */
  private async readTable(): Promise<boolean> {
    const { table, map, self } = this.options;
    this.lastReadMs = performance.now();
    const before = map.all();
    const { changes } = map;
    const { rows, verdict } = await table.read({ unlessSame: this.changesAtRead === map.changes });
    if (this.hasChanged(verdict)) this.rewind('history');
    else if (rows.some((row) => hasFallen(before[row.shard]!, row))) this.rewind('epochs');
    if (this.mustRaise !== 'none') return this.raise(this.mustRaise);
    const isUndisturbed = changes === map.changes;
    map.learn(rows);
    this.changesAtRead = isUndisturbed ? map.changes : -1;
    // Raised by another that knew a larger epoch of it: what is here is fenced off.
    this.lose(
      rows.flatMap(({ shard, epoch, owner }) => (owner === self && epoch > (this.confirmableEpoch(shard) ?? epoch) ? [shard] : [])),
    );
    return rows.length > 0;
  }

  private hasChanged(verdict: Verdict): boolean {
    if (verdict === 'past') throw new AppError('unavailable', 'The database has changed since it was asked');
    return verdict === 'changed';
  }

  /** K6. Another history every node finds by itself. Epochs that fell are found by one, who raises all: so the others lose theirs as well. */
  private rewind(sign: 'history' | 'epochs'): void {
    const { log, waitOutMs, rewound: forgot } = this.options;
    log.error(
      { sign, shards: this.own.held().length },
      'the database has lost what it had confirmed, as after a failover or a restored backup: this node forgets what it knew and claims anew',
    );
    this.rewinds++;
    if (this.mustRaise !== 'all') this.mustRaise = sign === 'epochs' ? 'all' : 'fallen';
    this.lateUntilMs = performance.now() + waitOutMs;
    this.refusedShards.clear();
    this.takenBack.clear();
    this.handoffs.forget();
    this.loseAll();
    forgot();
    this.pollSoon();
  }

  /** K6. Others do the same; whoever knows the largest epoch raises last. */
  private async raise(those: 'fallen' | 'all'): Promise<boolean> {
    const { table, map } = this.options;
    const { rewinds } = this;
    const known = map.all().map((row) => ({ ...row, epoch: Math.max(row.epoch, this.own.lastEpochOf(row.shard)) }));
    const raised = await table.raise(known, those);
    if (rewinds !== this.rewinds) return true;
    this.mustRaise = 'none';
    this.changed(raised);
    await this.readTable();
    return true;
  }

  /** What was offered in vain is this node's again as soon as the table has been read. */
  private takeBack(): void {
    const nowMs = monotonicMs();
    for (const { shard, to } of this.handoffs.refusedOffers()) {
      if (!this.isShunned(to)) this.options.log.warn({ to }, 'a node does not take the shards it is offered; they stay here for now');
      this.shunnedUntilMs.set(to, nowMs + this.options.shunMs);
      this.takenBack.add(shard);
    }
  }

  private isShunned(incarnation: string): boolean {
    const untilMs = this.shunnedUntilMs.get(incarnation);
    if (untilMs === undefined) return false;
    if (monotonicMs() < untilMs) return true;
    this.shunnedUntilMs.delete(incarnation);
    this.takenBack.clear();
    return false;
  }

  private confirmableEpoch(shard: number): number | null {
    return this.own.stateOf(shard) === 'releasing' ? null : this.own.heldEpochOf(shard);
  }

  private situation({ plan, frozen, members }: PlacementView): Situation {
    const { self, map } = this.options;
    return {
      self,
      plan,
      frozen,
      map,
      own: this.own,
      wanted: (shard) => this.takenBack.has(shard) || (frozen && this.refusedShards.has(shard)),
      isMember: (incarnation) => members.includes(incarnation),
    };
  }
}
