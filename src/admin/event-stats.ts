/** Counts committed events of this node, and their delay until the commit. */
import { Distribution, latencyBoundsS } from '../counts.ts';
import type { EventDraft } from '../storage/commit-unit.ts';

export class EventStats {
  published = 0;
  /** Recorded once for each batch of an actor, for its oldest event. */
  readonly lagS = new Distribution(latencyBoundsS);

  committed(events: readonly Pick<EventDraft, 'createdAt'>[], nowMs: number): void {
    if (events.length === 0) return;
    this.published += events.length;
    this.lagS.record(Math.max(0, nowMs - events[0]!.createdAt) / 1_000);
  }
}
