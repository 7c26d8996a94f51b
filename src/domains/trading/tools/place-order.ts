/** place_order: the same order as over REST. A repeated call with the same `callId` is the same order. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, ToolError } from '../../../errors.ts';
import { derivedId } from '../../../ids.ts';
import { AskAgain, askUntilAnswered, type Preview, queryUntilAnswered, type Tool, type ToolContext } from '../../tasks/contract.ts';
import { clientOrder, clientOrderActorId } from '../client-order/messages.ts';
import { tradingIds } from '../ids.ts';
import type { TradingParts } from '../open.ts';
import { mustBePaperInTest, type OrderEntryParts, type OrderOrigin, orderIdBeside, prepare } from '../orders/order-entry.ts';
import { OrderForm, termsOf } from '../orders/order-form.ts';
import { orderView, shownMode } from '../orders/order-view.ts';
import { prepareOrder } from '../orders/place-order.ts';
import { type OrderPreview, tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';
import type { TradingOrderRow } from '../trading-order/entity.ts';
import { tradingOrder } from '../trading-order/messages.ts';
import { approvalFault, basisOf, type CheckedOrder, limitsView, textOf } from './order-preview.ts';

/** Longer than the four tries of `askUntilAnswered` and the wait for the broker. */
const timeoutMs = 90_000;
/** How long the tool waits for a broker's first answer. */
const venueAnswerMs = 10_000;
const pollMs = 100;

const failureText = { what: 'The order', nothing: 'No order was placed' };

export const placeOrderTool = ({ orderEntry }: Pick<TradingParts, 'orderEntry'>): Tool => ({
  name: 'place_order',
  agentTypes: ['trader'],
  description:
    'Places an order and answers {mode, session, order, limits}: mode PAPER, LIVE (real money) or TEST, whether the market is open, the order as it is stored after its ' +
    'broker has answered, and what remains of the limits. Only order.status says what has happened: submitted and accepted are not filled. Place only what the task ' +
    'asks for, once, with symbol, side, quantity and prices as given; mode live only where the task says that real money is meant. After a refusal do not try ' +
    'another size or symbol by yourself: say what was refused and why.',
  parameters: OrderForm,
  need: { scope: 'trading.write' },
  highConsequence: true,
  repeatable: true,
  timeoutMs,

  async preview(form: OrderForm, { accountId, taskId, authority: { mode } }): Promise<Preview> {
    const owner: OrderOrigin = { accountId, mode, taskId };
    const checked = await queryUntilAnswered(failureText, () => checkNow(orderEntry, owner, form));
    if (checked.preview.refusal !== null) throw new ToolError(`${checked.preview.refusal}. ${failureText.nothing}.`);
    return { text: textOf(checked), basis: basisOf(checked) };
  },

  async run(form: OrderForm, context: ToolContext) {
    const { accountId, taskId, authority, signal } = context;
    const owner: OrderOrigin = { accountId, mode: authority.mode, taskId };
    const placed = await place(orderEntry, owner, form, context).catch(async (refusal) => {
      const earlier = refusal instanceof ToolError ? await placedEarlier(orderEntry.actors, owner, context) : null;
      if (earlier === null) throw refusal;
      return earlier;
    });
    const order = await venueAnswer(orderEntry.actors, placed.id, signal);
    // The order is placed even if its prices and limits cannot be shown.
    const now = await checkNow(orderEntry, owner, form, order).catch(unlessDefect);
    return {
      mode: shownMode(order).toUpperCase(),
      session: now?.quote.session ?? null,
      order: orderView(order),
      ...noteOf(order),
      limits: now === null ? null : limitsView(now.preview, now.limits),
    };
  },
});

async function place(orderEntry: OrderEntryParts, owner: OrderOrigin, form: OrderForm, context: ToolContext): Promise<TradingOrderRow> {
  const { approvedBasis, callId } = context;
  const orderId = orderIdOf(context);
  // An order that an earlier try of this call placed needs no second approval.
  if (approvedBasis !== null && (await orderEntry.actors.query(tradingOrder, orderIdBeside(owner, orderId), 'get', null)) === null) {
    const checked = await queryUntilAnswered(failureText, () => checkNow(orderEntry, owner, form));
    const why = approvalFault(approvedBasis, checked);
    if (why !== null) throw new AskAgain({ text: `${why}\n${textOf(checked)}`, basis: basisOf(checked) });
  }
  const { stats } = orderEntry;
  const ids = { orderId, commandId: callId };
  const send = await queryUntilAnswered(failureText, () => stats.countRefusal(() => prepareOrder(orderEntry, owner, form, ids)));
  return askUntilAnswered(failureText, () => stats.countRefusal(send));
}

/**
 * The order that an earlier run of this call placed. If there is none, a late request of that run must find a refusal recorded under the
 * call's id: an order that was refused before the account was asked gets this record by a cancel request for an order that does not exist.
 */
async function placedEarlier(actors: ActorSystem, owner: OrderOrigin, context: ToolContext): Promise<TradingOrderRow | null> {
  const orderId = orderIdBeside(owner, orderIdOf(context));
  const placed = await actors.query(tradingOrder, orderId, 'get', null);
  if (placed !== null) return placed;
  const cancellation = actors.ask(tradingAccount, tradingAccountIdOf(owner), 'cancel', { orderId }, { commandId: context.callId });
  return cancellation.catch(unlessDefect);
}

/**
 * The preview of the order: the checks that every order passes before the account's turn, and those of the turn.
 *
 * @param placed the order is there already: its client id is its own
 */
async function checkNow(
  orderEntry: OrderEntryParts,
  owner: OrderOrigin,
  form: OrderForm,
  placed: TradingOrderRow | null = null,
): Promise<CheckedOrder> {
  const terms = termsOf(form);
  const mode = form.mode ?? 'paper';
  mustBePaperInTest(owner, mode);
  const prepared = await prepare(orderEntry, owner, { brokerId: placed?.brokerKey ?? form.broker_id ?? null, mode }, [terms]);
  const id = tradingAccountIdOf(owner);
  const { route, quote, limits } = prepared;
  const { actors } = orderEntry;
  const preview: OrderPreview = await actors.query(tradingAccount, id, 'preview', { ...route, terms, quote, limits });
  const clientId = form.client_order_id ?? null;
  if (placed === null && clientId !== null && (await actors.query(clientOrder, clientOrderActorId(id, clientId), 'get', null)) !== null)
    return { ...prepared, terms, preview: { ...preview, refusal: 'client_order_id is used already' }, mode: owner.mode };
  return { ...prepared, terms, preview, mode: owner.mode };
}

/** The order once its state is beyond submitted, or as it is after ten seconds. */
async function venueAnswer(actors: ActorSystem, orderId: string, signal: AbortSignal): Promise<TradingOrderRow> {
  const begunAtMs = performance.now();
  for (;;) {
    const order = await actors.query(tradingOrder, orderId, 'get', null);
    if (order === null) throw new Error(`${orderId} was placed and is gone`);
    if (order.status !== 'submitted' || performance.now() - begunAtMs >= venueAnswerMs) return order;
    await pause(pollMs, undefined, { signal });
  }
}

/** Deterministic for a call, and with its time, so that lists show the order in the right place. */
function orderIdOf({ callId, slotOwner, accountId }: ToolContext): string {
  const derived = derivedId(tradingIds.order, slotOwner ?? accountId, callId);
  const time = /^eff_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(callId)?.[1];
  return time === undefined ? derived : `${tradingIds.order}${time}${derived.slice(tradingIds.order.length + time.length)}`;
}

function unlessDefect(error: unknown): null {
  if (error instanceof AppError) return null;
  throw error;
}

function noteOf({ status, state }: TradingOrderRow): { note?: string } {
  if (status === 'rejected')
    return { note: `The order was rejected: ${state.rejectReason ?? 'the broker gives no reason'}. Nothing was traded by it.` };
  if (status !== 'submitted') return {};
  const waits = state.unknownOutcome ? 'Whether the broker has the order is not known yet' : 'The broker has not answered yet';
  return { note: `${waits}. Do not place it again: its outcome shows in the order later.` };
}
