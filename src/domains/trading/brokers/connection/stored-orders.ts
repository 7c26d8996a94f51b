/** Stored orders at brokers, for the comparison with the broker's answers. */
import type { Database } from '../../../../storage/database.ts';
import type { AssetClass } from '../../market/symbol.ts';
import type { OrderState } from '../../orders/order-state.ts';
import type { OutboundState } from '../../orders/outbound.ts';
import type { HeldOrder } from '../reconciliation.ts';
import type { HeldOrders } from './round.ts';

export type StoredOrder = HeldOrder & {
  brokerKey: string;
  symbol: string;
  assetClass: AssetClass;
  /** null: an external order. */
  sentAtMs: number | null;
  /**
   * A cancel is requested, no order waits to replace it, and the lookups after a post with an unknown outcome have not found it in time.
   */
  isGivenUp: boolean;
};

const open = `('submitted', 'accepted', 'partially_filled')`;
const isReplaced = `exists (select from trading_order r where r.id = o.state ->> 'replacedBy' and r.status in ${open}) as is_replaced`;
const columns = `id, broker_key, symbol, asset_class, external, status, state, outbound, sent_at, ${isReplaced}`;
/** Orders that a broker may have: not those held by this service. */
const openAtBroker = `filled_by = 'broker' and status in ${open} and (body is not null or external)`;

/** The orders of these connections, grouped by connection. */
export async function openOrdersOf(database: Pick<Database, 'read'>, brokerIds: readonly string[]): Promise<Map<string, StoredOrder[]>> {
  const { rows } = await database.read({
    name: 'orders_open_at_brokers',
    text: `select ${columns} from trading_order o where broker_key = any($1) and ${openAtBroker} order by id`,
    values: [brokerIds],
  });
  const found = new Map<string, StoredOrder[]>();
  for (const order of rows.map(storedOf)) found.set(order.brokerKey, [...(found.get(order.brokerKey) ?? []), order]);
  return found;
}

export function storedOrders(database: Pick<Database, 'read'>, brokerId: string): HeldOrders<StoredOrder> {
  return {
    open: async () => (await openOrdersOf(database, [brokerId])).get(brokerId) ?? [],
    async named(brokerOrderIds, ourIds) {
      const { rows } = await database.read({
        name: 'orders_named_by_broker',
        text: `select ${columns} from trading_order o where broker_key = $1 and filled_by = 'broker' and (id = any($3) or state ->> 'brokerOrderId' = any($2))`,
        values: [brokerId, brokerOrderIds, ourIds],
      });
      return rows.map(storedOf);
    },
  };
}

function storedOf(row: Record<string, unknown>): StoredOrder {
  const { status, brokerOrderId, unknownOutcome, fills } = row.state as OrderState;
  const outbound = row.outbound as OutboundState | null;
  return {
    id: row.id as string,
    brokerKey: row.broker_key as string,
    symbol: row.symbol as string,
    assetClass: row.asset_class as AssetClass,
    external: row.external as boolean,
    sentAtMs: row.sent_at === null ? null : new Date(row.sent_at as string).getTime(),
    status,
    brokerOrderId,
    unknownOutcome,
    isGivenUp: outbound?.cancelled === true && outbound.attention && row.is_replaced !== true,
    filledQuantity: fills.quantity,
  };
}
