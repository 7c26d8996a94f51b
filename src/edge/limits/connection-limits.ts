/**
 * How many WebSocket connections a key, or a person's sessions together, may have: the number of its plan, across the whole cluster; and all keys and
 * sessions of an account five times that.
 */
import { accountTimes, timesLimit } from '../../plans.ts';
import type { Principal } from '../auth/principal.ts';
import { callerOf } from './caller.ts';
import type { Entitlements } from './entitlements.ts';
import type { SocketCounts } from './socket-counts.ts';

/** The right to one connection, until it is closed. */
export type ConnectionLease = { readonly caller: string; readonly accountId: string };

export interface ConnectionLimits {
  /** null: the caller has as many as it may have. Rejects `unavailable` where its plan cannot be found out. */
  open(principal: Principal): Promise<ConnectionLease | null>;
  /** Once for each lease. */
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

/** Lets everybody in. */
export const unlimitedConnections: ConnectionLimits = { open: async ({ id, accountId }) => ({ caller: id, accountId }), close() {} };
