/**
 * Hands shards over to their planned owner: seal, drain, drop, release, offer. Owns the pace, a few shards at a time; the states of a shard
 * are in `own-shards.ts`.
 *
 * H1 A shard is released only after all sealing listeners have finished, and after its activations are dropped.
 * H2 At most `pace().inMotion` shards are in motion; if no move is urgent, there are long pauses without any move.
 * H3 A shard that is not claimed in time is reclaimed: a node that cannot claim does not leave its planned shards unserved.
 */
import { monotonicMs } from '../clock.ts';
import type { Log } from '../log.ts';
import type { OwnShards } from './own-shards.ts';
import type { ShardRow } from './shard-map.ts';
import type { ShardTable } from './shard-table.ts';

export type Pace = {
  /** How many may be in motion at once. */
  inMotion: number;
  /** Whether to pause between moves, so that few callers meet a moving shard. */
  pauses: boolean;
};

export type HandoffsOptions = {
  own: OwnShards;
  table: ShardTable;
  log: Log;
  /** Resolves when no work of these shards runs any more; never rejects. */
  sealing: (shards: number[]) => Promise<void>;
  /** Their activations are dropped. */
  lost: (shards: number[]) => void;
  /** These rows have no owner now. */
  released: (rows: readonly ShardRow[]) => void;
  /** More shards may move. */
  onCapacity: () => void;
  /** Asked before each move begins. */
  pace: () => Pace;
  /** How long an offered shard may stay unowned. */
  offerTimeoutMs: number;
};

/** Sealed together: the slowest delays the others of its group. */
const groupSize = 8;
const retryMs = 250;
/** The pause after a move, as a multiple of the time the move took. */
const pauseFactor = 4;
const maxPauseMs = 1_000;

export class Handoffs {
  /** Handed over since the start. */
  done = 0;
  private stopped = false;
  /** Sealed or being released. */
  private readonly leaving = new Set<number>();
  /** Released and not claimed yet: since when, and which member should claim them. */
  private readonly offers = new Map<number, { sinceMs: number; to: string }>();
  private readonly sealed: number[] = [];
  private releasing = false;
  private movingSinceMs = 0;
  private pauseTimer: NodeJS.Timeout | null = null;
  private readonly options: HandoffsOptions;

  constructor(options: HandoffsOptions) {
    this.options = options;
  }

  get inMotion(): number {
    return this.leaving.size + this.offers.size;
  }

  /** Starts as many moves as the pace allows. `planned`: the planned owner of a shard. */
  begin(shards: readonly number[], planned: (shard: number) => string | null): void {
    const { own, pace } = this.options;
    if (pace().pauses && (this.pauseTimer !== null || this.inMotion > 0)) return;
    if (this.inMotion === 0) this.movingSinceMs = performance.now();
    const sealing: number[] = [];
    for (const shard of shards) {
      if (this.inMotion >= pace().inMotion || this.stopped) break;
      if (this.leaving.has(shard) || !own.seal(shard)) continue;
      this.leaving.add(shard);
      sealing.push(shard);
    }
    for (let i = 0; i < sealing.length; i += groupSize) void this.seal(sealing.slice(i, i + groupSize), planned);
  }

  /** Shards have new owners. */
  moved(rows: readonly ShardRow[]): void {
    let isClaimed = false;
    for (const { shard, owner } of rows) if (owner !== null && this.offers.delete(shard)) isClaimed = true;
    if (!isClaimed) return;
    if (this.inMotion === 0) this.pauseMoves();
    this.options.onCapacity();
  }

  /** H3. Removes and returns offers that were not claimed in time. */
  expiredOffers(): { shard: number; to: string }[] {
    const beforeMs = monotonicMs() - this.options.offerTimeoutMs;
    const refused: { shard: number; to: string }[] = [];
    for (const [shard, { sinceMs, to }] of this.offers) if (sinceMs <= beforeMs) refused.push({ shard, to });
    for (const { shard } of refused) this.offers.delete(shard);
    return refused;
  }

  /** The database has lost commits: the offers are not valid any more. */
  clearOffers(): void {
    this.offers.clear();
  }

  stop(): void {
    this.stopped = true;
    if (this.pauseTimer !== null) clearTimeout(this.pauseTimer);
  }

  private pauseMoves(): void {
    if (this.pauseTimer !== null) clearTimeout(this.pauseTimer);
    const tookMs = performance.now() - this.movingSinceMs;
    this.pauseTimer = setTimeout(
      () => {
        this.pauseTimer = null;
        this.options.onCapacity();
      },
      Math.min(pauseFactor * tookMs, maxPauseMs),
    );
  }

  private async seal(shards: number[], planned: (shard: number) => string | null): Promise<void> {
    await this.options.sealing(shards);
    this.sealed.push(...shards);
    if (!this.releasing) await this.releaseSealed(planned);
  }

  /** One statement for all sealed shards; those sealed meanwhile are in the next. */
  private async releaseSealed(planned: (shard: number) => string | null): Promise<void> {
    this.releasing = true;
    while (this.sealed.length > 0 && !this.stopped) {
      const ready = this.sealed.splice(0);
      // Shards that were lost meanwhile are not released.
      const shards = ready.filter((shard) => this.options.own.release(shard));
      if (shards.length > 0) {
        this.options.lost(shards);
        await this.release(shards, planned);
      }
      for (const shard of ready) this.leaving.delete(shard);
      this.options.onCapacity();
    }
    this.releasing = false;
  }

  private async release(shards: number[], planned: (shard: number) => string | null): Promise<void> {
    const { own, table, log, released } = this.options;
    for (;;) {
      const ours = shards.filter((shard) => own.stateOf(shard) === 'releasing');
      if (ours.length === 0 || this.stopped) return;
      try {
        const rows = await table.release(ours);
        for (const shard of ours) if (own.stateOf(shard) === 'releasing') own.drop(shard);
        const sinceMs = monotonicMs();
        for (const { shard } of rows) {
          const to = planned(shard);
          if (to !== null) this.offers.set(shard, { sinceMs, to });
        }
        this.done += rows.length;
        released(rows);
        return;
      } catch (error) {
        log.warn({ err: error, count: ours.length }, 'shards could not be released; retrying');
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}
