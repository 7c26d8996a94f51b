/**
 * Durable work that this version of the service does not know: messages, timers and effects that a newer version has recorded. It stays in
 * its table for a node that knows it.
 *
 * L1 A node changes, consumes and dead-letters nothing that it does not know. A node that knows it takes it when it owns the actor's shard.
 * L2 Left work is counted, logged once for each name, and counted again after growing pauses: an operator may have discarded it.
 */
import { ownedShards, type Placement } from '../cluster/placement.ts';
import type { Log } from '../log.ts';
import type { Database } from '../storage/database.ts';
import { type Kind, supportsCommand, supportsEffect } from './kind.ts';

export type LeftWorkParts = {
  kinds: ReadonlyMap<string, Kind>;
  database: Pick<Database, 'read'>;
  placement: Pick<Placement, 'epochOf'>;
  log: Log;
  /** Called after each count: reading can be tried again. */
  onCounted(): void;
};

type DurableTable = 'message' | 'timer' | 'effect';
/** `oldestS`: age of the oldest; of a timer, since when it is due. */
export type LeftCount = { place: DurableTable; kind: string; name: string; rows: number; oldestS: number };

const firstCountMs = 1_000;
const maxPauseMs = 60_000;
const maxCounted = 10_000;

export class LeftWork {
  private readonly names: Record<DurableTable, Set<string>> = { message: new Set(), timer: new Set(), effect: new Set() };
  private counts: LeftCount[] = [];
  private pauseMs = firstCountMs;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  private readonly parts: LeftWorkParts;

  constructor(parts: LeftWorkParts) {
    this.parts = parts;
  }

  /** For metrics: the last counts for shards of this node. */
  get found(): readonly LeftCount[] {
    return this.counts;
  }

  /** Whether this version knows it. Unknown names are remembered. */
  isSupported(place: DurableTable, kindName: string, name: string): boolean {
    const kind = this.parts.kinds.get(kindName);
    if (kind !== undefined && (place === 'effect' ? supportsEffect(kind, name) : supportsCommand(kind, name))) return true;
    const names = this.names[place];
    const full = `${kindName}/${name}`;
    if (!names.has(full)) {
      names.add(full);
      this.parts.log.warn({ place, kind: kindName, name }, 'this version does not know this durable work; it is left for a node that does');
      this.pauseMs = firstCountMs;
      this.arm();
    }
    return false;
  }

  /** `kind/name` of all work in this table that was left so far: reads exclude it. */
  namesIn(place: DurableTable): string[] {
    return [...this.names[place]];
  }

  /** Counts left work. Runs after growing pauses, and on demand. */
  async count(): Promise<void> {
    const shards = ownedShards(this.parts.placement as Placement);
    const counts: LeftCount[] = [];
    for (const [place, names] of Object.entries(this.names) as [DurableTable, Set<string>][]) {
      if (names.size === 0) continue;
      const { rows } = await this.parts.database.read({ name: `left_${place}`, text: countText(place), values: [shards, [...names]] });
      counts.push(...rows);
    }
    this.counts = counts;
    this.parts.onCounted();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private arm(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.pauseMs = Math.min(maxPauseMs, 2 * this.pauseMs);
      this.count()
        .catch((err) => this.parts.log.debug({ err }, 'left work could not be counted; retrying'))
        .finally(() => this.arm());
    }, this.pauseMs);
    this.timer.unref();
  }
}

function countText(place: DurableTable): string {
  const name = place === 'effect' ? 'name' : 'command';
  const since = place === 'timer' ? 'due_at' : 'created_at';
  return `select '${place}' as place, kind, name, count(*)::int as rows, greatest(0, extract(epoch from now() - min(since)))::float8 as "oldestS"
    from (select kind, ${name} as name, ${since} as since from ${place} where shard = any($1) and kind || '/' || ${name} = any($2)
      limit ${maxCounted}) l group by kind, name order by kind, name`;
}
