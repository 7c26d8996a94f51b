/** The trading account: its money and limits, positions, and a person's halt of all orders. */
import Type from 'typebox';
import type { Clock } from '../../../clock.ts';
import { isoTimestamp } from '../../../clock.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { ModeQuery, modeNote, requestedMode } from '../../../edge/routes/mode.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError } from '../../../errors.ts';
import type { AccountMode } from '../../../mode.ts';
import { accountSettings, tradingLimitsOf } from '../../accounts/contract.ts';
import { shownBook } from '../brokers/choose-broker.ts';
import { tradingIds } from '../ids.ts';
import { openPosition } from '../orders/open-position.ts';
import type { OrderEntryParts } from '../orders/order-entry.ts';
import { OpenPositionForm } from '../orders/order-form.ts';
import { justPlaced, OrderView, orderView } from '../orders/order-view.ts';
import { AccountView, accountView, PositionView, positionView } from '../trading-account/account-view.ts';
import { embeddedBook } from '../trading-account/entity.ts';
import { type AccountSummary, tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';
import { BrokerFilter } from './orders.ts';

export type AccountRouteParts = { orderEntry: OrderEntryParts; clock: Clock };

const OpenedView = Type.Object(
  {
    position: Type.Union([PositionView, Type.Null()], { description: 'null until the order fills' }),
    order: OrderView,
    stop_loss_order: Type.Union([OrderView, Type.Null()]),
    take_profit_order: Type.Union([OrderView, Type.Null()]),
  },
  { title: 'OpenedPosition' },
);
const HaltView = Type.Object(
  {
    halted: Type.Boolean(),
    halted_at: Type.String({ format: 'date-time' }),
    cancelled: Type.Array(Type.String(), { description: 'Orders that have ended' }),
    not_cancelled: Type.Array(Type.Object({ id: Type.String(), reason: Type.String() }), { description: 'Orders that have not ended yet' }),
  },
  { title: 'Halt' },
);
const ResumedView = Type.Object({ halted: Type.Boolean() });

/** Each turn of a halt cancels some orders; with the limit on open orders this many turns are enough. */
const maxHaltTurns = 50;

export function accountRoutes({ orderEntry, clock }: AccountRouteParts): AnyRoute[] {
  const { actors, connections } = orderEntry;

  const get = route({
    method: 'GET',
    path: '/trading/account',
    summary: 'Get cash, equity and trading limits',
    description: `Of one broker: \`broker_id\`, else the newest connected one, else the embedded paper broker, which begins with 100,000 USD. ${modeNote}`,
    extension: true,
    scope: 'trading.read',
    query: Type.Object({ broker_id: Type.Optional(BrokerFilter) }),
    errors: [404],
    responses: { 200: AccountView },
    async handler({ principal, query }) {
      const [summary, settings] = await Promise.all([
        summaryOf(principal, query.broker_id),
        actors.query(accountSettings, principal.accountId, 'get', null),
      ]);
      return answer(200, accountView(summary, tradingLimitsOf(settings), principal.mode));
    },
  });

  const positions = route({
    method: 'GET',
    path: '/trading/positions',
    summary: 'Open positions of all brokers',
    description: modeNote,
    scope: 'trading.read',
    query: PageQuery,
    responses: { 200: PageOf(PositionView) },
    async handler({ principal, query: { limit, offset } }) {
      const all = await actors.query(tradingAccount, tradingAccountIdOf(principal), 'positions', { brokerKey: null });
      const data = all.slice(offset, offset + limit).map((position) => positionView(position, principal.mode));
      return answer(200, page(data, offset, all.length));
    },
  });

  const open = route({
    method: 'POST',
    path: '/trading/positions/open',
    summary: 'Open a position, with orders that close it',
    description:
      'A market order, and up to two that wait (`held`) until it fills: a stop order at `stop_loss`, a limit order at `take_profit`. Their quantity is what was filled, and a fill of one cancels the other. ' +
      'Refused like an order.',
    scope: 'trading.write',
    errors: [402, 404, 409],
    body: OpenPositionForm,
    responses: { 201: OpenedView },
    async handler(context) {
      const { principal, body } = context;
      const { id, commandId } = commandIds(context, tradingIds.order, clock.nowMs());
      const { order, legs } = await openPosition(orderEntry, principal, body, { orderId: id, commandId });
      const held = await actors.query(tradingAccount, tradingAccountIdOf(principal), 'positions', { brokerKey: order.brokerKey });
      const position = order.status === 'filled' ? held.find(({ symbol }) => symbol === order.symbol) : undefined;
      const leg = (role: string) => {
        const found = legs.find((one) => one.role === role);
        return found === undefined ? null : orderView(found);
      };
      return answer(201, {
        position: position === undefined ? null : positionView(position, principal.mode),
        order: justPlaced(order),
        stop_loss_order: leg('stop_loss'),
        take_profit_order: leg('take_profit'),
      });
    },
  });

  const halt = route({
    method: 'POST',
    path: '/trading/halt',
    summary: 'Halt trading',
    description:
      'Cancels all open orders, and refuses new orders, replacements and positions, including those that reduce a position. Late fills are booked, and orders can be cancelled. API keys are refused. A repeated request returns the same halt.',
    extension: true,
    scope: 'session',
    query: ModeQuery,
    body: Type.Object({ reason: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Null()])) }),
    responses: { 200: HaltView },
    async handler(context) {
      const { commandId } = commandIds(context, tradingIds.order);
      const id = tradingAccountIdOf(requestedMode(context.principal, context.query.mode));
      const input = { by: context.principal.userId, reason: context.body.reason ?? null };
      let turn = await actors.ask(tradingAccount, id, 'halt', input, { commandId });
      const cancelled = [...turn.cancelled];
      for (let turns = 1; turn.left > 0 && turns < maxHaltTurns; turns++) {
        turn = await actors.ask(tradingAccount, id, 'halt', input);
        cancelled.push(...turn.cancelled);
      }
      const reason = 'The broker has not confirmed the cancel yet';
      return answer(200, {
        halted: true,
        halted_at: isoTimestamp(turn.haltedAtMs),
        cancelled,
        not_cancelled: turn.requested.map((orderId) => ({ id: orderId, reason })),
      });
    },
  });

  const resume = route({
    method: 'POST',
    path: '/trading/resume',
    summary: 'Resume trading',
    description:
      'Ends a halt; a repeated request is answered with 200. With `broker_id`: the broker’s figures replace ours, if its connection was halted because they differ. API keys are refused.',
    extension: true,
    scope: 'session',
    errors: [404],
    query: ModeQuery,
    body: Type.Object(
      { broker_id: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()])) },
      { examples: [{}] },
    ),
    responses: { 200: ResumedView },
    async handler(context) {
      const owner = requestedMode(context.principal, context.query.mode);
      const { commandId } = commandIds(context, tradingIds.order);
      const by = context.principal.userId;
      const { broker_id: brokerId } = context.body;
      if (brokerId == null) await actors.ask(tradingAccount, tradingAccountIdOf(owner), 'resume', { by }, { commandId });
      else if (brokerId !== embeddedBook) await connections.resume(owner, brokerId, by);
      const summary = await actors.query(tradingAccount, tradingAccountIdOf(owner), 'summary', { brokerKey: embeddedBook });
      return answer(200, { halted: summary?.halted ?? false });
    },
  });

  return [get, positions, open, halt, resume];

  async function summaryOf(owner: AccountMode, brokerId: string | undefined): Promise<AccountSummary> {
    const id = tradingAccountIdOf(owner);
    const wanted = brokerId ?? shownBook(await connections.of(owner));
    const summary = await actors.query(tradingAccount, id, 'summary', { brokerKey: wanted });
    if (summary !== null) return summary;
    if (brokerId !== undefined) throw new AppError('not_found', 'Broker not found');
    return (await actors.query(tradingAccount, id, 'summary', { brokerKey: embeddedBook }))!;
  }
}
