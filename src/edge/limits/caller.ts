/** The name under which requests and connections are counted: the key; the user, for all sessions together; otherwise the address. */
import type { Principal } from '../auth/principal.ts';

export function callerOf({ kind, id, userId }: Principal): string {
  return kind === 'session' ? userId : id;
}
