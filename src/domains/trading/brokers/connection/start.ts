/** Starts connections to brokers on a node: their actor, their routes, and the watchers of those in this node's shards. */
import type { Platform, StartedDomain } from '../../../domain.ts';
import type { TradingStats } from '../../metrics.ts';
import { brokerRoutes } from '../../routes/brokers.ts';
import { connectionActor } from './connection.ts';
import type { CredentialBox } from './credentials.ts';
import type { OpenConnections } from './open-connections.ts';
import { ConnectionWatchers } from './watchers.ts';

export type BrokerStartParts = { connections: OpenConnections; credentials: CredentialBox; stats: TradingStats };

/** Call before the runtime starts: the watchers are notified of its first shards. */
export function startBrokers(
  platform: Platform,
  parts: BrokerStartParts,
): Required<Pick<StartedDomain, 'actors' | 'routes'>> & { stop(): void } {
  const { brokerPollMs: pollMs, brokerReconcileMs: reconcileMs, brokerLookUpMs: lookUpMs } = platform.config;
  const watchers = new ConnectionWatchers({ ...platform, ...parts, pollMs, reconcileMs, lookUpMs });
  return {
    actors: [connectionActor((id) => watchers.changed(id))],
    routes: brokerRoutes({ ...platform, ...parts }),
    stop: () => watchers.stop(),
  };
}
