/** Connections to brokers: created, listed, removed; and the capabilities of each broker. */
import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AnyName } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { accountSettings } from '../../accounts/contract.ts';
import { brokerNames, shownCapabilities } from '../brokers/capabilities.ts';
import { connect, readCredentials } from '../brokers/connection/connect.ts';
import type { CredentialBox } from '../brokers/connection/credentials.ts';
import { ConnectedBroker, type ConnectedBrokerRow } from '../brokers/connection/entity.ts';
import { brokerConnection, connectionIdOf } from '../brokers/connection/messages.ts';
import type { KnownConnection, OpenConnections } from '../brokers/connection/open-connections.ts';
import { removeConnection } from '../brokers/connection/remove.ts';
import { brokerModes, venueNames } from '../brokers/port.ts';
import { tradingIds } from '../ids.ts';
import { shownMode, TradingMode } from '../orders/order-view.ts';
import { embeddedBook } from '../trading-account/entity.ts';
import { tradingAccountIdOf } from '../trading-account/messages.ts';

export type BrokerRouteParts = {
  actors: ActorSystem;
  database: Database;
  clock: Clock;
  connections: OpenConnections;
  credentials: CredentialBox;
};

const base = '/trading/brokers';
const maxConnections = 20;
const orNull = <S extends ReturnType<typeof Type.String>>(schema: S) => Type.Union([schema, Type.Null()]);
const Steps = Type.Record(Type.String(), Type.Array(Type.String()));

const BrokerView = Type.Object(
  {
    id: Type.String(),
    broker_name: Type.Enum([...venueNames]),
    mode: TradingMode,
    status: Type.Enum(['connected', 'error']),
    error: orNull(Type.String({ description: 'Why it is not connected; it is tried again' })),
    paper_source: Type.Enum(['broker', 'embedded'], {
      description: 'What fills paper orders: the broker, or this service if the broker has no paper accounts',
    }),
    halted: Type.Boolean({
      description: "The broker's positions differ from ours: the connection accepts no orders until `POST /trading/resume`",
    }),
    halt_reason: orNull(Type.String()),
    connected_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Broker' },
);

const Class = Type.Object({
  order_types: Steps,
  fractional: Type.Array(Type.String(), { description: 'Order types that allow fractions' }),
  tick: Type.Number(),
  lot: Type.Number(),
  min_quantity: Type.Number(),
  sessions: Type.Enum(['regular', 'always']),
  brackets: Type.Enum(['native', 'held', 'none']),
  shorts: Type.Boolean(),
  flips: Type.Boolean({ description: 'One order may close a position and open the other side' }),
});
const CapabilitiesView = Type.Object(
  {
    broker_name: Type.Enum([...brokerNames]),
    mode: TradingMode,
    asset_classes: Type.Object({ equity: Type.Optional(Class), crypto: Type.Optional(Class) }),
  },
  { title: 'BrokerCapabilities' },
);

const Credentials = Type.Record(AnyName, Type.String({ minLength: 1, maxLength: 8_192 }), {
  description:
    'alpaca: {api_key, api_secret}. tradier: {access_token, account_id}. coinbase: {api_key, api_secret}, an ECDSA key. They are stored encrypted and never shown',
});

export function brokerRoutes({ actors, database, clock, connections, credentials: box }: BrokerRouteParts): AnyRoute[] {
  const list = route({
    method: 'GET',
    path: base,
    summary: 'List broker connections, newest first',
    description: modeNote,
    scope: 'trading.read',
    query: PageQuery,
    responses: { 200: PageOf(BrokerView) },
    async handler({ principal: { accountId, mode }, query: { limit, offset } }) {
      const where = { accountId, mode, removedAt: null };
      const [rows, total] = await database.listPage(accountId, ConnectedBroker, where, { limit, offset });
      const data = rows.map((row) => brokerView(row as ConnectedBrokerRow));
      return answer(200, page(data, offset, total));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Connect a broker',
    description:
      'The credentials are checked: 422 if the broker refuses them. If the broker does not answer, the connection is created with status `error` and retried. ' +
      'Its cash, positions and open orders are taken over. `live` is real money and needs `live_trading_enabled`. Not with a test key (403). ' +
      'If the broker account is connected already, that connection gets the new credentials and keeps its id, orders and positions (200): ' +
      'so changed credentials are replaced.',
    scope: 'trading.write',
    errors: [403, 409],
    body: Type.Object(
      {
        broker_name: Type.Enum([...venueNames]),
        credentials: Credentials,
        mode: Type.Optional(Type.Union([Type.Enum([...brokerModes]), Type.Null()], { description: 'Default `paper`' })),
      },
      { examples: [{ broker_name: 'alpaca', credentials: { api_key: 'PKEXAMPLE', api_secret: 'example' } }] },
    ),
    responses: { 200: BrokerView, 201: BrokerView },
    async handler(context) {
      const { principal, body } = context;
      const { accountId, mode } = principal;
      if (mode === 'test') throw new AppError('forbidden', 'A test key trades at the embedded paper broker alone');
      const orderMode = body.mode ?? 'paper';
      const given = readCredentials(body.broker_name, body.credentials);
      const mayCreate = async () => {
        if (orderMode === 'live') await mayTradeLive(accountId);
        const before = await database.list(accountId, (em) => em.count(ConnectedBroker, { accountId, mode, removedAt: null }));
        if (before >= maxConnections)
          throw new AppError('conflict', `An account has ${maxConnections} broker connections at most: delete one`);
      };
      const isLike = ({ brokerName, mode: of }: KnownConnection) => brokerName === body.broker_name && of === orderMode;
      // New credentials for a connection are accepted always: its orders are open already.
      if (!(await connections.of(principal)).some(isLike)) await mayCreate();
      const { id, commandId } = commandIds(context, tradingIds.broker, clock.nowMs());
      const connectionId = connectionIdOf(tradingAccountIdOf(principal), id);
      const request = { accountId, mode, orderMode, credentials: given, id: connectionId, commandId, mayCreate };
      const { row, isNew } = await connect({ actors, connections, clock, credentials: box }, request);
      return isNew ? answer(201, brokerView(row)) : answer(200, brokerView(row));
    },
  });

  const remove = route({
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Remove a broker connection',
    description:
      'Refused while orders of the connection are open or their state is unknown, unless its status is `error`: then these orders end as `cancelled`, ' +
      'with `unknown_outcome` if the broker may have them, and with `trading.attention` (`lost_order`). Orders and positions at the broker stay there.',
    extension: true,
    scope: 'trading.write',
    errors: [409],
    responses: { 204: null },
    async handler({ principal, params }) {
      await removeConnection(actors, await own(principal, params.id));
      return { status: 204 };
    },
  });

  const capabilities = route({
    method: 'GET',
    path: `${base}/{id}/capabilities`,
    summary: 'Get the capabilities of a broker',
    description: 'Order types with their times in force, by asset class. `embedded` is the paper broker of this service.',
    extension: true,
    scope: 'trading.read',
    responses: { 200: CapabilitiesView },
    async handler({ principal, params }) {
      if (params.id === embeddedBook) return answer(200, capabilitiesView(embeddedBook, shownMode({ ...principal, orderMode: 'paper' })));
      const row = await own(principal, params.id);
      return answer(200, capabilitiesView(row.brokerName, shownMode(row)));
    },
  });

  return [list, create, remove, capabilities];

  async function own(principal: Principal, id: string): Promise<ConnectedBrokerRow> {
    const row = id.startsWith(tradingIds.broker) ? await actors.query(brokerConnection, id, 'get', null) : null;
    return ownedInMode(principal, row, 'Broker');
  }

  async function mayTradeLive(accountId: string): Promise<void> {
    const { liveTradingEnabled } = await actors.query(accountSettings, accountId, 'get', null);
    if (!liveTradingEnabled)
      throw invalidField(['body', 'mode'], 'Trading with real money is not enabled in the settings', 'value_error', 'live');
  }
}

function brokerView(row: ConnectedBrokerRow): Static<typeof BrokerView> {
  return {
    id: row.id,
    broker_name: row.brokerName,
    mode: shownMode(row),
    status: row.status,
    error: row.error,
    paper_source: row.brokerName === 'coinbase' ? 'embedded' : 'broker',
    halted: row.halt !== null,
    halt_reason: row.halt?.reason ?? null,
    connected_at: isoTimestamp(row.createdAt),
  };
}

function capabilitiesView(brokerName: (typeof brokerNames)[number], mode: string) {
  return shownCapabilities(brokerName, mode) as unknown as Static<typeof CapabilitiesView>;
}
