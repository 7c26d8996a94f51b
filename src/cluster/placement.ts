/** Where an actor lives. The runtime asks nothing else of the cluster, so one node and many are two implementations of this. */

import type { FenceControl } from '../storage/commit-lane.ts';
import type { MessageDraft } from '../storage/commit-unit.ts';
import { shardCount } from './address.ts';

/** A command or query on its way to the node that owns its actor. */
export type RemoteAsk = {
  kind: string;
  id: string;
  name: string;
  input: unknown;
  query: boolean;
  /** By `monotonicMs` of the process that holds this; what travels is the time that is left. */
  deadlineMs: number;
  commandId: string | null;
  /** An earlier try of this command may still be on its way to some owner: a refusal must be recorded. */
  repeat: boolean;
  /** The effect whose outcome this command is, else null. Its turn consumes the effect's row. */
  effectId: string | null;
  /** W3C traceparent of the request behind it; null where nothing is traced. */
  trace: string | null;
};

export interface Placement {
  /** This process's incarnation: new with every start, never used twice. It is what `owner` in the database says. */
  readonly owner: string;
  /** What commits are fenced with. Its epochs also cover shards that are being sealed, so that what runs can be committed. */
  readonly fence: FenceControl;
  /** The epoch under which this node takes turns of the shard now; null when it does not own it, or hands it over. */
  epochOf(shard: number): number | null;
  /**
   * Whether committed state in memory may be shown: null when the database has confirmed this node's ownership a moment ago; else a promise
   * that resolves when it has, after losses it found were announced (`onLost`). Rejects `unavailable` when the database does not answer.
   */
  confirmation(): Promise<void> | null;
  /** Sends an ask to the shard's owner. Throws `shard_not_owned` where it has no owner now; the caller retries inside its deadline. */
  forward(shard: number, ask: RemoteAsk): Promise<unknown>;
  /** Resolves when any shard has moved, as far as this node knows, and after `timeoutMs` at the latest. */
  moved(timeoutMs: number): Promise<void>;
  /** Brings committed messages to the owners of their shards. What gets lost on the way they find in the database. */
  passOn(messages: readonly MessageDraft[]): void;
  /** Calls back with messages from other nodes; null: some may have been lost, rescan the database. */
  onPassedOn(listener: (messages: readonly MessageDraft[] | null) => void): void;
  /** Whether the process with this incarnation may still run. False is certain. */
  isAlive(incarnation: string): boolean;
  /** Calls back when an incarnation has certainly ended, or was expelled from the cluster. */
  onGone(listener: (incarnation: string) => void): void;
  /** Calls back with shards that this node has acquired, so that their work goes on here; and with the subset that belonged to a dead node. */
  onAcquired(listener: (shards: number[], orphaned: number[]) => void): void;
  /**
   * Calls back with shards that are about to be handed over: `epochOf` is null for them already. They are released when the promise has
   * resolved: when nothing of them waits for a commit any more.
   */
  onSealing(listener: (shards: number[]) => Promise<void>): void;
  /** Calls back with shards that this node no longer owns: their activations are dropped. */
  onLost(listener: (shards: number[]) => void): void;
  /** Calls back when the database has lost commits that it had confirmed, as after a failover to a standby that lagged; after `onLost`. */
  onLostCommits(listener: () => void): void;
  /** Joins: from here on shards are acquired. */
  start(): Promise<void>;
  /** Releases all owned shards. */
  stop(): Promise<void>;
}

/** The shards that this node takes turns of now. */
export function ownedShards(placement: Pick<Placement, 'epochOf'>): number[] {
  return Array.from({ length: shardCount }, (_, shard) => shard).filter((shard) => placement.epochOf(shard) !== null);
}
