/**
 * An order at a broker: the broker's answers and reports become moves of the order, and the trading account gets them in the same commit.
 * Sending follows `orders/outbound.ts`; a cancel is repeated until the broker ends the order.
 */
import type { EffectOutcome, TurnContext } from '../../../actors/define-actor.ts';
import { backoffMs } from '../../../backoff.ts';
import { idInMode } from '../../../mode.ts';
import { postAnswerOf } from '../brokers/answers.ts';
import { afterUnknownOf, orderBody } from '../brokers/order-body.ts';
import type { CancelAnswer, LookUpAnswer, PlaceAnswer, VenueFill, VenueName, VenueOrder } from '../brokers/port.ts';
import { nanoIn } from '../orders/amounts.ts';
import { isFinal, type OrderEvent } from '../orders/order-state.ts';
import { beginOutbound, moveOutbound, type OutboundAction, type OutboundEvent, type OutboundTiming } from '../orders/outbound.ts';
import type { OrderTerms } from '../orders/terms.ts';
import type { OpenEntry } from '../trading-account/entity.ts';
import { tradingAccount } from '../trading-account/messages.ts';
import type { TradingOrderRow } from './entity.ts';
import type { TradingOrderContract } from './messages.ts';
import { callAttention, emitSteps, fillsIn, moveRow, type OrderStep } from './order-steps.ts';

type Context = TurnContext<TradingOrderContract>;
type Row = TradingOrderRow;

const timers = ['outbound', 'fills', 'cancel'] as const;
const firstCancelPauseMs = 1_000;
const maxCancelPauseMs = 60_000;

/** How the order's terms are sent. */
export function termsOf(row: Row): OrderTerms {
  const { symbol, assetClass, side, quantity, orderType, limitPrice, stopPrice, timeInForce } = row;
  return { symbol, assetClass, side, quantity, orderType, limitPrice, stopPrice, timeInForce };
}

/** Stores the body and sends it with the commit. */
export function sendOrder(row: Row, onShort: boolean, asMarket: boolean, ctx: Context): Row {
  const own = termsOf(row);
  const market: OrderTerms = { ...own, orderType: 'market', limitPrice: null, stopPrice: null };
  const terms = asMarket ? { ...market, timeInForce: own.assetClass === 'equity' ? ('day' as const) : own.timeInForce } : own;
  const body = orderBody(row.brokerName as VenueName, row.id, terms, onShort);
  const { state, actions } = beginOutbound();
  const sent = { ...row, body, outbound: state, sentAt: ctx.nowMs };
  return act(sent, actions, ctx).row;
}

/** Handles a broker's report of one order, in a turn of the order. */
export class BrokerTurn {
  private row: Row;
  private steps: OrderStep[] = [];
  private readonly before: Row;
  private readonly ctx: Context;
  private readonly timing: OutboundTiming;

  constructor(row: Row, timing: OutboundTiming, ctx: Context) {
    this.row = row;
    this.before = row;
    this.timing = timing;
    this.ctx = ctx;
  }

  posted(post: number, answer: PlaceAnswer): void {
    if (answer.kind === 'accepted') {
      // An order in the broker's answer may already be rejected.
      if (answer.order !== null) this.seen(answer.order, [], false);
      else this.move([{ kind: 'accepted', brokerOrderId: answer.brokerOrderId }]);
    }
    this.outbound({ kind: 'posted', post, answer: postAnswerOf(answer) });
  }

  lookedUp(lookUp: number, answer: LookUpAnswer): void {
    const found = answer.kind === 'known' && answer.value.kind === 'found' ? answer.value.order : null;
    if (found !== null) this.seen(found, [], false);
    const wait = answer.kind === 'retry_after' ? { waitMs: answer.waitMs } : null;
    this.outbound({ kind: 'looked_up', lookUp, answer: answer.kind === 'known' ? answer.value.kind : 'unknown', ...wait });
  }

  seen(order: VenueOrder | null, fills: readonly VenueFill[], filledSoFar: boolean): void {
    const events: OrderEvent[] = [];
    const brokerOrderId = order?.brokerOrderId ?? fills[0]?.brokerOrderId;
    const isRefused = order?.state === 'rejected' && this.row.state.brokerOrderId === null;
    if (brokerOrderId !== undefined && !isRefused) events.push({ kind: 'accepted', brokerOrderId });
    for (const trade of fills) events.push({ kind: 'trade', trade });
    if (order !== null && filledSoFar && order.averagePrice !== null) {
      const cumulative = { quantity: order.filledQuantity, averagePrice: order.averagePrice, atMs: order.updatedAtMs };
      events.push({ kind: 'filled_so_far', cumulative });
    }
    if (order !== null && order.state !== 'working' && order.state !== 'filled') {
      const { state: status, reason, filledQuantity } = order;
      events.push({ kind: 'ended', status, reason, filledQuantity });
    }
    if (events.length > 0) this.outbound({ kind: 'found' });
    this.move(events);
  }

  settledAbsent(reason: string): void {
    this.outbound({ kind: 'settled_absent', reason });
  }

  /** The broker does not have the order any more that it accepted under this id. */
  lost(reason: string, brokerOrderId: string): void {
    if (isFinal(this.row) || this.row.state.brokerOrderId !== brokerOrderId) return;
    this.move([{ kind: 'lost', reason }]);
    if (this.row.state.unknownOutcome) callAttention(this.row, 'lost_order', this.ctx);
  }

  due(): void {
    this.outbound({ kind: 'due' });
  }

  /** The fills for which an end waits did not arrive. */
  endWithoutFills(): void {
    this.move([{ kind: 'end_without_fills' }]);
  }

  cancelAnswered(outcome: EffectOutcome<CancelAnswer>): void {
    const { row, ctx } = this;
    const { tries, attention, isLate } = row.cancelling ?? { tries: 1, attention: false };
    const isAnswered = outcome.kind === 'done' && (outcome.value.kind === 'requested' || outcome.value.kind === 'refused');
    if (isFinal(row) && (!isLate || isAnswered)) return;
    const askedMs = row.state.cancelRequestedAtMs ?? ctx.nowMs;
    const isStuck = ctx.nowMs - askedMs >= this.timing.lookUpMs;
    if (isStuck && !attention) callAttention(row, 'stuck_cancel', ctx);
    this.row = { ...row, cancelling: { ...row.cancelling, tries, attention: attention || isStuck } };
    const answer = outcome.kind === 'done' ? outcome.value : null;
    const pauseMs = answer?.kind === 'retry_after' ? answer.waitMs : backoffMs(tries - 1, firstCancelPauseMs, maxCancelPauseMs);
    ctx.schedule('cancel', ctx.nowMs + Math.min(maxCancelPauseMs, Math.max(firstCancelPauseMs, pauseMs)), 'wake', { of: 'cancel' });
  }

  cancelAgain(): void {
    this.row = askToCancel(this.row, this.ctx);
  }

  /**
   * Notifies the account and the event streams. Returns the row.
   *
   * @param external the order's entry, where the account does not know it yet
   */
  end(external?: OpenEntry): Row {
    const { ctx, before, steps } = this;
    if (isFinal(this.row) && !isFinal(before)) for (const timer of timers) ctx.unschedule(timer);
    if (this.row.state.end !== null && before.state.end === null)
      ctx.schedule('fills', ctx.nowMs + this.timing.lookUpMs, 'wake', { of: 'fills' });
    const wasLost = isFinal(before) && before.state.unknownOutcome && !this.row.state.unknownOutcome;
    const isFound = wasLost || (before.state.brokerOrderId === null && this.row.state.brokerOrderId !== null);
    if (isFound && isFinal(before)) this.row = askToCancel({ ...this.row, cancelling: { tries: 0, attention: false, isLate: true } }, ctx);
    else if (isFound && this.row.state.cancelRequestedAtMs !== null) this.row = askToCancel(this.row, ctx);
    const { row } = this;
    if (isOverfilled(row) && !isOverfilled(before)) callAttention(row, 'overfilled', ctx);
    const isChanged = steps.length > 0 || row.state.unknownOutcome !== before.state.unknownOutcome || external !== undefined;
    const booked = isChanged ? notifyAccount(row, steps, ctx, external) : [];
    emitSteps(steps, booked, ctx);
    return row;
  }

  private outbound(event: OutboundEvent): void {
    const { outbound, brokerName } = this.row;
    if (outbound === null) return;
    const rules = { ...this.timing, afterUnknown: afterUnknownOf[brokerName as VenueName] };
    const { state, actions } = moveOutbound(outbound, event, rules, this.ctx.nowMs);
    if (state !== outbound) this.row = { ...this.row, outbound: state };
    if (state.step === 'known' && outbound.step !== 'known') this.ctx.unschedule('outbound');
    const { row, events } = act(this.row, actions, this.ctx);
    this.row = row;
    this.move(events);
  }

  private move(events: readonly OrderEvent[]): void {
    const { row, steps } = moveRow(this.row, events, this.ctx.nowMs);
    this.row = row;
    this.steps.push(...steps);
  }
}

/** A cancel is requested: nothing more is sent, and an order at the broker is to be cancelled. Returns the order's own changes. */
export function cancelAtBroker(row: Row, timing: OutboundTiming, ctx: Context): { row: Row; events: OrderEvent[] } {
  if (row.outbound === null) return { row: askToCancel(row, ctx), events: [] };
  const rules = { ...timing, afterUnknown: afterUnknownOf[row.brokerName as VenueName] };
  const { state, actions } = moveOutbound(row.outbound, { kind: 'cancel_requested' }, rules, ctx.nowMs);
  const { row: after, events } = act({ ...row, outbound: state }, actions, ctx);
  return { row: events.length === 0 ? askToCancel(after, ctx) : after, events };
}

/** Ends an order whose connection is removed. The account has the end from the reply. */
export function abandonOrder(row: Row, reason: string, ctx: Context): Row {
  const cancelled: OrderEvent = { kind: 'ended', status: 'cancelled', reason: null, filledQuantity: row.state.fills.quantity };
  const mayExist = mayBeAtBroker(row);
  const { row: ended, steps } = moveRow(row, [mayExist ? { kind: 'lost', reason } : cancelled], ctx.nowMs);
  for (const timer of timers) ctx.unschedule(timer);
  emitSteps(steps, [], ctx);
  if (mayExist) callAttention(ended, 'lost_order', ctx);
  return { ...ended, cancelling: { ...(row.cancelling ?? { tries: 0, attention: mayExist }), isAbandoned: true } };
}

/** The broker filled more than was ordered. The quantity of an external order may not be known. */
function isOverfilled({ external, quantity, state }: Row): boolean {
  return !external && nanoIn(state.fills.quantity) > nanoIn(quantity);
}

/** Whether the broker has the order, or a request that may create it was sent. */
function mayBeAtBroker({ filledBy, external, state, outbound }: Row): boolean {
  if (filledBy === 'embedded') return false;
  if (external || state.brokerOrderId !== null) return true;
  return outbound !== null && (outbound.step !== 'post_due' || outbound.unknownSinceMs !== null);
}

/** Requests the cancel from the broker, if the broker's id of the order is known. */
function askToCancel(row: Row, ctx: Context): Row {
  const { brokerOrderId } = row.state;
  const cancelling = row.cancelling ?? { tries: 0, attention: false };
  if (brokerOrderId === null || (isFinal(row) && !cancelling.isLate)) return row;
  ctx.run('cancel', { brokerId: row.brokerKey, brokerOrderId });
  return { ...row, cancelling: { ...cancelling, tries: cancelling.tries + 1 } };
}

/** Takes the action of the outbound protocol. `events`: its meaning for the order. */
function act(row: Row, actions: readonly OutboundAction[], ctx: Context): { row: Row; events: OrderEvent[] } {
  const { brokerKey: brokerId, symbol } = row;
  const events: OrderEvent[] = [];
  let after = row;
  for (const action of actions) {
    switch (action.kind) {
      case 'post':
        ctx.run('post', { brokerId, post: action.post, body: row.body! });
        break;
      case 'look_up': {
        const { brokerOrderId } = row.state;
        ctx.run('lookUp', { brokerId, lookUp: action.lookUp, symbol, brokerOrderId, sinceMs: row.sentAt! });
        break;
      }
      case 'wake':
        ctx.schedule('outbound', action.atMs, 'wake', { of: 'outbound' });
        break;
      case 'report_unknown':
        // A leg is shown as accepted before it is sent.
        if (!isFinal(row) && row.state.brokerOrderId === null) after = { ...after, state: { ...after.state, unknownOutcome: true } };
        break;
      case 'ask_for_attention':
        callAttention(row, 'unknown_outcome', ctx);
        break;
      case 'reject':
        events.push({ kind: 'ended', status: 'rejected', reason: action.reason, filledQuantity: '0' });
        break;
      case 'cancel':
        events.push({ kind: 'ended', status: 'cancelled', reason: null, filledQuantity: '0' });
    }
  }
  return { row: after, events };
}

function notifyAccount(row: Row, steps: readonly OrderStep[], ctx: Context, external: OpenEntry | undefined) {
  const { brokerKey, brokerName, orderMode, symbol, assetClass, side, strategyId, status, state } = row;
  return ctx.callColocated(tradingAccount, idInMode(row), 'orderMoved', {
    orderId: row.id,
    brokerKey,
    brokerName,
    orderMode,
    symbol,
    assetClass,
    side,
    strategyId,
    fills: fillsIn(steps),
    status,
    filled: state.fills.quantity,
    unknown: state.unknownOutcome,
    ...(external !== undefined && { external }),
  });
}
