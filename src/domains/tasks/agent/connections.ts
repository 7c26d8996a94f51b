/** What domains with connections tell agents: that one is lost, or made. Both are called from repeatable effects, and may be repeated. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Mode } from '../../../mode.ts';
import type { Database } from '../../../storage/database.ts';

/**
 * Ends with an error all running agents of the account that have called a tool of this connection, or wait to.
 *
 * @param lost.connection as in `SourcedTool`
 * @param lost.message the error of the agents; it names the service
 */
export async function failAgentsRelyingOn(
  _actors: ActorSystem,
  _database: Pick<Database, 'read'>,
  _lost: { accountId: string; connection: string; message: string },
): Promise<void> {}

/** Wakes the agents of the account and mode that wait for a connection of this service. */
export async function connectionMade(
  _actors: ActorSystem,
  _database: Pick<Database, 'read'>,
  _made: { accountId: string; service: string; mode: Mode },
): Promise<void> {}
