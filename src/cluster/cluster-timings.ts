/** Intervals and time-outs of a cluster node, in milliseconds. Tests use shorter ones. */

export type ClusterTimings = {
  /** How often a node polls the shard table. */
  shardPollMs: number;
  /**
   * How often a node samples which members are reachable; `reachability-detector.ts` counts these samples. While a member is isolated the shard
   * table is polled as often.
   */
  reachabilitySampleMs: number;
  /** How often a node asks the database whether it can commit; `commit-health.ts` counts these samples. */
  commitProbeMs: number;
  /** How long committed state is shown without asking the database. */
  readLeaseMs: number;
  /** A question renews that lease in the background when it is this old. */
  renewReadLeaseMs: number;
  /** How long a question waits for the database. */
  confirmationWaitMs: number;
  /** Between two reads of the table that are caused by stale routes. */
  rereadMs: number;
  /** How long a shard that was offered may stay unowned. */
  takeBackMs: number;
  /** How long a member that did not take an offer is offered nothing. */
  shunMs: number;
  /** How long a start waits for the lock of a node without a cluster. */
  lockWaitMs: number;
  /** How long a stop waits for the database and for the coordinator, each. */
  stopMs: number;
};

export const clusterTimings: ClusterTimings = {
  shardPollMs: 1_000,
  reachabilitySampleMs: 250,
  commitProbeMs: 250,
  readLeaseMs: 300,
  renewReadLeaseMs: 150,
  confirmationWaitMs: 2_000,
  rereadMs: 100,
  takeBackMs: 3_000,
  shunMs: 10_000,
  lockWaitMs: 5_000,
  stopMs: 800,
};
