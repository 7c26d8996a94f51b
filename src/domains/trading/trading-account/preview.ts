/** The effect that an order would have on an account, shown before a person decides. The turn that places it checks again. */
import { AppError } from '../../../errors.ts';
import { isReducing, positionValueAfter } from '../risk.ts';
import { emptyAccountBook } from './account-turn.ts';
import { asRiskOrder, type CheckedAccount, checkOrder } from './check-order.ts';
import type { TradingAccountRow } from './entity.ts';
import type { AccountMarket } from './market.ts';
import type { OrderPreview, PreviewOrder } from './messages.ts';
import { centsText, pricesOf, summaryOf } from './views.ts';

export function previewOf(before: TradingAccountRow, input: PreviewOrder, market: AccountMarket): OrderPreview {
  const { brokerKey, brokerName, orderMode, terms, quote, limits } = input;
  const marketMs = market.clock.nowMs();
  const prices = pricesOf(before, market);
  const quoteOf = (symbol: string) => (symbol === terms.symbol ? quote : prices(symbol));
  const books = { [brokerKey]: emptyAccountBook(brokerName, orderMode, marketMs), ...before.books };
  const row: TradingAccountRow = { ...before, books, limits };
  const { book } = books[brokerKey]!;
  const openOrders = Object.values(row.open)
    .filter((entry) => entry.brokerKey === brokerKey)
    .map(asRiskOrder);
  const valueWith = (quantity: string) => centsText(positionValueAfter({ order: { ...terms, quantity }, book, openOrders, limits }, quote));
  return {
    refusal: refusalOf({ row, marketMs, quoteOf, bookOf: (key) => books[key]! }, input),
    reduces: isReducing(terms, book, openOrders),
    positionValue: valueWith('0'),
    positionValueAfter: valueWith(terms.quantity),
    dayPnl: summaryOf(row, brokerKey, market)!.dayPnl,
  };
}

function refusalOf(account: CheckedAccount, { terms, brokerKey }: PreviewOrder): string | null {
  try {
    checkOrder(account, terms, brokerKey);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}
