/** Whom requests and connections are counted by: a key by itself, a person by all sessions together, everybody else by address. */
import type { Principal } from '../auth/principal.ts';

export function callerOf({ kind, id, userId }: Principal): string {
  return kind === 'session' ? userId : id;
}
