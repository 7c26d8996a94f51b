/** Who is calling: what the edge needs to know before it serves anybody. */
import type { HttpRequest } from '../http/message.ts';
import type { Principal } from './principal.ts';

export interface Authenticator {
  /**
   * By the value of an Authorization header; null: not authenticated. Throws or rejects `unavailable` when that cannot be found out.
   */
  authenticate(authorization: string): Principal | null | Promise<Principal | null>;
  /**
   * Like `authenticate`, and where there is no header by the `token` of a download link or by the dashboard's cookie. Throws or rejects
   * `forbidden` for a link that does not open this path, and for a cookie that may not act.
   */
  ofRequest(request: HttpRequest): Principal | null | Promise<Principal | null>;
  /** Whether the session or key behind a principal counts now: for connections, which outlive the moment they were authenticated. */
  isStillValid(principal: Principal): Promise<boolean>;
}
