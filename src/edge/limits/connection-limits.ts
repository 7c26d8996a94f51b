/**
 * Limits WebSocket connections across the whole cluster: a key, or all sessions of a user together, may have as many as its plan allows;
 * all keys and sessions of an account together five times as many.
 */
import { accountTimes, timesLimit } from '../../plans.ts';
import type { Principal } from '../auth/principal.ts';
import { callerOf } from './caller.ts';
import type { Entitlements } from './entitlements.ts';
import type { SocketCounts } from './socket-counts.ts';

/** The right to one connection, until it is closed. */
export type ConnectionLease = { readonly caller: string; readonly accountId: string };

export interface ConnectionLimits {
  /** null: the caller has as many connections as it may have. Rejects `unavailable` where its plan cannot be read. */
  open(principal: Principal): Promise<ConnectionLease | null>;
  /** Call it once for each lease. */
  close(lease: ConnectionLease): void;
}

export function createConnectionLimits(entitlements: Pick<Entitlements, 'of'>, counts: SocketCounts): ConnectionLimits {
  return {
    async open(principal) {
      const { websockets } = await entitlements.of(principal.accountId);
      const caller = callerOf(principal);
      const { accountId } = principal;
      if (!(await counts.open(caller, websockets))) return null;
      if (await counts.open(accountId, timesLimit(websockets, accountTimes))) return { caller, accountId };
      counts.close(caller);
      return null;
    },
    close({ caller, accountId }) {
      counts.close(caller);
      counts.close(accountId);
    },
  };
}

/** Allows every connection. */
export const unlimitedConnections: ConnectionLimits = { open: async ({ id, accountId }) => ({ caller: id, accountId }), close() {} };
