/** The checks of an order that need the account's state, in the order of priority (C10: used client ids come before, by the claim). */
import { AppError, invalidField } from '../../../errors.ts';
import { nanoText } from '../decimal.ts';
import { nanoIn } from '../orders/amounts.ts';
import type { OrderTerms } from '../orders/terms.ts';
import { checkRisk, type OpenOrder, type RiskQuote, type RiskRefusal } from '../risk.ts';
import type { AccountTurn } from './account-turn.ts';
import { isBlocked } from './day-result.ts';
import type { OpenEntry } from './entity.ts';

export const maxOpenOrders = 1_000;

/** An account and the current prices. */
export type CheckedAccount = Pick<AccountTurn, 'row' | 'marketMs' | 'bookOf'> & { quoteOf(symbol: string): RiskQuote | null };

/** Throws `conflict` or `invalid`. @param without an open order that does not count, as this one takes its place */
export function checkOrder(turn: CheckedAccount, terms: OrderTerms, brokerKey: string, without: string | null = null): void {
  const { row, marketMs } = turn;
  if (row.haltedAt !== null) throw new AppError('conflict', 'Trading is halted');
  const ofBook = Object.entries(row.open).filter(([, entry]) => entry.brokerKey === brokerKey);
  if (ofBook.some(([, entry]) => entry.unknown && entry.terms.symbol === terms.symbol))
    throw new AppError('conflict', `The outcome of an order of ${terms.symbol} at this broker is not known yet`);
  if (Object.keys(row.open).length >= maxOpenOrders) throw new AppError('conflict', `An account has ${maxOpenOrders} open orders at most`);
  const of = turn.bookOf(brokerKey);
  const open = ofBook.filter(([id]) => id !== without);
  const refusal = checkRisk({
    order: terms,
    book: of.book,
    openOrders: open.map(([, entry]) => asRiskOrder(entry)),
    quoteOf: (symbol) => turn.quoteOf(symbol),
    limits: row.limits,
    blocked: isBlocked(of, terms.assetClass, marketMs),
    marketMs,
  });
  if (refusal?.kind === 'conflict') throw refusalError(refusal);
  const isClosed = turn.quoteOf(terms.symbol)?.session === 'closed';
  if (isClosed && terms.orderType === 'market' && terms.timeInForce === 'ioc')
    throw invalidField(['body', 'time_in_force'], 'The session is closed: an ioc market order could not fill', 'session_closed', 'ioc');
  if (refusal !== null) throw refusalError(refusal);
}

/** The order as the risk checks count it. A leg counts as far as its parent is filled. */
export function asRiskOrder({ terms, filled, held, group, leg }: OpenEntry): OpenOrder {
  const { symbol, assetClass, side, orderType, limitPrice, stopPrice, quantity } = terms;
  const size = leg === null ? nanoIn(quantity) : nanoIn(leg.parentFilled) - nanoIn(leg.exited);
  const remaining = size - nanoIn(filled);
  return {
    symbol,
    assetClass,
    side,
    orderType,
    limitPrice,
    stopPrice,
    remaining: nanoText(remaining > 0n ? remaining : 0n),
    held,
    group,
  };
}

const messages: Readonly<Record<RiskRefusal['type'], string>> = {
  blocked: 'A loss of the day has reached the limit: only orders that reduce a position are taken until the next session',
  stale_quote: 'stale_quote: there is no price of the last 15 seconds',
  max_position_size: 'The position would be larger than max_position_size',
  insufficient_cash: 'There is not enough cash for this order',
  short_margin: 'There is not enough margin for this short sale',
  no_shorts_in_crypto: 'Crypto cannot be sold short',
  price_collar: 'The limit price is too far from the market',
  wash_trade: 'The order would trade with an open order of this account',
};

function refusalError({ kind, type, loc }: RiskRefusal): AppError {
  return kind === 'conflict' ? new AppError('conflict', messages[type]) : invalidField(['body', loc], messages[type], type);
}
