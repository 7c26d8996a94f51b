/** Listeners for placement events. A listener that throws is logged and does not affect the others. */
import type { Log } from '../log.ts';
import type { MessageDraft } from '../storage/commit-unit.ts';

type PlacementEvents = {
  acquired: { shards: number[]; orphaned: number[] };
  lost: number[];
  ended: string;
  messages: readonly MessageDraft[] | null;
  lostCommits: null;
};

export class PlacementListeners {
  private readonly byTopic: { [T in keyof PlacementEvents]: ((about: PlacementEvents[T]) => void)[] } = {
    acquired: [],
    lost: [],
    ended: [],
    messages: [],
    lostCommits: [],
  };
  private readonly sealing: ((shards: number[]) => Promise<void>)[] = [];
  private readonly log: Log;

  constructor(log: Log) {
    this.log = log;
  }

  on<T extends keyof PlacementEvents>(topic: T, listener: (about: PlacementEvents[T]) => void): void {
    this.byTopic[topic].push(listener);
  }

  onSealing(listener: (shards: number[]) => Promise<void>): void {
    this.sealing.push(listener);
  }

  emit<T extends keyof PlacementEvents>(topic: T, about: PlacementEvents[T]): void {
    for (const listener of this.byTopic[topic]) {
      try {
        listener(about);
      } catch (error) {
        this.log.error({ err: error, topic }, 'a placement listener threw');
      }
    }
  }

  /** Resolves when nothing of these shards runs any more. */
  async seal(shards: number[]): Promise<void> {
    const ends = await Promise.allSettled(this.sealing.map(async (listener) => listener(shards)));
    for (const end of ends) {
      if (end.status === 'rejected') this.log.error({ err: end.reason, shards }, 'work on sealed shards failed');
    }
  }
}
