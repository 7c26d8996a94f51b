/** What a run of a strategy in the market remembers. */

export type Run = {
  /** Of the strategy that was started; a change of the strategy does not change its run. */
  version: number;
  startedAt: number;
};
