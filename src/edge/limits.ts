/** Whether a caller may make one more request now. The edge asks before it reads a body; how requests are counted is the limiter's matter. */
import type { Principal } from './auth/principal.ts';
import type { HttpRequest } from './http/message.ts';

export type LimitDecision = {
  allowed: boolean;
  /** Only where refused: whole seconds after which a request would be allowed. */
  retryAfterS: number;
  /** Sent with the answer, whatever its status. */
  headers: Record<string, string> | null;
};

export interface Limits {
  /**
   * Counts one request.
   *
   * @param caller the principal, or the remote address of a request that needs none
   */
  decide(caller: Principal | string, request: HttpRequest): LimitDecision | Promise<LimitDecision>;
}

const allowed: LimitDecision = { allowed: true, retryAfterS: 0, headers: null };

/** Counts nothing and refuses nobody. */
export const unlimited: Limits = { decide: () => allowed };
