/** Removing a connection. */
import type { ActorSystem } from '../../../../actors/actor-system.ts';
import { tradingAccount, tradingAccountIdOf } from '../../trading-account/messages.ts';
import type { ConnectedBrokerRow } from './entity.ts';
import { brokerConnection } from './messages.ts';

const reason = 'The broker connection was removed while it had an error: whether the order was filled or has ended is not known';

/**
 * Refuses (`conflict`) while orders of the connection are open or have an unknown outcome. At a broker that refuses the credentials they
 * could never end: if the connection has an error, they are ended here first.
 */
export async function removeConnection(actors: ActorSystem, row: ConnectedBrokerRow): Promise<void> {
  if (row.status === 'error') {
    const of = { brokerKey: row.id, reason };
    // One turn ends a limited number.
    while ((await actors.ask(tradingAccount, tradingAccountIdOf(row), 'abandonOrders', of)) > 0);
  }
  await actors.ask(brokerConnection, row.id, 'remove', null);
}
