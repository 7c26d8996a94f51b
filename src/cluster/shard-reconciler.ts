/**
 * Brings this node's shards closer to the plan in small steps, and drops shards that the database denies. PostgreSQL is authoritative.
 *
 * K1 A claim is a compare-and-set on the row as it was last read; if the row has changed, nothing happens, and the table is read again.
 * K2 A shard of another owner is claimed only when a view read after its row does not list that owner, or lists it as unable to commit.
 * K3 Such a shard is not served before a read lease has passed, unless its owner was proven dead and the database has no connection of it.
 * K4 A shard whose claim completes after the node was expelled or stopped is not served.
 * K5 Nothing depends on a single notification: polling the table finds missed changes.
 * K6 If the database has lost confirmed commits (its history is another, or an epoch fell) all shards are dropped, every epoch is raised
 *    above the highest known one before anything is claimed, and shards claimed then are not served before a read lease has passed.
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
import { claimable, type PlacementState, surplus } from './rebalance.ts';
import { hasFallen, type ShardMap, type ShardRow } from './shard-map.ts';
import { raiseEpochs, type ShardTable } from './shard-table.ts';

export type PlacementView = {
  /** The planned owner of each shard; null where no member can own it. */
  plan: readonly (string | null)[];
  /** The coordinator does not answer: liveness is unknown. */
  frozen: boolean;
  /** Incarnations whose shards must not be claimed. */
  members: readonly string[];
  /** Whether shards may be handed to this member now. */
  canReceive: (incarnation: string) => boolean;
};

export type ShardReconcilerOptions = {
  self: string;
  table: ShardTable;
  map: ShardMap;
  log: Log;
  /** Null while this node is not a member. */
  placementView: () => PlacementView | null;
  /** Resolves when the view is as new as the call; rejects if it cannot be read. */
  refresh: () => Promise<void>;
  isProvenDead: (incarnation: string) => boolean;
  isMember: (incarnation: string) => boolean;
  /** Notifies the others of rows that this node has changed. */
  announce: (rows: readonly ShardRow[]) => void;
  /** `orphaned`: the subset whose owner had died. */
  acquired: (shards: number[], orphaned: number[]) => void;
  sealing: (shards: number[]) => Promise<void>;
  lost: (shards: number[]) => void;
  /** The database has lost commits; called after `lost` for all shards. */
  onLostCommits: () => void;
  /** Slightly longer than a read lease. */
  readLeaseWaitMs: number;
  rereadMs: number;
  offerTimeoutMs: number;
  offerPauseMs: number;
  pace: () => Pace;
};

export class ShardReconciler {
  readonly own = new OwnShards();
  readonly handoffs: Handoffs;
  /** Successful claims since the start. */
  claims = 0;
  /** How often the database has lost commits. */
  commitLosses = 0;
  private readonly movement: MovementLog;
  private readonly options: ShardReconcilerOptions;
  /** Shards whose epoch the database refused although this node had them as its own. */
  private readonly refusedShards = new Set<number>();
  /** Shards whose offer was not claimed: this node keeps them until the planned owner recovers. */
  private readonly reclaimed = new Set<number>();
  private readonly offersPausedUntilMs = new Map<string, number>();
  private reconciling: Promise<void> | null = null;
  private mustRepeat = false;
  /** Incremented when all shards are lost at once. */
  private lossCount = 0;
  /** Which epochs must still be raised above the highest known ones. */
  private mustRaise: 'none' | 'fallen' | 'all' = 'none';
  /** Until this time other nodes may show state that the database has lost. */
  private lateUntilMs = -Infinity;
  private ended: 'no' | 'released' | 'abandoned' = 'no';
  private rereadTimer: NodeJS.Timeout | null = null;
  private lastReadMs = -Infinity;
  /** `map.changes` right after the last read of the table. If it differs, all rows are read. */
  private changesAtRead = -1;

  constructor(options: ShardReconcilerOptions) {
    this.options = options;
    const { table, log, sealing, lost, offerTimeoutMs, pace } = options;
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
      offerTimeoutMs,
      pace,
    });
  }

  /** Takes every step that is possible now. One round at a time; a call during a round causes another round. */
  reconcile(): Promise<void> {
    if (this.reconciling !== null) this.mustRepeat = true;
    this.reconciling ??= this.reconcileUntilDone().finally(() => (this.reconciling = null));
    return this.reconciling;
  }

  /** Reads the table and reconciles. */
  async poll(): Promise<void> {
    this.reclaimOffers();
    await this.readTable();
    await this.reconcile();
  }

  /** Reads the table soon; calls are coalesced. */
  pollSoon(): void {
    if (this.rereadTimer !== null || this.ended !== 'no') return;
    const waitMs = Math.max(0, this.lastReadMs + this.options.rereadMs - performance.now());
    this.rereadTimer = setTimeout(() => {
      this.rereadTimer = null;
      this.poll().catch((error) => this.options.log.warn({ err: error }, 'the shard table could not be read; retrying'));
    }, waitMs);
    this.rereadTimer.unref();
  }

  /** The database refused commits under this node's epochs of these shards. */
  refused(shards: readonly number[]): void {
    this.options.log.warn({ count: shards.length }, 'the database refused the epochs of these shards; this node drops them');
    for (const shard of shards) this.refusedShards.add(shard);
    this.drop(shards);
    this.pollSoon();
  }

  /** Call with changed rows: shards that another node owns under a later epoch are dropped. */
  dropReassigned(rows: readonly ShardRow[]): void {
    const { self } = this.options;
    const lost = rows.filter(({ shard, epoch, owner }) => owner !== self && epoch > (this.confirmableEpoch(shard) ?? Infinity));
    if (lost.length > 0) this.options.log.warn({ count: lost.length }, 'shards of this node are owned by others now');
    this.drop(lost.map(({ shard }) => shard));
  }

  dropAll(): void {
    this.lossCount++;
    this.drop(this.own.held());
  }

  /** Compares held shards with the database. Shards that it does not list for this node are dropped before this resolves. */
  async check(): Promise<void> {
    const before = Array.from({ length: shardCount }, (_, shard) => this.confirmableEpoch(shard));
    const { epochs, verdict } = await this.options.table.own();
    const held = before.flatMap((epoch, shard) => (epoch === null || this.confirmableEpoch(shard) !== epoch ? [] : [shard]));
    const fell = held.some((shard) => (epochs.get(shard) ?? Infinity) < before[shard]!);
    if (this.hasChanged(verdict)) this.handleLostCommits('history');
    else if (fell) this.handleLostCommits('epochs');
    // Same owner, other epoch: a node with knowledge of a later history has raised it.
    else this.drop(held.filter((shard) => epochs.get(shard) !== before[shard]));
  }

  /** Called for each new commit connection before it is used. */
  async connected(client: pg.ClientBase): Promise<void> {
    if (this.hasChanged(await this.options.table.history.compare(client))) this.handleLostCommits('history');
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
    if (rows.some((row) => row.before < before.get(row.shard)!)) return this.handleLostCommits('epochs');
    for (const { shard, epoch, before: was } of rows) {
      if (was !== before.get(shard)) continue;
      this.own.raise(shard, epoch);
      before.delete(shard);
    }
    this.options.map.merge(rows.map(({ before: _, ...row }) => row));
    this.drop([...before].flatMap(([shard, epoch]) => (this.own.heldEpochOf(shard) === epoch ? [shard] : [])));
  }

  /** Releases all shards. With `release` others can claim them at once, otherwise after the failure is detected. */
  async stop(release: boolean): Promise<void> {
    this.ended = release ? 'released' : 'abandoned';
    this.handoffs.stop();
    this.movement.stop();
    if (this.rereadTimer !== null) clearTimeout(this.rereadTimer);
    const held = this.own.held();
    this.dropAll();
    if (!release) return;
    if (held.length > 0) {
      const rows = await this.options.table.release(held);
      this.options.map.merge(rows);
      this.options.announce(rows);
    }
    await this.reconciling;
  }

  private async reconcileUntilDone(): Promise<void> {
    do {
      this.mustRepeat = false;
      try {
        await this.step();
      } catch (error) {
        if (this.ended === 'no') this.options.log.warn({ err: error }, 'shards could not be claimed; retrying');
      }
    } while (this.mustRepeat && this.ended === 'no');
  }

  private async step(): Promise<void> {
    const view = this.options.placementView();
    if (view === null || this.ended !== 'no' || this.mustRaise !== 'none') return;
    const { free, orphaned } = claimable(this.placementState(view));
    if (free.length > 0) await this.claim(free);
    if (orphaned.length > 0) await this.claimOrphaned();
    const now = this.options.placementView();
    if (now === null || this.ended !== 'no') return;
    const canReceive = (to: string) => now.canReceive(to) && !this.areOffersPaused(to);
    const leaving = surplus(this.placementState(now), canReceive);
    if (leaving.length > 0) this.handoffs.begin(leaving, (shard) => this.options.placementView()?.plan[shard] ?? null);
  }

  /** K2. */
  private async claimOrphaned(): Promise<void> {
    const { refresh, placementView, table, isProvenDead } = this.options;
    await refresh();
    const { lossCount } = this;
    const now = placementView();
    if (now === null || this.mustRaise !== 'none') return;
    const { orphaned } = claimable(this.placementState(now));
    if (orphaned.length === 0) return;
    const owners = [...new Set(orphaned.map(({ owner }) => owner!))];
    const connected = await table.endCommits(owners);
    // K4: expelled meanwhile.
    if (lossCount !== this.lossCount) return;
    await this.claim(orphaned, new Set(owners.filter((owner) => isProvenDead(owner) && !connected.has(owner))));
  }

  /** @param dead owners that certainly serve no reads any more */
  private async claim(seen: readonly ShardRow[], dead: ReadonlySet<string> = new Set()): Promise<void> {
    const { table, map, self, readLeaseWaitMs, isMember } = this.options;
    const { lossCount } = this;
    const rows = await table.claim(seen);
    // K4: the planned owner claims them later; that may be this node.
    if (lossCount !== this.lossCount || this.ended !== 'no') {
      if (this.ended === 'released') await table.release(rows.map(({ shard }) => shard));
      else map.merge(rows);
      return;
    }
    const ownerBefore = new Map(seen.map(({ shard, owner }) => [shard, owner]));
    const atOnce: number[] = [];
    const later: number[] = [];
    for (const { shard, epoch } of rows) {
      // A later owner, or a release by this node, may be known before the answer to this claim.
      if (map.row(shard).epoch > epoch || !this.own.claim(shard, epoch)) continue;
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
    if (later.length > 0) setTimeout(() => this.serve(later, isOrphaned, lossCount), readLeaseWaitMs).unref();
    this.changed(rows);
    if (rows.length < seen.length && (await this.readTable())) this.mustRepeat = true;
  }

  private serve(shards: number[], isOrphaned: (shard: number) => boolean, lossCount = this.lossCount): void {
    if (lossCount !== this.lossCount) return;
    const served = shards.filter((shard) => this.own.serve(shard));
    if (served.length === 0) return;
    for (const shard of served) {
      this.refusedShards.delete(shard);
      this.reclaimed.delete(shard);
    }
    this.options.acquired(served, served.filter(isOrphaned));
  }

  private drop(shards: readonly number[]): void {
    const inMemory: number[] = [];
    for (const shard of shards) {
      const state = this.own.drop(shard);
      if (state === 'owned' || state === 'sealing') inMemory.push(shard);
    }
    if (inMemory.length > 0) this.options.lost(inMemory);
  }

  /** Call after this node has changed rows. */
  private changed(rows: readonly ShardRow[]): void {
    if (rows.length === 0) return;
    this.options.map.merge(rows);
    this.options.announce(rows);
  }

  /** True if a row has changed. */
  private async readTable(): Promise<boolean> {
    const { table, map, self } = this.options;
    this.lastReadMs = performance.now();
    const before = map.all();
    const { changes } = map;
    const { rows, verdict } = await table.read({ unlessSame: this.changesAtRead === map.changes });
    if (this.hasChanged(verdict)) this.handleLostCommits('history');
    else if (rows.some((row) => hasFallen(before[row.shard]!, row))) this.handleLostCommits('epochs');
    if (this.mustRaise !== 'none') return this.raise(this.mustRaise);
    const isUndisturbed = changes === map.changes;
    map.merge(rows);
    this.changesAtRead = isUndisturbed ? map.changes : -1;
    // Another node has raised the epoch: this node's commits are refused.
    this.drop(
      rows.flatMap(({ shard, epoch, owner }) => (owner === self && epoch > (this.confirmableEpoch(shard) ?? epoch) ? [shard] : [])),
    );
    return rows.length > 0;
  }

  private hasChanged(verdict: Verdict): boolean {
    if (verdict === 'past') throw new AppError('unavailable', 'The database has changed since it was asked');
    return verdict === 'changed';
  }

  /** K6. Each node detects another history. Fallen epochs may be detected by one node only; it raises all, so others drop theirs. */
  private handleLostCommits(sign: 'history' | 'epochs'): void {
    const { log, readLeaseWaitMs, onLostCommits } = this.options;
    log.error(
      { sign, shards: this.own.held().length },
      'the database has lost confirmed commits, as after a failover or a restored backup: this node drops its state and claims its shards again',
    );
    this.commitLosses++;
    if (this.mustRaise !== 'all') this.mustRaise = sign === 'epochs' ? 'all' : 'fallen';
    this.lateUntilMs = performance.now() + readLeaseWaitMs;
    this.refusedShards.clear();
    this.reclaimed.clear();
    this.handoffs.clearOffers();
    this.dropAll();
    onLostCommits();
    this.pollSoon();
  }

  /** K6. Other nodes do the same; the node with the largest known epoch decides. */
  private async raise(those: 'fallen' | 'all'): Promise<boolean> {
    const { table, map } = this.options;
    const { commitLosses } = this;
    const known = map.all().map((row) => ({ ...row, epoch: Math.max(row.epoch, this.own.lastEpochOf(row.shard)) }));
    const raised = await table.raise(known, those);
    if (commitLosses !== this.commitLosses) return true;
    this.mustRaise = 'none';
    this.changed(raised);
    await this.readTable();
    return true;
  }

  /** Reclaims shards whose offer was not claimed, as soon as the table has been read. */
  private reclaimOffers(): void {
    const nowMs = monotonicMs();
    for (const { shard, to } of this.handoffs.expiredOffers()) {
      if (!this.areOffersPaused(to)) this.options.log.warn({ to }, 'a node does not claim the shards it is offered; they stay here');
      this.offersPausedUntilMs.set(to, nowMs + this.options.offerPauseMs);
      this.reclaimed.add(shard);
    }
  }

  private areOffersPaused(incarnation: string): boolean {
    const untilMs = this.offersPausedUntilMs.get(incarnation);
    if (untilMs === undefined) return false;
    if (monotonicMs() < untilMs) return true;
    this.offersPausedUntilMs.delete(incarnation);
    this.reclaimed.clear();
    return false;
  }

  private confirmableEpoch(shard: number): number | null {
    return this.own.stateOf(shard) === 'releasing' ? null : this.own.heldEpochOf(shard);
  }

  private placementState({ plan, frozen, members }: PlacementView): PlacementState {
    const { self, map } = this.options;
    return {
      self,
      plan,
      frozen,
      map,
      own: this.own,
      wanted: (shard) => this.reclaimed.has(shard) || (frozen && this.refusedShards.has(shard)),
      isMember: (incarnation) => members.includes(incarnation),
    };
  }
}
