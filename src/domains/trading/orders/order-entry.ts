/**
 * The checks that every order passes before the account's turn: shape, broker, plan, capabilities, price. The checks are made in this order,
 * and what needs the account's state (used ids, halts, blocks, risk) is left to the turn.
 */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, type Issue } from '../../../errors.ts';
import { derivedId } from '../../../ids.ts';
import type { AccountMode } from '../../../mode.ts';
import { liveTradingIn } from '../../../plans.ts';
import { account, accountSettings, planOf, tradingLimitsOf } from '../../accounts/contract.ts';
import type { BrokerName } from '../brokers/capabilities.ts';
import { checkOrder } from '../brokers/check-order.ts';
import { type Connections, mustChoose } from '../brokers/choose-broker.ts';
import type { BrokerMode } from '../brokers/port.ts';
import { tradingIds } from '../ids.ts';
import type { Quote } from '../market/port.ts';
import type { Prices } from '../market/prices.ts';
import type { TradingStats } from '../metrics.ts';
import { type OrderRoute, type TradingLimits, tradingAccountIdOf, tradingOrderIdOf } from '../trading-account/messages.ts';
import { invalidOrder } from './order-form.ts';
import type { OrderTerms } from './terms.ts';

export type OrderEntryParts = { actors: ActorSystem; connections: Connections; prices: Prices; stats: Pick<TradingStats, 'countRefusal'> };

/** The placer of an order. An agent's order names its task, a strategy's order the strategy. */
export type OrderOrigin = AccountMode & { strategyId?: string; taskId?: string };

/** The ids of a request; `commandId` as `commandIds` makes it. */
export type OrderIds = { orderId: string; commandId?: string };

export type RequestedRoute = { brokerId: string | null; mode: BrokerMode };
export type Prepared = { route: OrderRoute; quote: Quote; limits: TradingLimits };

/** Throws `forbidden` for real money in test mode. */
export function mustBePaperInTest({ mode }: AccountMode, brokerMode: BrokerMode): void {
  if (mode === 'test' && brokerMode === 'live') throw new AppError('forbidden', 'A test key trades on paper alone');
}

/** @param all terms of what is placed together, the first that of which the others are legs */
export async function prepare(
  orderEntry: OrderEntryParts,
  owner: AccountMode,
  requested: RequestedRoute,
  all: readonly [OrderTerms, ...OrderTerms[]],
): Promise<Prepared> {
  const { actors, connections } = orderEntry;
  const [{ assetClass }] = all;
  const [known, settings] = await Promise.all([connections.of(owner), actors.query(accountSettings, owner.accountId, 'get', null)]);
  if (requested.brokerId !== null) mustExist(known, requested.brokerId);
  if (requested.mode === 'live') await mayTradeLive(actors, owner.accountId, settings.liveTradingEnabled);
  const { route, unready } = mustChoose(known, { ...requested, assetClass });
  const quote = await checked(orderEntry, owner, route, all);
  if (unready !== null) throw new AppError('conflict', unready);
  return { route, quote, limits: tradingLimitsOf(settings) };
}

/** Checks the broker's capabilities, and the symbol at the broker's price. Throws `invalid`. */
export async function checked(
  { prices }: Pick<OrderEntryParts, 'prices'>,
  owner: AccountMode,
  { brokerKey, brokerName }: Pick<OrderRoute, 'brokerKey' | 'brokerName'>,
  all: readonly [OrderTerms, ...OrderTerms[]],
): Promise<Quote> {
  for (const terms of all) mustBeTaken(brokerName, terms);
  const [{ symbol, orderType, timeInForce }] = all;
  const quote = await prices.quoteOf(owner, symbol, brokerKey);
  if (quote === null) throw invalidOrder('symbol', 'unknown_symbol', `${symbol} is not traded here`, {}, symbol);
  if (orderType === 'market' && timeInForce === 'ioc' && quote.session === 'closed')
    throw invalidOrder(
      'time_in_force',
      'session_closed',
      `The market of ${symbol} is closed, so nothing can fill at once`,
      {},
      timeInForce,
    );
  return quote;
}

/** The order's id on the shard of its trading account. */
export function orderIdBeside(owner: AccountMode, id: string): string {
  return tradingOrderIdOf(tradingAccountIdOf(owner), id);
}

/** The id of an order that is placed together with another: deterministic, and with the same time, so that lists show both together. */
export function legIdOf(owner: AccountMode, orderId: string, role: string): string {
  const at = tradingIds.order.length;
  const time = orderId.slice(at, at + 10);
  const derived = derivedId(tradingIds.order, owner.accountId, orderId, role);
  return orderIdBeside(owner, `${tradingIds.order}${time}${derived.slice(at + 10)}`);
}

function mustExist(connections: readonly { id: string }[], brokerId: string): void {
  if (brokerId !== 'embedded' && !connections.some(({ id }) => id === brokerId)) throw new AppError('not_found', 'Broker not found');
}

/** Throws `plan_required`, and `invalid` if live trading is not enabled. */
export async function mayTradeLive(actors: ActorSystem, accountId: string, isEnabled: boolean): Promise<void> {
  const row = await actors.query(account, accountId, 'get', null);
  const plan = row === null ? 'free' : planOf(row);
  if (!liveTradingIn[plan]) throw new AppError('plan_required', `The ${plan} plan has no trading with real money`);
  if (!isEnabled) throw invalidOrder('mode', 'value_error', 'Trading with real money is not enabled in the settings', {}, 'live');
}

function mustBeTaken(brokerName: BrokerName, terms: OrderTerms): void {
  const fault = checkOrder(brokerName, terms);
  if (fault === null) return;
  const fields = { symbol: terms.symbol, order_type: terms.orderType, time_in_force: terms.timeInForce, quantity: Number(terms.quantity) };
  const msg =
    fault.type === 'price_increment'
      ? `Prices of ${terms.symbol} are multiples of ${fault.ctx.tick} here`
      : `${brokerName} does not take this; it takes: ${fault.ctx.allowed.join(', ') || 'nothing of this kind'}`;
  const input =
    fault.type === 'price_increment' ? Number(fault.loc === 'limit_price' ? terms.limitPrice : terms.stopPrice) : fields[fault.loc];
  const issue: Issue = { loc: ['body', fault.loc], msg, type: fault.type, input, ctx: { ...fault.ctx } };
  throw new AppError('invalid', msg, { issues: [issue] });
}
