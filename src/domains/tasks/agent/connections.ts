/**
 * Notifies agents that a connection was removed, or made; for domains with connections. Call both from repeatable effects, after the commit of the change:
 * agents ask the sources before each call, so one that is not found here sees the change itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { backoffMs } from '../../../backoff.ts';
import { AppError, errorCodes } from '../../../errors.ts';
import type { Mode } from '../../../mode.ts';
import type { Database } from '../../../storage/database.ts';
import { agent } from './messages.ts';

/** A turn that ran during the first scan may record a call of a tool that was removed. */
const secondScanMs = 1_000;
const maxTries = 6;

/**
 * Ends with an error all running agents of the account that have called a tool of this connection, or wait to.
 *
 * @param lost.connection as in `SourcedTool`
 * @param lost.message the error of the agents; it names the service
 */
export async function failAgentsRelyingOn(
  actors: Pick<ActorSystem, 'ask'>,
  database: Pick<Database, 'read'>,
  lost: { accountId: string; connection: string; message: string },
): Promise<void> {
  const { accountId, connection, message } = lost;
  const fail = async () => {
    const { rows } = await database.read({
      name: 'agents_relying_on_connection',
      text: `select id from agent where account_id = $1 and phase <> 'ended' and exists (select from json_array_elements_text(connections) as used where used = $2)`,
      values: [accountId, connection],
    });
    await toEach(rows, (id) => actors.ask(agent, id, 'connectionLost', { connection, message }));
  };
  await fail();
  await pause(secondScanMs);
  await fail();
}

/** Wakes the agents of the account and mode that wait for a connection of this service. */
export async function connectionMade(
  actors: Pick<ActorSystem, 'ask'>,
  database: Pick<Database, 'read'>,
  { accountId, service, mode }: { accountId: string; service: string; mode: Mode },
): Promise<void> {
  // Not only those that wait already: another may be trying at this moment.
  const { rows } = await database.read({
    name: 'agents_allowed_to_connect',
    text: `select id from agent where account_id = $1 and phase <> 'ended' and mode = $2 and allow_connect`,
    values: [accountId, mode],
  });
  await toEach(rows, (id) => actors.ask(agent, id, 'connectionMade', { service }));
}

async function toEach(rows: readonly { id: string }[], notify: (id: string) => Promise<unknown>): Promise<void> {
  for (const { id } of rows) await retryUntilSent(() => notify(id));
}

async function retryUntilSent(notify: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await notify();
      return;
    } catch (error) {
      // Both commands change nothing the second time.
      const mayPass = error instanceof AppError && errorCodes[error.code].retry !== 'never' && error.code !== 'draining';
      if (!mayPass || tries === maxTries) throw error;
      await pause(backoffMs(tries - 1, 100, 2_000));
    }
  }
}
