/**
 * An account's trading in one mode. It alone decides risk and changes books, one order after the other: of a hundred orders that arrive together, each
 * is checked against all before it. Its orders are on its shard and change in its commits.
 *
 * T1 A book is the fold of its journal: `trading_entry` and `trading_fill` in the order of `seq`; a fill, its row, the order's state and the events are one commit.
 * T2 `open` holds exactly the orders that have not ended.
 * T3 A client id belongs to one order for ever; what was refused has none.
 * T4 A turn sees one content of each symbol. Marked again on the same content an account changes nothing.
 * T5 A halt or a block stops orders, never bookkeeping: fills of brokers are always booked.
 */
import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { Quote } from '../market/port.ts';
import { AccountTurn, freshAccount } from './account-turn.ts';
import { adopt, orderMoved } from './adopt.ts';
import { cancelOrder, halt, replaceOrder, resume } from './change-orders.ts';
import { abandonOrders, addBook, removeBook } from './connection-books.ts';
import { paperStrategyBooks } from './corporate-actions.ts';
import { type OpenEntry, TradingAccount, type TradingAccountRow } from './entity.ts';
import { tradingAccountInputs } from './inputs.ts';
import { applyConsequences, markAccount } from './mark.ts';
import type { AccountMarket } from './market.ts';
import { type TradingAccountContract, tradingAccount } from './messages.ts';
import { openPosition, placeOrder, updateLimits } from './place.ts';
import { previewOf } from './preview.ts';
import { beginDays, updateMarks, watchedSymbols } from './prices.ts';
import { positionsOf, strategyBookOf, summaryOf } from './views.ts';

type State = TradingAccountRow | null;
type Context = TurnContext<TradingAccountContract>;

/** @param market of the node that runs it: prices and the clock */
export function tradingAccountActor(market: AccountMarket) {
  /** Runs one turn's work on the current account, and completes it. */
  function work<R>(state: State, ctx: Context, work: (turn: AccountTurn) => R, quotes: readonly Quote[] = []): Turn<State, R> {
    const turn = new AccountTurn(state, ctx, market, Object.fromEntries(quotes.map((quote) => [quote.symbol, quote])));
    const before = turn.row;
    beginDays(turn);
    const reply = work(turn);
    updateMarks(turn, turn.row !== before);
    if (turn.row === before && state !== null) return { state, reply };
    const watched = isWatched(turn.row);
    return { state: watched === turn.row.watched ? turn.row : { ...turn.row, watched }, reply };
  }

  const shown = (state: State, id: string): TradingAccountRow => state ?? freshAccount(id, 0, market.clock.nowMs());

  return defineActor<TradingAccountRow, TradingAccountContract>({
    ref: tradingAccount,
    entity: TradingAccount,
    inputs: tradingAccountInputs,
    commands: {
      place: (state, input, ctx) => work(state, ctx, (turn) => placeOrder(turn, input), [input.quote]),
      openPosition: (state, input, ctx) => work(state, ctx, (turn) => openPosition(turn, input), [input.quote]),
      replace: (state, input, ctx) => work(state, ctx, (turn) => replaceOrder(turn, input), [input.quote]),
      cancel: (state, { orderId }, ctx) => work(existing(state), ctx, (turn) => cancelOrder(turn, orderId)),
      halt: (state, input, ctx) => work(state, ctx, (turn) => halt(turn, input)),
      resume: (state, { by }, ctx) => work(state, ctx, (turn) => resume(turn, by)),
      mark(state, { quotes = {}, actions = [] }, ctx) {
        if (state === null) return { state, reply: { more: false, changed: false, open: 0 } };
        const { state: after, reply: more } = work(state, ctx, (turn) => markAccount(turn, actions), Object.values(quotes));
        return { state: after, reply: { more, changed: after !== state, open: Object.values(after?.open ?? {}).filter(waitsHere).length } };
      },
      settle(state, _input, ctx) {
        return state === null ? { state, reply: undefined } : work(state, ctx, (turn) => void applyConsequences(turn));
      },
      limitsChanged(state, limits, ctx) {
        return state === null ? { state, reply: undefined } : work(state, ctx, (turn) => updateLimits(turn, limits));
      },
      orderMoved: (state, input, ctx) => work(state, ctx, (turn) => orderMoved(turn, input)),
      adopt: (state, input, ctx) => work(state, ctx, (turn) => adopt(turn, input)),
      hasBook: (state, { brokerKey }) => ({ state, reply: state !== null && Object.hasOwn(state.books, brokerKey) }),
      addBook: (state, input, ctx) => work(state, ctx, (turn) => addBook(turn, input)),
      removeBook: (state, { brokerKey }, ctx) => work(state, ctx, (turn) => removeBook(turn, brokerKey)),
      abandonOrders: (state, input, ctx) => work(state, ctx, (turn) => abandonOrders(turn, input)),
    },
    queries: {
      get: (state) => state,
      summary: (state, { brokerKey }) => summaryOf(shown(state, ''), brokerKey, market),
      positions: (state, { brokerKey }) => (state === null ? [] : positionsOf(state, brokerKey, market)),
      preview: (state, input) => previewOf(shown(state, ''), input, market),
      openOrders: (state, { brokerKey }) => openOrdersOf(state, brokerKey),
      strategyBook: (state, { strategyId, brokerKey }) => strategyBookOf(state, strategyId, brokerKey),
      watchedSymbols: (state) => (state === null ? { symbols: [], fromBroker: [] } : symbolsOf(state)),
    },
    idleTimeoutMs: 300_000,
  });
}

function openOrdersOf(state: State, brokerKey: string | null) {
  const open = Object.entries(state?.open ?? {}).filter(([, entry]) => brokerKey === null || entry.brokerKey === brokerKey);
  return open.map(
    ([
      orderId,
      {
        terms: { symbol },
        held,
        unknown,
      },
    ]) => ({ orderId, symbol, held, unknown }),
  );
}

function symbolsOf(row: TradingAccountRow) {
  const symbols = [...watchedSymbols({ row })];
  return { symbols, fromBroker: symbols.filter((symbol) => row.marks[symbol]?.source === 'broker') };
}

/** No broker has it. */
function waitsHere({ filledBy, held }: OpenEntry): boolean {
  return filledBy === 'embedded' || held;
}

/** Whether time or the market may change it. */
function isWatched(row: TradingAccountRow): boolean {
  const { open, books, haltCancels } = row;
  return (
    haltCancels.length > 0 ||
    Object.values(open).some(waitsHere) ||
    paperStrategyBooks(row).some(({ positions }) => Object.keys(positions).length > 0) ||
    Object.values(books).some(({ book, blocked, cancelling }) => {
      const isBlocked = blocked.equity !== null || blocked.crypto !== null;
      return isBlocked || cancelling.length > 0 || Object.keys(book.positions).length > 0;
    })
  );
}

function existing(state: State): TradingAccountRow {
  if (state === null) throw new AppError('not_found', 'Order not found');
  return state;
}
