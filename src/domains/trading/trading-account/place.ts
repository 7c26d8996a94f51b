/** Places orders: the claim of the client id, the order and the checks are one turn, so a refused order leaves nothing behind. */
import { heldQuantity } from '../book.ts';
import { clientOrder, clientOrderActorId } from '../client-order/messages.ts';
import type { Quote } from '../market/port.ts';
import { isFinal } from '../orders/order-state.ts';
import type { OrderTerms } from '../orders/terms.ts';
import { acceptPaper, expiryOf, type PaperOrder } from '../paper/fill-rules.ts';
import type { TradingOrderRow } from '../trading-order/entity.ts';
import { type NewTradingOrder, tradingOrder } from '../trading-order/messages.ts';
import { type AccountTurn, contentOf } from './account-turn.ts';
import { checkOrder } from './check-order.ts';
import { mustHaveBook } from './connection-books.ts';
import type { LegFacts, OpenEntry, TradingLimits } from './entity.ts';
import type { OpenedPosition, OpenPosition, OrderRoute, PlaceOrder } from './messages.ts';

export function placeOrder(turn: AccountTurn, input: PlaceOrder): TradingOrderRow {
  return placeParent(turn, input).order;
}

export function openPosition(turn: AccountTurn, input: OpenPosition): OpenedPosition {
  const { order, isNew } = placeParent(turn, input);
  // A stop precedes a target: on one content the stop wins.
  const inOrder = [...input.legs].sort((a, b) => (a.role === b.role ? 0 : a.role === 'stop_loss' ? -1 : 1));
  const begun = new Map<string, TradingOrderRow>();
  for (const { orderId, role, terms } of inOrder) {
    const begins = { ...newOrder(turn, input, terms), ...placedBy(input), held: true, parentId: input.orderId, role };
    begun.set(orderId, turn.ctx.callColocated(tradingOrder, orderId, 'begin', begins).order);
    if (!isNew) continue;
    const leg: LegFacts = { role, parentId: input.orderId, parentFilled: '0', parentOpen: true, exited: '0' };
    turn.setEntry(orderId, {
      ...openEntry(turn, input, terms, input.strategyId ?? null),
      held: true,
      leg,
      group: input.orderId,
    });
  }
  return { order, legs: input.legs.map(({ orderId }) => begun.get(orderId)!) };
}

/** The account's current settings. */
export function updateLimits(turn: AccountTurn, limits: TradingLimits): void {
  const { row } = turn;
  const keys = ['maxPositionSize', 'dailyLossLimit', 'priceCollarPct', 'marketCollarPct'] as const;
  if (keys.some((key) => row.limits[key] !== limits[key])) turn.row = { ...row, limits: { ...limits } };
}

export function claimClientId(turn: AccountTurn, clientOrderId: string | null, orderId: string): void {
  if (clientOrderId === null) return;
  const tradingAccountId = turn.row.id;
  const id = clientOrderActorId(tradingAccountId, clientOrderId);
  turn.ctx.callColocated(clientOrder, id, 'claim', { tradingAccountId, clientOrderId, orderId });
}

/** On the current quote, which the checks have used. */
export function openEntry(turn: AccountTurn, route: OrderRoute, terms: OrderTerms, strategyId: string | null): OpenEntry {
  const { brokerKey, brokerName, orderMode, filledBy } = route;
  return {
    ...paperOrder(turn, terms, turn.quoteOf(terms.symbol)!, filledBy),
    brokerKey,
    brokerName,
    orderMode,
    filledBy,
    strategyId,
    held: false,
    leg: null,
    group: null,
    replaces: null,
    cancelRequested: false,
    unknown: false,
  };
}

/** The order as the paper broker accepts it now. A broker itself knows when its orders expire. */
export function paperOrder(turn: AccountTurn, terms: OrderTerms, quote: Quote, filledBy: OrderRoute['filledBy']): PaperOrder {
  const expiresAtMs = filledBy === 'embedded' ? expiryOf(terms.timeInForce, quote.nextCloseMs) : null;
  return acceptPaper(terms, contentOf(quote, turn.marketMs), expiresAtMs);
}

/** Whether it opens or covers a short position. */
export function isOnShort(turn: AccountTurn, brokerKey: string, { symbol, side }: OrderTerms): boolean {
  const held = heldQuantity(turn.bookOf(brokerKey).book, symbol);
  return side === 'sell' ? held <= 0n : held < 0n;
}

export function newOrder(
  turn: AccountTurn,
  { brokerKey, brokerName, orderMode, filledBy }: OrderRoute,
  terms: OrderTerms,
): NewTradingOrder {
  return {
    brokerKey,
    brokerName,
    orderMode,
    filledBy,
    tradingAccountId: turn.row.id,
    clientOrderId: null,
    terms,
    held: false,
    parentId: null,
    role: null,
    replaces: null,
    strategyId: null,
    taskId: null,
    onShort: isOnShort(turn, brokerKey, terms),
  };
}

/** An order that exists already is returned as it is now. */
function placeParent(turn: AccountTurn, input: PlaceOrder): { order: TradingOrderRow; isNew: boolean } {
  const { orderId, clientOrderId, terms } = input;
  updateLimits(turn, input.limits);
  mustHaveBook(turn, input.brokerKey);
  claimClientId(turn, clientOrderId, orderId);
  const begins = { ...newOrder(turn, input, terms), ...placedBy(input), clientOrderId };
  const { order, isNew } = turn.ctx.callColocated(tradingOrder, orderId, 'begin', begins);
  if (!isNew) return { order, isNew };
  checkOrder(turn, terms, input.brokerKey);
  if (!isFinal(order)) turn.setEntry(orderId, openEntry(turn, input, terms, input.strategyId ?? null));
  return { order, isNew };
}

function placedBy({ strategyId, taskId }: PlaceOrder): Pick<NewTradingOrder, 'strategyId' | 'taskId'> {
  return { strategyId: strategyId ?? null, taskId: taskId ?? null };
}
