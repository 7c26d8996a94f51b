/**
 * An account's connection to a broker: its credentials, whether the broker accepts them, the cursor of its fills, and whether its figures agree with
 * ours. Its watcher, on the actor's node, queries the broker.
 *
 * V1 The broker's figures are adopted when connecting and by a person's decision, and at no other time.
 * V2 Only such a decision ends a halt. Fills are booked during a halt as well.
 */
import { defineActor, type EffectContext, type Turn, type TurnContext } from '../../../../actors/define-actor.ts';
import { shardOf } from '../../../../cluster/address.ts';
import { AppError } from '../../../../errors.ts';
import { derivedId } from '../../../../ids.ts';
import { fromNano } from '../../decimal.ts';
import { tradingIds } from '../../ids.ts';
import { nanoIn } from '../../orders/amounts.ts';
import { shownMode } from '../../orders/order-view.ts';
import { tradingAccount, tradingAccountIdOf, tradingOrderIdOf } from '../../trading-account/messages.ts';
import { tradingOrder } from '../../trading-order/messages.ts';
import { ConnectedBroker, type ConnectedBrokerRow, type Halt } from './entity.ts';
import { brokerConnection, type ConnectionContract, type Figures, type NewConnection } from './messages.ts';

type State = ConnectedBrokerRow | null;
type Context = TurnContext<ConnectionContract>;

/** @param changed notifies the watchers of this node that the connection is new or has changed */
export function connectionActor(changed: (id: string) => void) {
  return defineActor<ConnectedBrokerRow, ConnectionContract>({
    ref: brokerConnection,
    entity: ConnectedBroker,
    commands: { create, renew, identify, tried, adopt, advanced, mismatched, remove, noted: (state) => ({ state, reply: null }) },
    queries: { get: (state) => (state === null || state.removedAt !== null ? null : state) },
    effects: {
      wake: {
        run: async (_input: object, { actorId }: EffectContext) => changed(actorId),
        repeatable: () => true,
        timeoutMs: 5_000,
        isBrief: true,
        lane: 'vital',
        outcome: 'noted',
      },
    },
  });
}

function create(
  state: State,
  { figures, venueAccount, ...input }: NewConnection,
  ctx: Context,
): Turn<ConnectedBrokerRow, ConnectedBrokerRow> {
  if (state !== null) return { state, reply: state };
  const made: ConnectedBrokerRow = {
    ...input,
    id: ctx.id,
    shard: shardOf(brokerConnection.kind, ctx.id),
    status: input.error === null ? 'connected' : 'error',
    adopted: false,
    since: ctx.nowMs,
    earlier: [],
    cursor: null,
    halt: null,
    createdAt: ctx.nowMs,
    removedAt: null,
  };
  const other = ctx.callColocated(tradingAccount, tradingAccountIdOf(made), 'addBook', { ...bookOf(made), venueAccount });
  if (other !== null) throw new AppError('conflict', `The broker account is connected already, as ${other}`);
  const next = figures === null ? made : takeOver(made, figures, ctx);
  return afterChange(next, ctx);
}

function renew(state: State, { credentials }: { credentials: string }, ctx: Context): Turn<ConnectedBrokerRow, ConnectedBrokerRow> {
  const known = present(state);
  // Without the broker's figures it is not ready yet.
  const ready = known.adopted || known.filledBy === 'embedded' ? { status: 'connected' as const, error: null } : {};
  return afterChange({ ...known, ...ready, credentials }, ctx);
}

function identify(state: State, { venueAccount }: { venueAccount: string }, ctx: Context): Turn<State, string | null> {
  const known = present(state);
  const reply = ctx.callColocated(tradingAccount, tradingAccountIdOf(known), 'addBook', { ...bookOf(known), venueAccount });
  return { state, reply };
}

function tried(state: State, { error, credentials }: { error: string | null; credentials?: string }, ctx: Context): Turn<State, null> {
  if (state === null || state.removedAt !== null || state.error === error) return { state, reply: null };
  if (credentials !== undefined && credentials !== state.credentials) return { state, reply: null };
  if (state.error === null) attention(state, { reason: 'credentials' }, ctx);
  // A different message for the same failure is no reason to retry at once.
  if (state.error === null || error === null) ctx.run('wake', {});
  return { state: { ...state, status: error === null ? 'connected' : 'error', error }, reply: null };
}

function adopt(
  state: State,
  { figures, by }: { figures: Figures; by: string | null },
  ctx: Context,
): Turn<ConnectedBrokerRow, ConnectedBrokerRow> {
  const known = present(state);
  // If two nodes request the first figures, the later ones are ignored: they lack the trades made since the first.
  if (by === null && known.adopted) return { state: known, reply: known };
  const { accountId, mode, id, halt } = known;
  if (by !== null && halt !== null) ctx.emit({ accountId, type: 'trading.resumed', data: { mode: shownMode(known), by, broker_id: id } });
  return afterChange({ ...takeOver(known, figures, ctx), halt: null, mode }, ctx);
}

function advanced(state: State, { cursor }: { cursor: string }): Turn<State, null> {
  return { state: state === null || state.cursor === cursor ? state : { ...state, cursor }, reply: null };
}

function mismatched(state: State, difference: Omit<Halt, 'reason' | 'atMs'>, ctx: Context): Turn<State, null> {
  if (state === null || state.removedAt !== null || state.halt !== null) return { state, reply: null };
  const { symbol, ours, theirs } = difference;
  const numbers = { ours: fromNano(nanoIn(ours)), theirs: fromNano(nanoIn(theirs)) };
  attention(state, { reason: 'position_mismatch', symbol, ...numbers }, ctx);
  return { state: { ...state, halt: { reason: 'position_mismatch', symbol, ours, theirs, atMs: ctx.nowMs } }, reply: null };
}

function remove(state: State, _input: null, ctx: Context): Turn<ConnectedBrokerRow, null> {
  const known = present(state);
  ctx.callColocated(tradingAccount, tradingAccountIdOf(known), 'removeBook', { brokerKey: ctx.id });
  ctx.run('wake', {});
  return { state: { ...known, credentials: '', removedAt: ctx.nowMs }, reply: null };
}

// private helpers

function present(state: State): ConnectedBrokerRow {
  if (state === null || state.removedAt !== null) throw new AppError('not_found', 'Broker not found');
  return state;
}

function takeOver(row: ConnectedBrokerRow, figures: Figures, ctx: Context): ConnectedBrokerRow {
  const { cash, positions, orders, cursor, sinceMs, earlier } = figures;
  const tradingAccountId = tradingAccountIdOf(row);
  const route = bookOf(row);
  ctx.callColocated(tradingAccount, tradingAccountId, 'adopt', { ...route, cash, positions });
  for (const order of orders) {
    const id = foreignOrderId(row, order.brokerOrderId);
    ctx.send(tradingOrder, id, 'adoptOrder', { ...route, tradingAccountId, order, earlier: true });
  }
  // A round that comes before these messages must not adopt the orders as foreign ones.
  const taken = orders.map(({ brokerOrderId }) => brokerOrderId);
  return { ...row, adopted: true, since: sinceMs, earlier: [...earlier, ...taken], cursor };
}

/** The same id for the same order of the same connection. */
export function foreignOrderId(row: Pick<ConnectedBrokerRow, 'id' | 'accountId' | 'mode'>, brokerOrderId: string): string {
  return tradingOrderIdOf(tradingAccountIdOf(row), derivedId(tradingIds.order, row.accountId, row.id, brokerOrderId));
}

function bookOf({ id, brokerName, orderMode, filledBy }: ConnectedBrokerRow) {
  return { brokerKey: id, brokerName, orderMode, filledBy };
}

function attention(row: ConnectedBrokerRow, about: object, ctx: Context): void {
  const { accountId, id } = row;
  ctx.emit({ accountId, type: 'trading.attention', data: { mode: shownMode(row), ...about, broker_id: id } });
}

function afterChange(state: ConnectedBrokerRow, ctx: Context): Turn<ConnectedBrokerRow, ConnectedBrokerRow> {
  ctx.run('wake', {});
  return { state, reply: state };
}
