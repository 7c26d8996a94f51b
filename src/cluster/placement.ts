/** The port that maps a shard to its owner, for the runtime: implemented for one node and for a cluster. */

import type { FenceControl } from '../storage/commit-lane.ts';
import type { MessageDraft } from '../storage/commit-unit.ts';
import { shardCount } from './address.ts';

/** A command or query in transit to the node that owns its actor. */
export type RemoteAsk = {
  kind: string;
  id: string;
  name: string;
  input: unknown;
  query: boolean;
  /** By `monotonicMs` of this process; between nodes the remaining time is sent. */
  deadlineMs: number;
  commandId: string | null;
  /** An earlier try of this command may still be in transit to some owner: a refusal must be recorded. */
  repeat: boolean;
  /** The effect whose outcome this command is, otherwise null. Its turn consumes the effect's row. */
  effectId: string | null;
  /** W3C traceparent of the original request; null if it is not traced. */
  trace: string | null;
};

export interface Placement {
  /** This process's incarnation: new with every start, never used twice. The column `owner` in the database contains it. */
  readonly owner: string;
  /** The fence of commits. Its epochs include shards that are being sealed, so that running turns can be committed. */
  readonly fence: FenceControl;
  /** The epoch under which this node runs turns of the shard now; null if it does not own the shard, or hands it over. */
  epochOf(shard: number): number | null;
  /**
   * Whether committed state in memory may be shown: null if the database has confirmed this node's ownership a moment ago; otherwise a
   * promise that resolves when it has, after detected losses were announced (`onLost`). Rejects `unavailable` when the database does not
   * answer.
   */
  confirmation(): Promise<void> | null;
  /** Sends an ask to the shard's owner. Throws `shard_not_owned` if it has no owner now; the caller retries within its deadline. */
  forward(shard: number, ask: RemoteAsk): Promise<unknown>;
  /** Resolves when any shard has moved, as far as this node knows, at the latest after `timeoutMs`. */
  moved(timeoutMs: number): Promise<void>;
  /** Sends committed messages to the owners of their shards. Owners find lost messages in the database. */
  relayMessages(messages: readonly MessageDraft[]): void;
  /** Calls back with messages from other nodes; null: some may have been lost, rescan the database. */
  onRelayedMessages(listener: (messages: readonly MessageDraft[] | null) => void): void;
  /** Whether the process with this incarnation may still run. False is certain. */
  isAlive(incarnation: string): boolean;
  /** Calls back when an incarnation has certainly ended, or was expelled from the cluster. */
  onIncarnationEnded(listener: (incarnation: string) => void): void;
  /** Calls back with shards that this node has acquired and whose work continues here; and with the subset that belonged to a dead node. */
  onAcquired(listener: (shards: number[], orphaned: number[]) => void): void;
  /**
   * Calls back with shards that are about to be handed over: `epochOf` is already null for them. They are released when the promise has
   * resolved: when nothing of them waits for a commit any more.
   */
  onSealing(listener: (shards: number[]) => Promise<void>): void;
  /** Calls back with shards that this node no longer owns: their activations are dropped. */
  onLost(listener: (shards: number[]) => void): void;
  /** Calls back when the database has lost confirmed commits, e.g. after a failover to a lagging standby; after `onLost`. */
  onLostCommits(listener: () => void): void;
  /** Joins: from now on shards are acquired. */
  start(): Promise<void>;
  /** Releases all owned shards. */
  stop(): Promise<void>;
}

/** The shards whose turns this node runs now. */
export function ownedShards(placement: Pick<Placement, 'epochOf'>): number[] {
  return Array.from({ length: shardCount }, (_, shard) => shard).filter((shard) => placement.epochOf(shard) !== null);
}
