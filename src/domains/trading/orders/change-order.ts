/** Cancels and replaces orders; REST, agents and strategies all use it. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError } from '../../../errors.ts';
import type { AccountMode } from '../../../mode.ts';
import { accountSettings, tradingLimitsOf } from '../../accounts/contract.ts';
import { mustBeReady } from '../brokers/choose-broker.ts';
import { tradingIds } from '../ids.ts';
import { tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';
import type { TradingOrderRow } from '../trading-order/entity.ts';
import { tradingOrder } from '../trading-order/messages.ts';
import { checked, mayTradeLive, type OrderEntryParts, type OrderIds, orderIdBeside } from './order-entry.ts';
import { type ReplaceForm, replaceRequestOf } from './order-form.ts';
import { remainingQuantity } from './order-state.ts';
import { replacementTerms } from './replace.ts';
import type { OrderTerms } from './terms.ts';

/** Throws `not_found`, also for an order of another account or of the other mode. */
export async function ownOrder(actors: ActorSystem, owner: AccountMode, orderId: string): Promise<TradingOrderRow> {
  const order = orderId.startsWith(tradingIds.order) ? await actors.query(tradingOrder, orderId, 'get', null) : null;
  if (order === null || order.accountId !== owner.accountId || order.mode !== owner.mode)
    throw new AppError('not_found', 'Order not found');
  return order;
}

/** Only a request if a broker has the order. Throws `not_found`, and `conflict` for an order that has ended. */
export async function cancelOrder(
  { actors }: Pick<OrderEntryParts, 'actors'>,
  owner: AccountMode,
  orderId: string,
  commandId?: string,
): Promise<TradingOrderRow> {
  await ownOrder(actors, owner, orderId);
  return actors.ask(tradingAccount, tradingAccountIdOf(owner), 'cancel', { orderId }, { commandId });
}

/**
 * Replaces an open order by a new one, which is returned. Throws as `placeOrder` does, and `conflict` for an order that has ended, is being
 * cancelled, or is already replaced.
 *
 * @param ids.orderId of the new order
 */
export function replaceOrder(
  orderEntry: OrderEntryParts,
  owner: AccountMode,
  oldId: string,
  form: ReplaceForm,
  ids: OrderIds,
): Promise<TradingOrderRow> {
  return orderEntry.stats.countRefusal(() => replace(orderEntry, owner, oldId, form, ids));
}

export function termsOfRow(row: TradingOrderRow): OrderTerms {
  const { symbol, assetClass, side, quantity, orderType, limitPrice, stopPrice, timeInForce } = row;
  return { symbol, assetClass, side, quantity, orderType, limitPrice, stopPrice, timeInForce };
}

async function replace(
  orderEntry: OrderEntryParts,
  owner: AccountMode,
  oldId: string,
  form: ReplaceForm,
  { orderId, commandId }: OrderIds,
): Promise<TradingOrderRow> {
  const { actors } = orderEntry;
  const old = await ownOrder(actors, owner, oldId);
  const change = replaceRequestOf(form, old);
  const terms = replacementTerms(termsOfRow(old), remainingQuantity(old.state), change) as OrderTerms;
  const [known, settings] = await Promise.all([
    orderEntry.connections.of(owner),
    actors.query(accountSettings, owner.accountId, 'get', null),
  ]);
  // After a downgrade the old order may stay open or end; the new one counts as a new order.
  if (old.orderMode === 'live') await mayTradeLive(actors, owner.accountId, settings.liveTradingEnabled);
  const quote = await checked(orderEntry, owner, old, [terms]);
  mustBeReady(known, old.brokerKey);
  const changes = {
    orderId: oldId,
    newOrderId: orderIdBeside(owner, orderId),
    clientOrderId: form.client_order_id ?? null,
    change,
    quote,
    limits: tradingLimitsOf(settings),
  };
  return actors.ask(tradingAccount, tradingAccountIdOf(owner), 'replace', changes, { commandId });
}
