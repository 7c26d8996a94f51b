/**
 * Corporate actions on positions and orders at the embedded paper broker; brokers apply them to their own books. Each is applied once, by
 * its id: splits change positions and open orders, dividends are cash, a new name moves the position and ends the orders.
 */
import { type Book, heldQuantity } from '../book.ts';
import { divideHalfEven, nanoText, one, roundedToNano } from '../decimal.ts';
import type { CorporateAction } from '../market/port.ts';
import { nanoIn } from '../orders/amounts.ts';
import { splitPaper } from '../paper/fill-rules.ts';
import { tradingOrder } from '../trading-order/messages.ts';
import type { AccountTurn } from './account-turn.ts';
import { embeddedBook, type Mark, type OpenEntry, type TradingAccountRow } from './entity.ts';
import { strategyBookKey } from './messages.ts';

/** @param given of other sources than this node's market */
export function applyActions(turn: AccountTurn, given: readonly CorporateAction[]): void {
  for (const symbol of Object.keys(turn.row.actions)) {
    const isOfBroker = turn.row.marks[symbol]?.source === 'broker' && turn.market.name !== 'file';
    const actions = isOfBroker ? given.filter((action) => action.symbol === symbol) : turn.market.actionsNow(symbol);
    for (const action of actions) {
      if (action.effectiveMs > turn.marketMs || turn.row.actions[symbol]?.includes(action.id) !== false) continue;
      turn.row = { ...turn.row, actions: { ...turn.row.actions, [symbol]: [...turn.row.actions[symbol]!, action.id] } };
      apply(turn, action);
    }
  }
}

function apply(turn: AccountTurn, action: CorporateAction): void {
  const { symbol, id: actionId } = action;
  // Strategies may hold opposite positions in a symbol of which the account holds nothing.
  const isHeld = (of: string) =>
    [turn.bookOf(embeddedBook).book, ...paperStrategyBooks(turn.row)].some((book) => heldQuantity(book, of) !== 0n);
  const enter = (entry: Parameters<AccountTurn['enter']>[1]) => {
    turn.enter(embeddedBook, entry, { assetClass: 'equity', actionId });
    for (const key of Object.keys(turn.row.strategyBooks)) if (isOnPaper(key)) turn.changeStrategy(key, entry);
  };
  switch (action.type) {
    case 'split': {
      const ratio = roundedToNano(action.ratio);
      if (isHeld(symbol)) enter({ kind: 'split', symbol, ratio: nanoText(ratio) });
      for (const [orderId, entry] of openOf(turn, symbol)) splitOrder(turn, orderId, entry, ratio);
      const mark = turn.row.marks[symbol];
      if (mark !== undefined) turn.row = { ...turn.row, marks: { ...turn.row.marks, [symbol]: splitMark(mark, action.ratio) } };
      return;
    }
    case 'dividend':
      if (isHeld(symbol)) enter({ kind: 'dividend', symbol, amount: nanoText(roundedToNano(action.amount)) });
      return;
    case 'symbol_change':
      for (const [orderId] of openOf(turn, action.from)) turn.cancelOrder(orderId);
      if (isHeld(action.from)) enter({ kind: 'symbol_change', from: action.from, to: symbol });
  }
}

/** The holdings of strategies at the embedded paper broker. */
export function paperStrategyBooks({ strategyBooks }: Pick<TradingAccountRow, 'strategyBooks'>): Book[] {
  return Object.entries(strategyBooks).flatMap(([key, book]) => (isOnPaper(key) ? [book] : []));
}

function isOnPaper(strategyBook: string): boolean {
  return strategyBook.endsWith(strategyBookKey('', embeddedBook));
}

function splitOrder(turn: AccountTurn, orderId: string, entry: OpenEntry, ratio: bigint): void {
  const { terms, filled, sequence, triggered, expiresAtMs } = entry;
  const split = splitPaper({ terms, filled, sequence, triggered, expiresAtMs }, ratio);
  if (split === null || nanoIn(split.filled) >= nanoIn(split.terms.quantity)) {
    // Nothing tradable is left of it.
    turn.cancelOrder(orderId);
    return;
  }
  const times = (text: string) => nanoText(divideHalfEven(nanoIn(text) * ratio, one));
  const leg = entry.leg === null ? null : { ...entry.leg, parentFilled: times(entry.leg.parentFilled), exited: times(entry.leg.exited) };
  turn.calls++;
  turn.ctx.callColocated(tradingOrder, orderId, 'adjust', { terms: split.terms, filled: split.filled });
  turn.setEntry(orderId, { ...entry, ...split, leg });
}

function openOf(turn: AccountTurn, symbol: string): [string, OpenEntry][] {
  return Object.entries(turn.row.open).filter(([, { terms, filledBy, brokerKey }]) => {
    return terms.symbol === symbol && filledBy === 'embedded' && brokerKey === embeddedBook;
  });
}

/** Until the next content the last price is adjusted to the new shares. */
function splitMark(mark: Mark, ratio: number): Mark {
  const divided = (price: number) => Number((price / ratio).toFixed(9));
  return { ...mark, bid: divided(mark.bid), ask: divided(mark.ask), last: divided(mark.last) };
}
