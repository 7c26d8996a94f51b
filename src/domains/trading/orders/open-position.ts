/** Opens a position: a market order, with orders that close it at a loss or with a profit. */
import { loadAhead } from '../trading-account/load-ahead.ts';
import { type Leg, type OpenedPosition, tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';
import {
  legIdOf,
  mustBePaperInTest,
  type OrderEntryParts,
  type OrderIds,
  type OrderOrigin,
  orderIdBeside,
  prepare,
} from './order-entry.ts';
import { bracketOf, type OpenPositionForm, termsOf } from './order-form.ts';
import { type OrderTerms, opposite } from './terms.ts';

/**
 * Throws as `placeOrder` does. The legs are valid until cancelled, even if the parent is not.
 *
 * @param ids.orderId of the order that opens it
 */
export function openPosition(orderEntry: OrderEntryParts, by: OrderOrigin, form: OpenPositionForm, ids: OrderIds): Promise<OpenedPosition> {
  return orderEntry.stats.countRefusal(() => open(orderEntry, by, form, ids));
}

async function open(
  orderEntry: OrderEntryParts,
  by: OrderOrigin,
  form: OpenPositionForm,
  { orderId, commandId }: OrderIds,
): Promise<OpenedPosition> {
  const { strategyId, taskId } = by;
  const mode = form.mode ?? 'paper';
  const terms = termsOf({ ...form, side: form.side === 'long' ? 'buy' : 'sell', order_type: 'market' });
  const { stopLoss, takeProfit } = bracketOf(form);
  mustBePaperInTest(by, mode);
  const closing: OrderTerms = { ...terms, side: opposite(terms.side), timeInForce: 'gtc' };
  const id = orderIdBeside(by, orderId);
  const legs: Leg[] = [];
  if (stopLoss !== null)
    legs.push({ role: 'stop_loss', orderId: legIdOf(by, id, 'stop_loss'), terms: { ...closing, orderType: 'stop', stopPrice: stopLoss } });
  if (takeProfit !== null)
    legs.push({
      role: 'take_profit',
      orderId: legIdOf(by, id, 'take_profit'),
      terms: { ...closing, orderType: 'limit', limitPrice: takeProfit },
    });
  const tradingAccountId = tradingAccountIdOf(by);
  const clientOrderId = form.client_order_id ?? null;
  const [{ route, ...prices }] = await Promise.all([
    prepare(orderEntry, by, { brokerId: form.broker_id ?? null, mode }, [terms]),
    loadAhead(orderEntry.actors, { tradingAccountId, orderIds: [id, ...legs.map((leg) => leg.orderId)], clientOrderId }),
  ]);
  const request = { ...route, ...prices, orderId: id, clientOrderId, terms, legs, strategyId, taskId };
  return orderEntry.actors.ask(tradingAccount, tradingAccountId, 'openPosition', request, { commandId });
}
