/**
 * Announces that the database has lost commits, to the parts of this node that keep other state and to the other nodes. Each node detects another
 * history; fallen epochs may be detected by one node alone (`shard-reconciler.ts`, K6).
 */
import { monotonicMs } from '../clock.ts';
import type { ClusterMembers } from './cluster-members.ts';
import type { Peers } from './peers.ts';
import type { PlacementListeners } from './placement-listeners.ts';

export type LostCommitsParts = {
  peers: Pick<Peers, 'onNotification'>;
  clusterMembers: Pick<ClusterMembers, 'notifyAll'>;
  listeners: PlacementListeners;
  /** Ends the read lease: state in memory may be shown only after the database has confirmed it. */
  endLease(): void;
};

const topic = 'lost commits';
/** Notifications within this time after an announcement are about the same loss. */
const deduplicationMs = 10_000;

export class LostCommits {
  private announcedAtMs = Number.NEGATIVE_INFINITY;
  private readonly parts: LostCommitsParts;

  constructor(parts: LostCommitsParts) {
    this.parts = parts;
    parts.peers.onNotification(topic, () => monotonicMs() - this.announcedAtMs > deduplicationMs && this.announce());
  }

  /** This node has detected the loss, and has announced the loss of its shards. */
  report(): void {
    this.parts.clusterMembers.notifyAll(topic, null);
    this.announce();
  }

  private announce(): void {
    this.announcedAtMs = monotonicMs();
    this.parts.endLease();
    this.parts.listeners.emit('lostCommits', null);
  }
}
