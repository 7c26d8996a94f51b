/**
 * An order: its state, its sending to a broker and its fills. It is on the shard of its trading account, which stores the fields that the risk checks
 * need; both change in one commit, in turns of either.
 *
 * D1 `status` never leaves a final state; a later fill is still booked.
 * D2 Each fill is one row, one entry in the book and one event; each state has one event.
 * D3 The body is stored before it is sent, and sent as it is stored.
 */
import Type from 'typebox';
import { defineActor, type EffectContext, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { accountModeOf, idInMode } from '../../../mode.ts';
import type { PlaceAnswer } from '../brokers/port.ts';
import { foreignAtConnecting } from '../brokers/reconciliation.ts';
import { isFinal, moveOrder, newOrder, type OrderEvent, type OrderState } from '../orders/order-state.ts';
import type { OutboundTiming } from '../orders/outbound.ts';
import type { OpenEntry } from '../trading-account/entity.ts';
import { tradingAccount } from '../trading-account/messages.ts';
import { abandonOrder, BrokerTurn, cancelAtBroker, sendOrder, termsOf } from './at-broker.ts';
import { TradingOrder, type TradingOrderRow } from './entity.ts';
import { tradingOrderInputs } from './inputs.ts';
import {
  type AdoptOrder,
  type NewTradingOrder,
  type PaperMoved,
  type TradingOrderContract,
  tradingOrder,
  type VenueCalls,
} from './messages.ts';
import { emitSteps, moveRow, withState } from './order-steps.ts';

type Row = TradingOrderRow;
type State = Row | null;
type Context = TurnContext<TradingOrderContract>;

export type TradingOrderParts = { venue: VenueCalls; timing: OutboundTiming; timeoutMs: number };

const String_ = Type.String();
const nullableString = Type.Union([Type.String(), Type.Null()]);

export function tradingOrderActor({ venue, timing, timeoutMs }: TradingOrderParts) {
  const atBroker = (state: State, ctx: Context, apply: (turn: BrokerTurn) => void): Turn<State, null> => {
    if (state === null || state.cancelling?.isAbandoned === true || isLeftBehind(state, ctx)) return { state, reply: null };
    const turn = new BrokerTurn(state, timing, ctx);
    apply(turn);
    return { state: turn.end(), reply: null };
  };
  const effect = { timeoutMs: timeoutMs + 5_000, lane: 'vital' } as const;
  return defineActor<Row, TradingOrderContract>({
    ref: tradingOrder,
    entity: TradingOrder,
    inputs: tradingOrderInputs,
    commands: {
      begin,
      moved,
      release,
      requestCancel: (state, input, ctx) => requestCancel(existing(state), input, timing, ctx),
      abandon(state, { reason }, ctx) {
        const row = abandonOrder(existing(state), reason, ctx);
        return { state: row, reply: row };
      },
      adjust(state, { terms, filled }, ctx) {
        const row = existing(state);
        const fills = { ...row.state.fills, quantity: filled };
        const adjusted = { ...withState(row, { ...row.state, quantity: terms.quantity, fills }, ctx.nowMs), ...terms };
        return { state: adjusted, reply: adjusted };
      },
      posted: (state, { outcome }, ctx) =>
        atBroker(state, ctx, (turn) => {
          const unknown: PlaceAnswer = { kind: 'unknown', reason: 'there was no answer' };
          if (outcome.kind === 'done') turn.posted(outcome.value.post, outcome.value.answer);
          else turn.posted(state!.outbound?.posts ?? 0, unknown);
        }),
      lookedUp: (state, { outcome }, ctx) =>
        atBroker(state, ctx, (turn) => {
          if (outcome.kind === 'done') turn.lookedUp(outcome.value.lookUp, outcome.value.answer);
          else turn.lookedUp(state!.outbound?.lookUps ?? 0, { kind: 'unknown', reason: 'there was no answer' });
        }),
      cancelAnswered: (state, { outcome }, ctx) => atBroker(state, ctx, (turn) => turn.cancelAnswered(outcome)),
      wake: (state, { of }, ctx) =>
        atBroker(state, ctx, (turn) => {
          if (of === 'outbound') turn.due();
          else if (of === 'fills') turn.endWithoutFills();
          else turn.cancelAgain();
        }),
      seen: (state, { order, fills, filledSoFar }, ctx) => atBroker(state, ctx, (turn) => turn.seen(order, fills, filledSoFar)),
      settledAbsent: (state, { reason, brokerOrderId }, ctx) =>
        atBroker(state, ctx, (turn) => (brokerOrderId === undefined ? turn.settledAbsent(reason) : turn.lost(reason, brokerOrderId))),
      adoptOrder: (state, input, ctx) => adoptOrder(state, input, timing, ctx),
    },
    queries: { get: (state) => state },
    effects: {
      post: {
        ...effect,
        // Some brokers are queried for the order once more after it was sent.
        timeoutMs: 2 * timeoutMs + 5_000,
        run: async ({ brokerId, post, body }, { signal }: EffectContext) => ({ post, answer: await venue.place(brokerId, body, signal) }),
        // The only request that is never sent again automatically.
        repeatable: () => false,
        outcome: 'posted',
        input: Type.Object({ brokerId: String_, post: Type.Integer(), body: String_ }),
      },
      lookUp: {
        ...effect,
        run: async ({ brokerId, lookUp, symbol, brokerOrderId, sinceMs }, { actorId, signal }: EffectContext) => {
          return { lookUp, answer: await venue.lookUp(brokerId, { ourId: actorId, symbol, brokerOrderId, sinceMs }, signal) };
        },
        repeatable: () => true,
        outcome: 'lookedUp',
        input: Type.Object({
          brokerId: String_,
          lookUp: Type.Integer(),
          symbol: String_,
          brokerOrderId: nullableString,
          sinceMs: Type.Number(),
        }),
      },
      cancel: {
        ...effect,
        run: ({ brokerId, brokerOrderId }, { signal }: EffectContext) => venue.cancel(brokerId, brokerOrderId, signal),
        repeatable: () => true,
        outcome: 'cancelAnswered',
        input: Type.Object({ brokerId: String_, brokerOrderId: String_ }),
      },
    },
    idleTimeoutMs: 60_000,
  });
}

function begin(state: State, input: NewTradingOrder, ctx: Context): Turn<State, { order: Row; isNew: boolean }> {
  if (state !== null) return { state, reply: { order: state, isNew: false } };
  const { tradingAccountId, terms, onShort, role, ...of } = input;
  const row: Row = {
    id: ctx.id,
    ...accountModeOf(tradingAccountId),
    ...of,
    ...terms,
    role,
    managedBy: role === null ? null : 'troupe',
    status: 'submitted',
    state: newOrder(terms.quantity),
    body: null,
    outbound: null,
    cancelling: null,
    sentAt: null,
    external: false,
    createdAt: ctx.nowMs,
    updatedAt: ctx.nowMs,
  };
  emitSteps([{ row, change: { kind: 'status', status: 'submitted' } }], [], ctx);
  const order = began(row, onShort, ctx);
  return { state: order, reply: { order, isNew: true } };
}

/** An order that this service fills is accepted at once, and so is a leg that waits here; for a broker it is sent. */
function began(row: Row, onShort: boolean, ctx: Context): Row {
  const isHere = row.filledBy === 'embedded';
  if (!isHere && !row.held) return sendOrder(row, onShort, false, ctx);
  if (!isHere && row.role === null) return row;
  const state: OrderState = { ...row.state, status: 'accepted', brokerOrderId: isHere ? row.id : null };
  const accepted = withState(row, state, ctx.nowMs);
  emitSteps([{ row: accepted, change: { kind: 'status', status: 'accepted' } }], [], ctx);
  return accepted;
}

function moved(state: State, { fills, ended }: PaperMoved, ctx: Context): Turn<State, Row> {
  const events: OrderEvent[] = fills.map(({ fill }) => ({ kind: 'trade', trade: { ...fill, venueTradeId: fill.key } }));
  const row = existing(state);
  const filled = moveRow(row, events, ctx.nowMs);
  const { quantity } = filled.row.state.fills;
  const end: OrderEvent[] = ended === null ? [] : [{ kind: 'ended', ...ended, filledQuantity: quantity }];
  const over = moveRow(filled.row, end, ctx.nowMs);
  const booked = fills.map((fill) => fill.booked);
  emitSteps([...filled.steps, ...over.steps], booked, ctx);
  return { state: over.row, reply: over.row };
}

function release(
  state: State,
  { quantity, held, onShort, asMarket = false }: { quantity: string; held: boolean; onShort: boolean; asMarket?: boolean },
  ctx: Context,
): Turn<State, Row> {
  const row = existing(state);
  const sized: Row = { ...withState(row, { ...row.state, quantity }, ctx.nowMs), held };
  const isToSend = row.filledBy === 'broker' && row.held && !held;
  const released = isToSend ? sendOrder(sized, onShort, asMarket, ctx) : sized;
  return { state: released, reply: released };
}

function requestCancel(row: Row, { replacedBy }: { replacedBy: string | null }, timing: OutboundTiming, ctx: Context): Turn<State, Row> {
  const atMs = ctx.nowMs;
  const move = moveOrder(
    row.state,
    replacedBy === null ? { kind: 'cancel_requested', atMs } : { kind: 'replace_requested', by: replacedBy, atMs },
  );
  if (move.kind === 'refused')
    throw new AppError('conflict', move.because === 'final' ? 'The order has ended' : 'The order is being cancelled or replaced');
  if (move.kind === 'same') return { state: row, reply: row };
  const requested = withState(row, move.order, ctx.nowMs);
  const isHere = row.filledBy === 'embedded' || row.held;
  const end: OrderEvent = { kind: 'ended', status: 'cancelled', reason: null, filledQuantity: requested.state.fills.quantity };
  const { row: after, events } = isHere ? { row: requested, events: [end] } : cancelAtBroker(requested, timing, ctx);
  const over = moveRow(after, events, ctx.nowMs);
  emitSteps(over.steps, [], ctx);
  return { state: over.row, reply: over.row };
}

function adoptOrder(
  state: State,
  { tradingAccountId, order, earlier = false, ...route }: AdoptOrder,
  timing: OutboundTiming,
  ctx: Context,
): Turn<State, Row | null> {
  if (state !== null) return { state, reply: state };
  if (!hasBook({ tradingAccountId, brokerKey: route.brokerKey }, ctx)) return { state, reply: null };
  const { symbol, assetClass, side, filledQuantity } = order;
  // An order of a type that is not offered here is shown as a market order of its filled quantity: its quantity is unknown.
  const unknownTerms = {
    symbol,
    assetClass,
    side,
    quantity: filledQuantity,
    orderType: 'market',
    limitPrice: null,
    stopPrice: null,
  } as const;
  const terms = order.terms ?? { ...unknownTerms, timeInForce: assetClass === 'crypto' ? ('gtc' as const) : ('day' as const) };
  const accepted: OrderState = { ...newOrder(terms.quantity), status: 'accepted', brokerOrderId: order.brokerOrderId };
  const known = earlier ? foreignAtConnecting(order) : accepted;
  const nothing = { clientOrderId: null, parentId: null, role: null, managedBy: null, replaces: null, strategyId: null, taskId: null };
  const row: Row = {
    id: ctx.id,
    ...accountModeOf(tradingAccountId),
    ...route,
    ...terms,
    ...nothing,
    status: known.status,
    state: known,
    body: null,
    outbound: null,
    cancelling: null,
    sentAt: null,
    held: false,
    external: true,
    createdAt: ctx.nowMs,
    updatedAt: ctx.nowMs,
  };
  emitSteps([{ row, change: { kind: 'status', status: known.status } }], [], ctx);
  const turn = new BrokerTurn(row, timing, ctx);
  turn.seen(order, [], false);
  const after = turn.end(isFinal(order.state === 'working' ? row : { status: 'filled' }) ? undefined : entryOf(row));
  return { state: after, reply: after };
}

/** The account's entry of an order that it did not place. */
function entryOf(row: Row): OpenEntry {
  const { brokerKey, brokerName, orderMode, filledBy } = row;
  const nothing = { strategyId: null, held: false, leg: null, group: null, replaces: null, cancelRequested: false, unknown: false };
  const paper = { terms: termsOf(row), filled: row.state.fills.quantity, sequence: 0, triggered: true, expiresAtMs: null };
  return { ...paper, brokerKey, brokerName, orderMode, filledBy, ...nothing };
}

/**
 * An ended order of a removed connection: there is no book for a late report. The connection of an open order cannot be removed.
 */
function isLeftBehind(row: Row, ctx: Context): boolean {
  return isFinal(row) && row.filledBy === 'broker' && !hasBook({ tradingAccountId: idInMode(row), brokerKey: row.brokerKey }, ctx);
}

function hasBook({ tradingAccountId, brokerKey }: { tradingAccountId: string; brokerKey: string }, ctx: Context): boolean {
  return ctx.callColocated(tradingAccount, tradingAccountId, 'hasBook', { brokerKey });
}

function existing(state: State): Row {
  if (state === null) throw new AppError('not_found', 'Order not found');
  return state;
}
