/** Places orders; REST, agents and strategies all use it. */

import { loadAhead } from '../trading-account/load-ahead.ts';
import { tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';
import type { TradingOrderRow } from '../trading-order/entity.ts';
import { mustBePaperInTest, type OrderEntryParts, type OrderIds, type OrderOrigin, orderIdBeside, prepare } from './order-entry.ts';
import { type OrderForm, termsOf } from './order-form.ts';

/**
 * Answers with the stored order; a broker may not have it yet. Asked again with the same ids, it answers with the order that was placed.
 *
 * Throws: `invalid` (shape, live trading that is off, capabilities, unknown symbols, risk), `not_found` (broker), `plan_required`,
 * `conflict` (a used client id, a halt, a block, an unknown outcome, a stale quote, a broker that is not connected), `forbidden` (test mode).
 *
 * @param ids.orderId from `newId`; the stored order's own lies beside its trading account
 */
export function placeOrder(orderEntry: OrderEntryParts, by: OrderOrigin, form: OrderForm, ids: OrderIds): Promise<TradingOrderRow> {
  return orderEntry.stats.countRefusal(async () => (await prepareOrder(orderEntry, by, form, ids))());
}

/** As `placeOrder`, in two steps: nothing is sent before the returned function is called. */
export async function prepareOrder(
  orderEntry: OrderEntryParts,
  by: OrderOrigin,
  form: OrderForm,
  { orderId, commandId }: OrderIds,
): Promise<() => Promise<TradingOrderRow>> {
  const { strategyId, taskId } = by;
  const mode = form.mode ?? 'paper';
  const terms = termsOf(form);
  mustBePaperInTest(by, mode);
  const tradingAccountId = tradingAccountIdOf(by);
  const id = orderIdBeside(by, orderId);
  const clientOrderId = form.client_order_id ?? null;
  const [{ route, ...prices }] = await Promise.all([
    prepare(orderEntry, by, { brokerId: form.broker_id ?? null, mode }, [terms]),
    loadAhead(orderEntry.actors, { tradingAccountId, orderIds: [id], clientOrderId }),
  ]);
  const request = { ...route, ...prices, orderId: id, clientOrderId, terms, strategyId, taskId };
  return () => orderEntry.actors.ask(tradingAccount, tradingAccountId, 'place', request, { commandId });
}
