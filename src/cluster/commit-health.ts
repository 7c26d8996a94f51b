/**
 * Whether this node reports that it can commit: whether PostgreSQL answers and accepts writes. With hysteresis, as for peers
 * (`reachability-detector.ts`). It counts samples, not time, so a pause of the process changes nothing.
 *
 * C1 A node reports that it cannot commit after `doubtAfter` consecutive samples without an answer, and that it can after `trustAfter`
 *    consecutive samples with one.
 * C2 A node is steady only after uninterrupted answers for longer than `trustAfter` samples. Only a steady node takes shards from a node
 *    that cannot commit: after an outage of the database for all nodes, each node can commit again before another may take its shards.
 * C3 Until the node counts as able to commit again, an answer within a second counts for every sample during its wait: otherwise a slow database that
 *    does answer would never give enough consecutive samples with an answer.
 */
import { ReachabilityDetector } from './reachability-detector.ts';

export type CommitHealthOptions = {
  /** Resolves with whether the database accepts writes. Rejects if it does not answer. */
  probe: () => Promise<boolean>;
};

/** At four samples a second: 2 s, 1 s, 40 s. */
const thresholds = { doubtAfter: 8, trustAfter: 4, maxTrustAfter: 160, maxReported: 1 };
/** 1 s. */
const gapAfter = 4;
/** 3 s. */
const steadyAfter = 12;
const database = 'database';

export class CommitHealth {
  canCommit = true;
  private readonly detector = new ReachabilityDetector(thresholds);
  private answered = false;
  private probing = false;
  private unanswered = 0;
  /** C3. Samples during the current probe that are not counted yet. */
  private pending = 0;
  private steadyFor = 0;
  private readonly options: CommitHealthOptions;

  constructor(options: CommitHealthOptions) {
    this.options = options;
  }

  /** C2. */
  get isSteady(): boolean {
    return this.canCommit && this.steadyFor >= steadyAfter;
  }

  /** Call at regular intervals. True if the state has changed. */
  sample(): boolean {
    const hasAnswer = this.answered;
    this.answered = false;
    if (!hasAnswer && this.probing && !this.canCommit && this.pending < gapAfter - 1) {
      this.pending++;
      return false;
    }
    if (!this.probing) void this.probe();
    let isNew = false;
    for (let sample = hasAnswer ? this.pending : 0; sample >= 0; sample--)
      isNew = this.detector.sample([database], () => hasAnswer) || isNew;
    this.pending = 0;
    this.canCommit = this.detector.unreachable.length === 0;
    this.unanswered = hasAnswer ? 0 : this.unanswered + 1;
    this.steadyFor = isNew || this.unanswered >= gapAfter ? 0 : this.steadyFor + 1;
    return isNew;
  }

  private async probe(): Promise<void> {
    this.probing = true;
    try {
      this.answered = await this.options.probe();
    } catch {
      // Counted by the samples.
    } finally {
      this.probing = false;
    }
  }
}
