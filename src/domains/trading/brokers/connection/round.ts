/**
 * One round of questions to a venue, and what follows from its answers. Asks, and changes nothing: the caller tells the orders, then stores the cursor, so
 * that a round that is lost anywhere is asked again from the same place.
 */

import { nanoIn } from '../../orders/amounts.ts';
import type { Answer, BrokerConnection, VenueFills, VenueOrder, VenuePosition } from '../port.ts';
import { type HeldOrder, missingFrom, type TellOptions, type Told, tellOrders } from '../reconciliation.ts';

export type RoundBroker = Pick<BrokerConnection, 'fillSource' | 'currentOrders' | 'order' | 'fills' | 'positions'>;

/** What is stored of the connection's orders. */
export type HeldOrders<H extends HeldOrder = HeldOrder> = {
  open(): Promise<H[]>;
  /** Of any status, by either id. */
  named(brokerOrderIds: readonly string[], ourIds: readonly string[]): Promise<H[]>;
};

export type RoundInput = TellOptions & {
  cursor: string | null;
  /** `orders`: what may have changed of open orders. `all`: fills too, whatever the orders say, and positions. */
  extent: 'orders' | 'all';
};

export type RoundResult = Told & {
  kind: 'answered';
  cursor: string | null;
  /** There are more fills than one round reads. */
  more: boolean;
  /** null: not asked, or not to be compared since fills could not be read. Asked before orders and fills, so that what fills meanwhile is among these. */
  positions: VenuePosition[] | null;
};
export type RoundFailure = Exclude<Answer<never>, { kind: 'known' }>;

const askedAtOnce = 4;
/** Orders asked for one by one in a round; the rest is left to the next one. */
const maxAsked = 100;
const none: VenueFills = { fills: [], cursor: '', more: false };

export async function askRound(
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
  const asked = await askEach(broker, missing.slice(0, maxAsked), signal);
  if (asked.kind !== 'known') return asked;
  const orders = [...listed.value, ...asked.value];
  const wantsFills = extent === 'all' || asked.value.length > 0 || orders.some((order) => hasNewFills(own, order));
  const listing = wantsFills ? await broker.fills({ cursor, sinceMs }, signal) : null;
  if (listing?.kind === 'credentials') return listing;
  // Without a list of fills orders still tell what is filled of them.
  const fills = listing?.kind === 'known' ? listing.value : none;
  const fresh = fills.fills.filter(({ venueTradeId }) => input.isBooked?.(venueTradeId) !== true);

  const tell = async (): Promise<Told> => {
    const known = new Set(own.flatMap(({ id, brokerOrderId }) => [id, brokerOrderId]));
    const brokerIds = [...new Set([...orders, ...fresh].map(({ brokerOrderId }) => brokerOrderId))].filter((id) => !known.has(id));
    const ourIds = orders.flatMap(({ ourId }) => (ourId === null || known.has(ourId) ? [] : [ourId]));
    const others = brokerIds.length + ourIds.length === 0 ? [] : await held.named(brokerIds, ourIds);
    return tellOrders([...own, ...others], { fillSource: broker.fillSource, orders, fills: fresh }, input);
  };
  let told = await tell();
  if (told.unplaced.length > 0) {
    const ids = [...new Set(told.unplaced.map(({ brokerOrderId }) => brokerOrderId))];
    const found = await askEach(broker, ids.slice(0, maxAsked), signal);
    if (found.kind !== 'known') return found;
    orders.push(...found.value);
    told = await tell();
  }
  const isRead = listing?.kind === 'known' && told.unplaced.length === 0;
  return {
    kind: 'answered',
    ...told,
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
async function askEach(broker: RoundBroker, brokerOrderIds: readonly string[], signal?: AbortSignal): Promise<Answer<VenueOrder[]>> {
  const found: VenueOrder[] = [];
  for (let i = 0; i < brokerOrderIds.length; i += askedAtOnce) {
    const answers = await Promise.all(brokerOrderIds.slice(i, i + askedAtOnce).map((id) => broker.order(id, signal)));
    for (const answer of answers) {
      if (answer.kind !== 'known') return answer;
      if (answer.value.kind === 'found') found.push(answer.value.order);
    }
  }
  return { kind: 'known', value: found };
}
