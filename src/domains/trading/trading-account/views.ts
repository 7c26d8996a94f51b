/** An account's views, at current prices. */

import { derivedId } from '../../../ids.ts';
import { averageEntryPrice, type Book, emptyBook, equityOf, unrealised } from '../book.ts';
import { centsOfProduct, divideHalfEven, nanoText, one } from '../decimal.ts';
import { tradingIds } from '../ids.ts';
import type { Quote } from '../market/port.ts';
import { type AssetClass, assetClasses, parseSymbol } from '../market/symbol.ts';
import { nanoIn } from '../orders/amounts.ts';
import { buyingPower, type RiskQuote } from '../risk.ts';
import { asRiskOrder } from './check-order.ts';
import { dayResult, isBlocked, onDayOf, type PriceOf } from './day-result.ts';
import type { AccountBook, TradingAccountRow } from './entity.ts';
import type { AccountMarket } from './market.ts';
import { type AccountSummary, type PositionSummary, strategyBookKey } from './messages.ts';
import { closingPrice, countsFor } from './prices.ts';

type Priced = Pick<Quote, 'bid' | 'ask' | 'last' | 'atMs' | 'session' | 'source'>;
type Prices = (symbol: string) => Priced | null;

export function summaryOf(row: TradingAccountRow, brokerKey: string, market: AccountMarket): AccountSummary | null {
  if (!Object.hasOwn(row.books, brokerKey)) return null;
  const marketMs = market.clock.nowMs();
  const prices = pricesOf(row, market);
  const book = row.books[brokerKey]!;
  const now = closing(book, prices);
  const of = onDayOf(book, marketMs, () => closing(book, (symbol) => markOf(row, symbol) ?? prices(symbol)));
  const open = Object.values(row.open).filter((entry) => entry.brokerKey === brokerKey);
  const quoteOf = (symbol: string): RiskQuote | null => prices(symbol);
  const power = buyingPower({ book: of.book, openOrders: open.map(asRiskOrder), quoteOf, limits: row.limits });
  const blocked = blockedOf(of, marketMs);
  const untils = [blocked.equity, blocked.crypto].filter((until) => until !== null);
  const ages = Object.keys(of.book.positions).flatMap((symbol) => prices(symbol)?.atMs ?? []);
  return {
    brokerKey,
    brokerName: of.brokerName,
    orderMode: of.orderMode,
    cash: centsText(BigInt(of.book.cash)),
    equity: centsText(equityOf(of.book, now)),
    buyingPower: centsText(power > 0n ? power : 0n),
    dayPnl: centsText(dayResult(of, now)),
    limits: row.limits,
    blocked,
    blockedUntilMs: untils.length === 0 ? null : Math.max(...untils),
    halted: row.haltedAt !== null,
    atMs: ages.length === 0 ? marketMs : Math.min(...ages),
  };
}

export function positionsOf(row: TradingAccountRow, brokerKey: string | null, market: AccountMarket): PositionSummary[] {
  const prices = pricesOf(row, market);
  const books = Object.entries(row.books).filter(([key]) => brokerKey === null || key === brokerKey);
  const all = books.flatMap(([key, of]) => positionsIn(row, key, of, prices));
  return all.sort((a, b) => (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : 0));
}

export function strategyBookOf(row: TradingAccountRow | null, strategyId: string, brokerKey: string): Book {
  return row?.strategyBooks[strategyBookKey(strategyId, brokerKey)] ?? emptyBook();
}

function positionsIn(row: TradingAccountRow, brokerKey: string, of: AccountBook, prices: Prices): PositionSummary[] {
  const { book, brokerName, orderMode } = of;
  return Object.entries(book.positions).map(([symbol, held]) => {
    const quantity = nanoIn(held.quantity);
    const price = closing(of, prices)(symbol, quantity);
    const quote = price === null ? null : prices(symbol);
    const value = price === null ? BigInt(held.cost) : quantity * price;
    return {
      id: derivedId(tradingIds.position, row.accountId, row.id, brokerKey, symbol),
      brokerKey,
      brokerName,
      orderMode,
      symbol,
      assetClass: parseSymbol(symbol)?.assetClass ?? 'equity',
      quantity: held.quantity,
      averagePrice: nanoText(averageEntryPrice(held)),
      price: price === null ? null : nanoText(price),
      marketValue: centsText(value),
      unrealised: centsText(price === null ? 0n : unrealised(held, price)),
      external: held.external === true,
      atMs: quote?.atMs ?? null,
    };
  });
}

function blockedOf(of: AccountBook, marketMs: number): Record<AssetClass, number | null> {
  const until = (assetClass: AssetClass) => (isBlocked(of, assetClass, marketMs) ? of.blocked[assetClass] : null);
  const [equity, crypto] = assetClasses.map(until);
  return { equity: equity!, crypto: crypto! };
}

/** The quote of this node's market; for brokers the last reported one. */
export function pricesOf(row: TradingAccountRow, market: AccountMarket): Prices {
  return (symbol) => {
    const isOfBroker = row.marks[symbol]?.source === 'broker' && market.name !== 'file';
    return (isOfBroker ? null : market.quoteNow(symbol)) ?? markOf(row, symbol);
  };
}

function markOf({ marks }: TradingAccountRow, symbol: string): Priced | null {
  return Object.hasOwn(marks, symbol) ? { ...marks[symbol]!, session: 'closed' } : null;
}

function closing(of: AccountBook, prices: Prices): PriceOf {
  return (symbol, quantity) => {
    const quote = prices(symbol);
    return quote === null || !countsFor(of, quote.source) ? null : closingPrice(quote, quantity);
  };
}

export function centsText(product: bigint): string {
  return nanoText(divideHalfEven(centsOfProduct(product) * one, 100n));
}
