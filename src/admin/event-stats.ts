/** How many events this node has committed, and how long they were on their way to it. */
import { Distribution, latencyBoundsS } from '../counts.ts';
import type { EventDraft } from '../storage/commit-unit.ts';

export class EventStats {
  published = 0;
  /** Noted once for each batch of an actor, by its oldest event. */
  readonly lagS = new Distribution(latencyBoundsS);

  committed(events: readonly Pick<EventDraft, 'createdAt'>[], nowMs: number): void {
    if (events.length === 0) return;
    this.published += events.length;
    this.lagS.note(Math.max(0, nowMs - events[0]!.createdAt) / 1_000);
  }
}
