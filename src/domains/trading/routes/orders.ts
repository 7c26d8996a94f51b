/** Orders: placed, read, cancelled, replaced. */
import Type from 'typebox';
import type { Clock } from '../../../clock.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { newId } from '../../../ids.ts';
import type { Database } from '../../../storage/database.ts';
import { tradingIds } from '../ids.ts';
import { parseSymbol, symbolPattern } from '../market/symbol.ts';
import { cancelOrder, ownOrder, replaceOrder } from '../orders/change-order.ts';
import type { OrderEntryParts } from '../orders/order-entry.ts';
import { OrderForm, ReplaceForm } from '../orders/order-form.ts';
import { orderStatuses } from '../orders/order-state.ts';
import { FillView, fillView, justPlaced, OrderView, orderView } from '../orders/order-view.ts';
import { placeOrder } from '../orders/place-order.ts';
import { TradingFill, type TradingFillRow, TradingOrder, type TradingOrderRow } from '../trading-order/entity.ts';

export type OrderRouteParts = { orderEntry: OrderEntryParts; database: Database; clock: Clock };

/** For a filter: a text that is no connection's id matches nothing. */
export const BrokerFilter = Type.String({ pattern: '^(embedded|brk_.{1,60})$', description: 'A connection, or `embedded`' });

const Filters = Type.Object({
  ...PageQuery.properties,
  client_order_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_.:-]{1,128}$' })),
  status: Type.Optional(Type.Enum([...orderStatuses])),
  symbol: Type.Optional(Type.String({ pattern: symbolPattern })),
  broker_id: Type.Optional(BrokerFilter),
});

const refusals =
  '422: the `type` of the one issue says why, e.g. `price_increment`, `decimal_max_places`, `unknown_symbol`, `order_not_supported_by_broker` (with what the broker takes in `ctx.allowed`), ' +
  '`session_closed`, `max_position_size`, `insufficient_cash`, `short_margin`, `no_shorts_in_crypto`, `price_collar`, `wash_trade`. ' +
  '409: a used `client_order_id`, a halt, a block after a loss, an outcome at this broker that is not known yet, or a price that is too old (`stale_quote`).';

export function orderRoutes({ orderEntry, database, clock }: OrderRouteParts): AnyRoute[] {
  const { actors } = orderEntry;

  const list = route({
    method: 'GET',
    path: '/trading/orders',
    summary: 'List orders, newest first',
    description: modeNote,
    extension: true,
    scope: 'trading.read',
    query: Filters,
    responses: { 200: PageOf(OrderView) },
    async handler({ principal: { accountId, mode }, query }) {
      const { limit, offset, client_order_id: clientOrderId, status, symbol, broker_id: brokerKey } = query;
      const filter = { clientOrderId, status, brokerKey, symbol: symbol === undefined ? undefined : parseSymbol(symbol)?.symbol };
      const filters = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
      const [rows, total] = await database.listPage(
        accountId,
        TradingOrder,
        { accountId, mode, ...filters },
        { limit, offset },
        { id: 'desc' },
      );
      const data = rows.map((row) => orderView(row as TradingOrderRow));
      return answer(200, page(data, offset, total));
    },
  });

  const place = route({
    method: 'POST',
    path: '/trading/orders',
    summary: 'Place an order',
    description: `It is stored and \`submitted\`; what becomes of it is told by events and by \`GET /trading/orders/{id}\`. Orders on paper are simulated: they fill at the next quotes. ${refusals}`,
    scope: 'trading.write',
    errors: [402, 404, 409],
    body: OrderForm,
    responses: { 201: OrderView },
    async handler(context) {
      const { id, commandId } = commandIds(context, tradingIds.order, clock.nowMs());
      return answer(201, justPlaced(await placeOrder(orderEntry, context.principal, context.body, { orderId: id, commandId })));
    },
  });

  const get = route({
    method: 'GET',
    path: '/trading/orders/{id}',
    summary: 'Get an order',
    extension: true,
    scope: 'trading.read',
    responses: { 200: OrderView },
    async handler({ principal, params }) {
      return answer(200, orderView(await ownOrder(actors, principal, params.id)));
    },
  });

  const cancel = route({
    method: 'DELETE',
    path: '/trading/orders/{id}',
    summary: 'Cancel an order',
    description:
      'If the order is at a broker, this is a request: `cancel_requested_at` is set, and the status changes when the broker has ended the order. A repeated request changes nothing; 409 if the order has ended.',
    extension: true,
    scope: 'trading.write',
    errors: [409],
    responses: { 200: OrderView },
    async handler({ principal, params }) {
      return answer(200, orderView(await cancelOrder(orderEntry, principal, params.id)));
    },
  });

  const replace = route({
    method: 'PATCH',
    path: '/trading/orders/{id}',
    summary: 'Replace the rest of an order',
    description:
      'Returns a new order (`replaces`). The old order is cancelled (`replaced_by`), and the new one is sent after the confirmation, less what the old order filled meanwhile; if nothing is left, the new order is rejected. ' +
      `Checked like a new order in the place of the old one. 409: it has ended, is being cancelled, or is replaced already. ${refusals}`,
    extension: true,
    scope: 'trading.write',
    errors: [402, 409],
    body: ReplaceForm,
    responses: { 200: OrderView },
    async handler({ principal, params, body }) {
      const orderId = newId(tradingIds.order, principal.accountId, clock.nowMs());
      return answer(200, orderView(await replaceOrder(orderEntry, principal, params.id, body, { orderId })));
    },
  });

  const fills = route({
    method: 'GET',
    path: '/trading/orders/{id}/fills',
    summary: 'List the fills of an order, newest first',
    extension: true,
    scope: 'trading.read',
    query: PageQuery,
    responses: { 200: PageOf(FillView) },
    async handler({ principal, params, query: { limit, offset } }) {
      const { id: orderId } = await ownOrder(actors, principal, params.id);
      const [rows, total] = await database.listPage(principal.accountId, TradingFill, { orderId }, { limit, offset }, { seq: 'desc' });
      const data = rows.map((row) => fillView(row as TradingFillRow));
      return answer(200, page(data, offset, total));
    },
  });

  return [list, place, get, cancel, replace, fills];
}
