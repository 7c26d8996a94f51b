/** Chooses the broker of an order: the named connection, else the newest connected one that fits, else the embedded paper broker. */
import { AppError } from '../../../errors.ts';
import type { AccountMode } from '../../../mode.ts';
import type { AssetClass } from '../market/symbol.ts';
import { invalidOrder } from '../orders/order-form.ts';
import { embeddedBook } from '../trading-account/entity.ts';
import type { OrderRoute } from '../trading-account/messages.ts';
import { type BrokerName, capabilitiesOf } from './capabilities.ts';
import type { BrokerMode } from './port.ts';

/** The part of a connection that the choice needs. */
export type Connection = {
  /** `brk_…` */
  id: string;
  brokerName: BrokerName;
  mode: BrokerMode;
  /** Who fills its orders: paper orders of a broker without a paper venue are filled by this service. */
  filledBy: OrderRoute['filledBy'];
  status: 'connected' | 'error';
  /** Its figures and ours differ: a person must decide. */
  halted: boolean;
};

export interface Connections {
  /** The connections of the account in this mode, newest first. */
  of(owner: AccountMode): Promise<readonly Connection[]>;
  /** A person takes over the broker's own figures. Throws `not_found`. @param by the user's id */
  resume(owner: AccountMode, brokerId: string, by: string): Promise<void>;
}

/** For an account without connections. */
export const noConnections: Connections = {
  of: async () => [],
  async resume() {
    throw new AppError('not_found', 'Broker not found');
  },
};

const embedded: OrderRoute = { brokerKey: embeddedBook, brokerName: 'embedded', orderMode: 'paper', filledBy: 'embedded' };

export type RequestedBroker = { brokerId: string | null; mode: BrokerMode; assetClass: AssetClass };
/** `unready`: why it accepts no order now; null: it does. */
export type ChosenBroker = { route: OrderRoute; unready: string | null };

/** null: no connection has this id. `no_live_broker`: real money, but no connection for it. */
export function chooseBroker(
  connections: readonly Connection[],
  { brokerId, mode, assetClass }: RequestedBroker,
): ChosenBroker | 'no_live_broker' | null {
  if (brokerId === embeddedBook) return mode === 'paper' ? { route: embedded, unready: null } : 'no_live_broker';
  if (brokerId !== null) {
    const named = connections.find(({ id }) => id === brokerId);
    if (named === undefined) return null;
    return named.mode === mode ? chosen(named) : 'no_live_broker';
  }
  const fits = (connection: Connection) =>
    connection.mode === mode && capabilitiesOf[connection.brokerName].assetClasses[assetClass] !== undefined;
  const newest = connections.find((connection) => connection.status === 'connected' && fits(connection));
  if (newest !== undefined) return chosen(newest);
  if (mode === 'paper') return { route: embedded, unready: null };
  // Refused with the reason why the connection accepts no orders.
  const unconnected = connections.find(fits);
  return unconnected === undefined ? 'no_live_broker' : chosen(unconnected);
}

export const connectionGone = 'The broker connection is gone';

/** Throws `conflict` if the connection accepts no orders now, or was removed. */
export function mustBeReady(connections: readonly Connection[], brokerKey: string): void {
  if (brokerKey === embeddedBook) return;
  const connection = connections.find(({ id }) => id === brokerKey);
  const unready = connection === undefined ? connectionGone : unreadyOf(connection);
  if (unready !== null) throw new AppError('conflict', unready);
}

/** The book shown by default: that of the newest connected broker, else the embedded one. */
export function shownBook(connections: readonly Connection[]): string {
  return connections.find(({ status }) => status === 'connected')?.id ?? embeddedBook;
}

/** Throws `not_found`, and `invalid` if the mode has no broker. */
export function mustChoose(connections: readonly Connection[], requested: RequestedBroker): ChosenBroker {
  const choice = chooseBroker(connections, requested);
  if (choice === null) throw new AppError('not_found', 'Broker not found');
  if (choice !== 'no_live_broker') return choice;
  throw noLiveBroker(requested);
}

function noLiveBroker({ brokerId, mode, assetClass }: RequestedBroker): AppError {
  const msg =
    brokerId === null || brokerId === embeddedBook
      ? `No live broker connection trades ${assetClass}`
      : `This connection does not take ${mode} orders`;
  return invalidOrder('mode', 'value_error', msg, {}, mode);
}

function chosen(connection: Connection): ChosenBroker {
  const { id, brokerName, mode, filledBy } = connection;
  return { route: { brokerKey: id, brokerName, orderMode: mode, filledBy }, unready: unreadyOf(connection) };
}

function unreadyOf({ status, halted }: Connection): string | null {
  if (status === 'error') return 'The broker connection is not connected';
  return halted ? 'The broker connection is halted: its figures differ from ours' : null;
}
