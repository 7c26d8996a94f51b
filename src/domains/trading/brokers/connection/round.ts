/**
 * One round of queries to a venue, and the updates that follow from the answers. It changes nothing: the caller updates the orders and then
 * stores the cursor, so that an interrupted round is repeated from the same place.
 */

import { nanoIn } from '../../orders/amounts.ts';
import type { Answer, BrokerConnection, VenueFills, VenueOrder, VenuePosition } from '../port.ts';
import { type HeldOrder, missingFrom, type OrderUpdateOptions, type OrderUpdates, orderUpdates } from '../reconciliation.ts';

export type RoundBroker = Pick<BrokerConnection, 'fillSource' | 'currentOrders' | 'order' | 'fills' | 'positions'>;

/** The stored state of the connection's orders. */
export type HeldOrders<H extends HeldOrder = HeldOrder> = {
  open(): Promise<H[]>;
  /** Orders with any status, by either id. */
  named(brokerOrderIds: readonly string[], ourIds: readonly string[]): Promise<H[]>;
};

export type RoundInput = OrderUpdateOptions & {
  cursor: string | null;
  /** `orders`: possible changes of open orders. `all`: also fills, whatever the orders report, and positions. */
  extent: 'orders' | 'all';
  /** Orders that need not be queried individually in this round. By the broker's id. */
  isResting?(brokerOrderId: string): boolean;
};

export type RoundResult = OrderUpdates & {
  kind: 'answered';
  cursor: string | null;
  /** There are more fills than one round reads. */
  more: boolean;
  /** Open orders that the broker's list lacks: all, those queried by their id, and those of them that do not exist there. By the broker's id. */
  missing: { all: ReadonlySet<string>; queried: string[]; absent: string[] };
  /**
   * null: not queried, or not comparable because fills could not be read. Queried before orders and fills, so that later fills are among
   * these.
   */
  positions: VenuePosition[] | null;
  /** The broker lists no fills for this time; null: it has not said so. */
  retryAfterMs: number | null;
};
export type RoundFailure = Exclude<Answer<never>, { kind: 'known' }>;

const maxConcurrentQueries = 4;
/** Orders queried individually in a round; the others are left to the next round. */
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
  const due = missing.filter((id) => input.isResting?.(id) !== true).slice(0, maxQueries);
  const queried = await queryEach(broker, due, signal);
  if (queried.kind !== 'known') return queried;
  const { found, absent } = queried.value;
  const orders = [...listed.value, ...found];
  const wantsFills = extent === 'all' || found.length > 0 || orders.some((order) => hasNewFills(own, order));
  const listing = wantsFills ? await broker.fills({ cursor, sinceMs }, signal) : null;
  if (listing?.kind === 'credentials') return listing;
  // Without a list of fills the orders still report their filled quantity.
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
    const others = await queryEach(broker, ids.slice(0, maxQueries), signal);
    if (others.kind !== 'known') return others;
    orders.push(...others.value.found);
    updates = await compare();
  }
  const isRead = listing?.kind === 'known' && updates.unplaced.length === 0;
  return {
    kind: 'answered',
    ...updates,
    cursor: isRead ? fills.cursor : cursor,
    more: fills.more,
    missing: { all: new Set(missing), queried: due, absent },
    positions: listing?.kind === 'known' ? (positions?.value ?? null) : null,
    retryAfterMs: listing?.kind === 'retry_after' ? listing.waitMs : null,
  };
}

function hasNewFills(own: readonly HeldOrder[], order: VenueOrder): boolean {
  const held = own.find(({ id, brokerOrderId }) => id === order.ourId || brokerOrderId === order.brokerOrderId);
  return nanoIn(order.filledQuantity) > (held === undefined ? 0n : nanoIn(held.filledQuantity));
}

/** Queries these orders. `absent`: the ids that the venue does not know. */
async function queryEach(
  broker: RoundBroker,
  brokerOrderIds: readonly string[],
  signal?: AbortSignal,
): Promise<Answer<{ found: VenueOrder[]; absent: string[] }>> {
  const found: VenueOrder[] = [];
  const absent: string[] = [];
  for (let i = 0; i < brokerOrderIds.length; i += maxConcurrentQueries) {
    const ids = brokerOrderIds.slice(i, i + maxConcurrentQueries);
    const answers = await Promise.all(ids.map((id) => broker.order(id, signal)));
    for (const [at, answer] of answers.entries()) {
      if (answer.kind !== 'known') return answer;
      if (answer.value.kind === 'found') found.push(answer.value.order);
      else absent.push(ids[at]!);
    }
  }
  return { kind: 'known', value: { found, absent } };
}
