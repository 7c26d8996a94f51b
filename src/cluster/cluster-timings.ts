/** How patient a node of a cluster is, in milliseconds. Tests are less so. */

export type ClusterTimings = {
  /** How often a node looks for what no news has told it. */
  shardPollMs: number;
  /**
   * How often a node looks whom it hears; `reachability-detector.ts` counts in these looks. As often it looks for what no news has told it while somebody is
   * isolated, whose news come nowhere.
   */
  reachabilitySampleMs: number;
  /** How often a node asks the database whether it can commit; `commit-health.ts` counts in these looks. */
  commitProbeMs: number;
  /** How long committed state is shown without asking the database. */
  readLeaseMs: number;
  /** A question renews that lease in the background when it is this old. */
  renewReadLeaseMs: number;
  /** How long a question waits for the database. */
  confirmationWaitMs: number;
  /** Between two reads of the table because somebody was asked in vain. */
  rereadMs: number;
  /** How long a shard that was offered may stay nobody's. */
  takeBackMs: number;
  /** How long a member that left offers lying is offered nothing. */
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
