/**
 * One round of queries to a venue, and what follows from the answers. It changes nothing: the caller updates the orders, then stores the cursor, so
 * that a round that is lost anywhere is asked again from the same place.
 */

import { nanoIn } from '../../orders/amounts.ts';
import type { Answer, BrokerConnection, VenueFills, VenueOrder, VenuePosition } from '../port.ts';
import { type HeldOrder, missingFrom, type OrderUpdateOptions, type OrderUpdates, orderUpdates } from '../reconciliation.ts';

export type RoundBroker = Pick<BrokerConnection, 'fillSource' | 'currentOrders' | 'order' | 'fills' | 'positions'>;

/** What is stored of the connection's orders. */
export type HeldOrders<H extends HeldOrder = HeldOrder> = {
  open(): Promise<H[]>;
  /** Of any status, by either id. */
  named(brokerOrderIds: readonly string[], ourIds: readonly string[]): Promise<H[]>;
};

export type RoundInput = OrderUpdateOptions & {
  cursor: string | null;
  /** `orders`: what may have changed of open orders. `all`: fills too, whatever the orders say, and positions. */
  extent: 'orders' | 'all';
};

export type RoundResult = OrderUpdates & {
  kind: 'answered';
  cursor: string | null;
  /** There are more fills than one round reads. */
  more: boolean;
  /** null: not asked, or not to be compared since fills could not be read. Asked before orders and fills, so that what fills meanwhile is among these. */
  positions: VenuePosition[] | null;
};
export type RoundFailure = Exclude<Answer<never>, { kind: 'known' }>;

const maxConcurrentQueries = 4;
/** Orders asked for one by one in a round; the rest is left to the next one. */
const maxQueries = 100;
const none: VenueFills = { fills: [], cursor: '', more: false };

export async function queryBroker(
  broker: RoundBroker,
  held: HeldOrders,
  input: RoundInput,
  signal?: AbortSignal,
): Promise<RoundResult | RoundFailure> {
  const { cursor, sinceMs, extent } = input;
  const positions = extent === 'all' ? await broker.positions(signal) : null;
  if (positions !== null && positions.kind !== 'known') return positions;
  const own = await held.open();
  const listed = await broker.currentOrders(signal);
  if (listed.kind !== 'known') return listed;
  const missing = missingFrom(own, listed.value).flatMap(({ brokerOrderId }) => brokerOrderId ?? []);
  const queried = await queryEach(broker, missing.slice(0, maxQueries), signal);
  if (queried.kind !== 'known') return queried;
  const orders = [...listed.value, ...queried.value];
  const wantsFills = extent === 'all' || queried.value.length > 0 || orders.some((order) => hasNewFills(own, order));
  const listing = wantsFills ? await broker.fills({ cursor, sinceMs }, signal) : null;
  if (listing?.kind === 'credentials') return listing;
  // Without a list of fills orders still tell what is filled of them.
  const fills = listing?.kind === 'known' ? listing.value : none;
  const fresh = fills.fills.filter(({ venueTradeId }) => input.isBooked?.(venueTradeId) !== true);

  const compare = async (): Promise<OrderUpdates> => {
    const known = new Set(own.flatMap(({ id, brokerOrderId }) => [id, brokerOrderId]));
    const brokerIds = [...new Set([...orders, ...fresh].map(({ brokerOrderId }) => brokerOrderId))].filter((id) => !known.has(id));
    const ourIds = orders.flatMap(({ ourId }) => (ourId === null || known.has(ourId) ? [] : [ourId]));
    const others = brokerIds.length + ourIds.length === 0 ? [] : await held.named(brokerIds, ourIds);
    return orderUpdates([...own, ...others], { fillSource: broker.fillSource, orders, fills: fresh }, input);
  };
  let updates = await compare();
  if (updates.unplaced.length > 0) {
    const ids = [...new Set(updates.unplaced.map(({ brokerOrderId }) => brokerOrderId))];
    const found = await queryEach(broker, ids.slice(0, maxQueries), signal);
    if (found.kind !== 'known') return found;
    orders.push(...found.value);
    updates = await compare();
  }
  const isRead = listing?.kind === 'known' && updates.unplaced.length === 0;
  return {
    kind: 'answered',
    ...updates,
    cursor: isRead ? fills.cursor : cursor,
    more: fills.more,
    positions: listing?.kind === 'known' ? (positions?.value ?? null) : null,
  };
}

function hasNewFills(own: readonly HeldOrder[], order: VenueOrder): boolean {
  const held = own.find(({ id, brokerOrderId }) => id === order.ourId || brokerOrderId === order.brokerOrderId);
  return nanoIn(order.filledQuantity) > (held === undefined ? 0n : nanoIn(held.filledQuantity));
}

/** Those that the venue has; the others are absent from the answer. */
async function queryEach(broker: RoundBroker, brokerOrderIds: readonly string[], signal?: AbortSignal): Promise<Answer<VenueOrder[]>> {
  const found: VenueOrder[] = [];
  for (let i = 0; i < brokerOrderIds.length; i += maxConcurrentQueries) {
    const answers = await Promise.all(brokerOrderIds.slice(i, i + maxConcurrentQueries).map((id) => broker.order(id, signal)));
    for (const answer of answers) {
      if (answer.kind !== 'known') return answer;
      if (answer.value.kind === 'found') found.push(answer.value.order);
    }
  }
  return { kind: 'known', value: found };
}
