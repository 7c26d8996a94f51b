/**
 * Tells what remembers more than shards that the database has lost commits: parts of this node, and the other nodes. Of another history each
 * node finds out by itself; epochs that fell may be found by one alone (`shard-keeper.ts`, K6).
 */
import { monotonicMs } from '../clock.ts';
import type { Neighbours } from './neighbours.ts';
import type { Peers } from './peers.ts';
import type { PlacementListeners } from './placement-listeners.ts';

export type LostCommitsParts = {
  peers: Pick<Peers, 'onNews'>;
  neighbours: Pick<Neighbours, 'tellAll'>;
  listeners: PlacementListeners;
  /** Nothing in memory may be shown before the database has confirmed it. */
  endLease(): void;
};

const news = 'lost commits';
/** What others tell within this time after it was known here is the same loss. */
const sameForMs = 10_000;

export class LostCommits {
  private toldAtMs = Number.NEGATIVE_INFINITY;
  private readonly parts: LostCommitsParts;

  constructor(parts: LostCommitsParts) {
    this.parts = parts;
    parts.peers.onNews(news, () => monotonicMs() - this.toldAtMs > sameForMs && this.tell());
  }

  /** This node has found it, and has announced the loss of its shards. */
  found(): void {
    this.parts.neighbours.tellAll(news, null);
    this.tell();
  }

  private tell(): void {
    this.toldAtMs = monotonicMs();
    this.parts.endLease();
    this.parts.listeners.tell('lostCommits', null);
  }
}
