/** The port that counts requests: in this process for a single node (`own-rates.ts`), otherwise across the cluster (`leased-rates.ts`). */
import type { RateLimitState, Taken } from './bucket.ts';

export interface Rates {
  /**
   * Counts one request of a caller whose bucket holds `perMinute` tokens. Returns synchronously where no other node or Redis is needed.
   * Never throws or rejects.
   */
  take(caller: string, perMinute: number): Taken | Promise<Taken>;
  /**
   * Returns the token of an allowed request that is refused for another reason. Valid only directly after `take` has answered, without an
   * await between.
   */
  refund(caller: string): void;
  /** The caller's rate limit, as far as this node knows. Counts nothing. */
  peek(caller: string, perMinute: number): RateLimitState;
  stop(): void;
}
