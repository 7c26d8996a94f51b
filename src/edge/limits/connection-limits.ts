/** How many WebSocket connections a key, or a person's sessions together, may have: the number of its plan, across the whole cluster. */
import type { Principal } from '../auth/principal.ts';
import { callerOf } from './caller.ts';
import type { Entitlements } from './entitlements.ts';
import type { SocketCounts } from './socket-counts.ts';

/** The right to one connection, until it is closed. */
export type ConnectionLease = { readonly caller: string };

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
      return (await counts.open(caller, websockets)) ? { caller } : null;
    },
    close: ({ caller }) => counts.close(caller),
  };
}

/** Lets everybody in. */
export const unlimitedConnections: ConnectionLimits = { open: async ({ id }) => ({ caller: id }), close() {} };
