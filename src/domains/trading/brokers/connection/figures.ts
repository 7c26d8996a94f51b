/**
 * The figures of an account at a broker at one moment, combined from several answers: each is requested twice, until nothing changed in
 * between.
 */
import type { Answer, BrokerConnection, VenueFill, VenueOrder } from '../port.ts';
import type { Figures } from './messages.ts';

export type FiguresBroker = Pick<BrokerConnection, 'account' | 'positions' | 'currentOrders' | 'fills'>;

/** Clocks differ, and fills are listed late: the ids of fills this recent are stored individually. */
const recentMs = 60_000;
const tries = 3;
const maxRemembered = 1_000;

/** All its open orders, also those placed by this service. */
export async function readFigures(broker: FiguresBroker, nowMs: number, signal?: AbortSignal): Promise<Answer<Figures>> {
  const sinceMs = nowMs - recentMs;
  let before = await activity(broker, sinceMs, signal);
  for (let i = 0; i < tries; i++) {
    if (before.kind !== 'known') return before;
    const positions = await broker.positions(signal);
    if (positions.kind !== 'known') return positions;
    const account = await broker.account(signal);
    if (account.kind !== 'known') return account;
    const after = await activity(broker, sinceMs, signal);
    if (after.kind !== 'known') return after;
    if (JSON.stringify(after.value.marks) === JSON.stringify(before.value.marks)) {
      const { orders, fills, cursor } = after.value;
      const ended = orders.filter(({ state, createdAtMs }) => state !== 'working' && createdAtMs >= sinceMs);
      const earlier = [...fills.map(({ venueTradeId }) => venueTradeId), ...ended.map(({ brokerOrderId }) => brokerOrderId)].slice(
        -maxRemembered,
      );
      const open = orders.filter(({ state }) => state === 'working');
      const held = positions.value.filter(({ quantity }) => quantity !== '0');
      return { kind: 'known', value: { cash: account.value.cash, positions: held, orders: open, cursor, sinceMs, earlier } };
    }
    before = after;
  }
  return { kind: 'unknown', reason: 'the account is traded while its figures are read' };
}

type Activity = { orders: VenueOrder[]; fills: VenueFill[]; cursor: string | null; marks: string[] };

async function activity(broker: FiguresBroker, sinceMs: number, signal?: AbortSignal): Promise<Answer<Activity>> {
  const orders = await broker.currentOrders(signal);
  if (orders.kind !== 'known') return orders;
  const listing = await broker.fills({ cursor: null, sinceMs }, signal);
  if (listing.kind === 'credentials') return listing;
  // If a broker lists no fills now, its orders and positions show whether anything changed.
  const fills = listing.kind === 'known' ? listing.value : { fills: [], cursor: null };
  const marks = [
    ...orders.value.map(({ brokerOrderId, filledQuantity }) => `${brokerOrderId} ${filledQuantity}`),
    ...fills.fills.map(({ venueTradeId }) => venueTradeId),
  ].toSorted();
  return { kind: 'known', value: { orders: orders.value, fills: fills.fills, cursor: fills.cursor, marks } };
}
