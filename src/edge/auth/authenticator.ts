/** Authentication of requests: what the edge must know before it serves a caller. */
import type { HttpRequest } from '../http/message.ts';
import type { Principal } from './principal.ts';

export interface Authenticator {
  /**
   * Authenticates by the value of an Authorization header; null: not authenticated. Throws or rejects `unavailable` when the check is not
   * possible.
   */
  authenticate(authorization: string): Principal | null | Promise<Principal | null>;
  /**
   * Like `authenticate`. Without the header, the `token` of a download link or the dashboard's cookie counts. Throws or rejects `forbidden`
   * for a link that does not open this path, and for a cookie without the right to act.
   */
  ofRequest(request: HttpRequest): Principal | null | Promise<Principal | null>;
  /** Whether the session or key of a principal is valid now: for connections, which outlive the moment of their authentication. */
  isStillValid(principal: Principal): Promise<boolean>;
}
