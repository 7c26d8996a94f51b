/** Intervals and time-outs of a cluster node, in milliseconds. Tests use shorter ones. */

export type ClusterTimings = {
  /** How often a node polls the shard table. */
  shardPollMs: number;
  /**
   * How often a node samples which members are reachable; `reachability-detector.ts` counts these samples. While a member is isolated the
   * shard table is polled at this interval too.
   */
  reachabilitySampleMs: number;
  /** How often a node asks the database whether it can commit; `commit-health.ts` counts these samples. */
  commitProbeMs: number;
  /** How long committed state is shown without a query of the database. */
  readLeaseMs: number;
  /** At this age of the read lease, a query renews it in the background. */
  renewReadLeaseMs: number;
  /** How long a query waits for the database. */
  confirmationWaitMs: number;
  /** Pause between two reads of the table that are caused by stale routes. */
  rereadMs: number;
  /** How long an offered shard may stay unowned. */
  offerTimeoutMs: number;
  /** How long a member that did not claim an offered shard gets no further offer. */
  offerPauseMs: number;
  /** How long a start waits for the lock of a node without a cluster. */
  lockWaitMs: number;
  /** How long a stop waits for the database, and again for the coordinator. */
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
  offerTimeoutMs: 3_000,
  offerPauseMs: 10_000,
  lockWaitMs: 5_000,
  stopMs: 800,
};
