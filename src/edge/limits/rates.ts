/** The port behind which requests are counted: in this process where the node is alone (`own-rates.ts`), else across the cluster (`leased-rates.ts`). */
import type { RateLimitState, Taken } from './bucket.ts';

export interface Rates {
  /**
   * Counts one request of a caller whose bucket holds `perMinute` tokens. Answers synchronously where no other node or Redis is needed. Never throws and never
   * rejects.
   */
  take(caller: string, perMinute: number): Taken | Promise<Taken>;
  /**
   * Takes back the token of a request that was allowed and is refused for another reason. Only right after `take` has answered, without an await between.
   */
  giveBack(caller: string): void;
  /** The caller's rate limit, as far as this node knows. Counts nothing. */
  peek(caller: string, perMinute: number): RateLimitState;
  stop(): void;
}
