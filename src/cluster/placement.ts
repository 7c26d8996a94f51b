/** Where an actor lives. The runtime asks nothing else of the cluster, so one node and many are two implementations of this. */
import type { FenceControl } from '../storage/group-commit.ts';

/** A command or query on its way to the node that owns its actor. */
export type RemoteAsk = {
  kind: string;
  id: string;
  name: string;
  input: unknown;
  query: boolean;
  deadlineMs: number;
  commandId: string | null;
  /** W3C traceparent of the request behind it; null where nothing is traced. */
  trace: string | null;
};

export interface Placement extends FenceControl {
  /** This process's incarnation: new with every start, never used twice. It is what `owner` in the database says. */
  readonly owner: string;
  /** The epoch under which this node owns the shard now; null when it does not. */
  epochOf(shard: number): number | null;
  /** Sends an ask to the shard's owner. Throws `shard_not_owned` where nobody owns it now; the caller retries inside its deadline. */
  forward(shard: number, ask: RemoteAsk): Promise<unknown>;
  /** Calls back with shards that this node has just come to own, so that their work goes on here. */
  onAcquired(listener: (shards: number[]) => void): void;
  /** Calls back with shards that this node no longer owns: their activations are dropped. */
  onLost(listener: (shards: number[]) => void): void;
  /** Joins: from here on shards are acquired. */
  start(): Promise<void>;
  /** Gives up what is owned. */
  stop(): Promise<void>;
}
