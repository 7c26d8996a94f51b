/** Reports of brokers: fills and ends of orders, and figures that a book adopts. */
import { nanoText } from '../decimal.ts';
import { parseSymbol } from '../market/symbol.ts';
import { nanoIn, nanoPrice } from '../orders/amounts.ts';
import type { AccountTurn } from './account-turn.ts';
import { keepingResult } from './day-result.ts';
import { type AdoptFigures, type BookedNow, type OrderMoved, tradingAccount } from './messages.ts';
import { priceNow } from './prices.ts';

export function orderMoved(turn: AccountTurn, input: OrderMoved): BookedNow[] {
  const { orderId, status, filled, fills, unknown, external, ...traded } = input;
  if (external !== undefined && turn.entryOf(orderId) === null) turn.setEntry(orderId, external);
  // Booked even if the order is no longer open: a late fill is a fill.
  const booked = fills.map((fill) => turn.bookFill(traded, fill));
  const entry = turn.entryOf(orderId);
  if (entry !== null && entry.unknown !== unknown) turn.setEntry(orderId, { ...entry, unknown });
  turn.updateEntry(orderId, status, filled);
  // This turn is the order's: changes of other orders follow in a turn of the account.
  turn.ctx.send(tradingAccount, turn.row.id, 'settle', {});
  return booked;
}

/** The day's result stays: adopted figures are neither profit nor loss of today. */
export function adopt(turn: AccountTurn, { cash, positions, ...route }: AdoptFigures): void {
  const before = turn.ensureBook({ ...route, filledBy: 'broker' });
  const { brokerKey } = route;
  if (cash !== null && nanoText(BigInt(before.book.cash) / 1_000_000_000n) !== cash)
    turn.enter(brokerKey, { kind: 'adopted_cash', amount: cash });
  const wanted = new Map(positions.map((position) => [position.symbol, position]));
  for (const symbol of new Set([...Object.keys(before.book.positions), ...wanted.keys()])) {
    const held = before.book.positions[symbol];
    const position = wanted.get(symbol);
    const quantity = position?.quantity ?? '0';
    if ((held?.quantity ?? '0') === nanoText(nanoIn(quantity))) continue;
    const averagePrice = position?.averagePrice ?? priceOf(turn, symbol);
    turn.enter(brokerKey, { kind: 'adopted_position', symbol, quantity, averagePrice }, { assetClass: parseSymbol(symbol)?.assetClass });
  }
  turn.setBook(brokerKey, keepingResult(before, turn.bookOf(brokerKey), priceNow(turn, before)));
}

function priceOf(turn: AccountTurn, symbol: string): string {
  const quote = turn.quoteOf(symbol);
  return quote === null ? '0' : nanoText(nanoPrice(quote.last));
}
