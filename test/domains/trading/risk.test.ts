/** The risk checks of one order. Quotes: bid 99, ask 101, last 100. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type BookEntry, foldBook } from '../../../src/domains/trading/book.ts';
import { one } from '../../../src/domains/trading/decimal.ts';
import type { OrderTerms } from '../../../src/domains/trading/orders/terms.ts';
import { buyingPower, checkRisk, isLossBreach, isReducing, type OpenOrder, type RiskInput } from '../../../src/domains/trading/risk.ts';

const quote = { bid: 99, ask: 101, last: 100, atMs: 0, session: 'open' } as const;
const limits = { maxPositionSize: '25000', priceCollarPct: 10, marketCollarPct: 1 };
const order = (side: 'buy' | 'sell', quantity: string, over: Partial<OrderTerms> = {}): OrderTerms => ({
  symbol: 'AAPL',
  assetClass: 'equity',
  side,
  quantity,
  orderType: 'market',
  limitPrice: null,
  stopPrice: null,
  timeInForce: 'day',
  ...over,
});
const limit = (limitPrice: string): Partial<OrderTerms> => ({ orderType: 'limit', limitPrice });
const open = (side: 'buy' | 'sell', remaining: string, over: Partial<OpenOrder> = {}): OpenOrder => ({
  ...order(side, remaining),
  remaining,
  held: false,
  group: null,
  ...over,
});
const held = (side: 'buy' | 'sell', quantity: string, price = '100'): BookEntry => ({
  kind: 'fill',
  symbol: 'AAPL',
  side,
  quantity,
  price,
  commission: '0',
});

function refused(terms: OrderTerms, over: Partial<RiskInput> & { entries?: BookEntry[] } = {}): string | null {
  const book = foldBook([{ kind: 'deposit', amount: '100000' }, ...(over.entries ?? [])]);
  return (
    checkRisk({ order: terms, book, openOrders: [], quoteOf: () => quote, limits, blocked: false, marketMs: 0, ...over })?.type ?? null
  );
}

test('a position counts with the open orders of its side, market orders with the collar, up to the limit and not beyond', () => {
  // 25,000 / (101 × 1.01) = 245.07
  assert.equal(refused(order('buy', '245')), null);
  assert.equal(refused(order('buy', '246')), 'max_position_size');
  assert.equal(refused(order('buy', '145'), { entries: [held('buy', '100')] }), null);
  assert.equal(refused(order('buy', '149'), { entries: [held('buy', '100')] }), 'max_position_size');
  assert.equal(refused(order('buy', '145'), { openOrders: [open('buy', '100')] }), null);
  assert.equal(refused(order('buy', '146'), { openOrders: [open('buy', '100')] }), 'max_position_size');
  assert.equal(refused(order('buy', '146'), { openOrders: [open('sell', '100', limit('110'))] }), null);
});

test('a hundred orders checked in sequence cannot exceed the limit together', () => {
  const openOrders: OpenOrder[] = [];
  for (let i = 0; i < 100; i++) {
    if (refused(order('buy', '10', limit('100')), { openOrders }) === null) openOrders.push(open('buy', '10', limit('100')));
  }
  // Each counts at the ask of 101: 24 × 1,010 is the most below 25,000.
  assert.equal(openOrders.length, 24);
});

test('a stop order counts at its stop or the quote, the larger', () => {
  assert.equal(refused(order('buy', '200', { orderType: 'stop', stopPrice: '125' })), null);
  assert.equal(refused(order('buy', '201', { orderType: 'stop', stopPrice: '125' })), 'max_position_size');
});

test('purchases need cash beyond that of open buys and of short sales', () => {
  const rich = { limits: { ...limits, maxPositionSize: '10000000' } };
  assert.equal(refused(order('buy', '990', limit('101')), rich), null);
  assert.equal(refused(order('buy', '991', limit('101')), rich), 'insufficient_cash');
  assert.equal(
    refused(order('buy', '891', limit('101')), { ...rich, openOrders: [open('buy', '100', limit('101'))] }),
    'insufficient_cash',
  );
  assert.equal(
    refused(order('buy', '991', { ...limit('101'), symbol: 'MSFT' }), { ...rich, entries: [held('sell', '100')] }),
    'insufficient_cash',
  );
  const book = foldBook([{ kind: 'deposit', amount: '1000' }, held('sell', '3')]);
  assert.equal(buyingPower({ book, openOrders: [open('buy', '4', limit('101'))], quoteOf: () => quote, limits }) / one / one, 899n);
});

test('a short sale needs own cash of half its value at the quote', () => {
  const rich = { limits: { ...limits, maxPositionSize: '10000000' } };
  // 100,000 = 0.5 × q × 100
  assert.equal(refused(order('sell', '2000', limit('100')), rich), null);
  assert.equal(refused(order('sell', '2001', limit('100')), rich), 'short_margin');
  assert.equal(refused(order('sell', '1001', limit('100')), { ...rich, openOrders: [open('sell', '1000', limit('100'))] }), 'short_margin');
});

test('crypto cannot be sold short', () => {
  const crypto = { symbol: 'BTC-USD', assetClass: 'crypto' } as const;
  assert.equal(refused(order('sell', '1', crypto)), 'no_shorts_in_crypto');
});

test('a limit price far from the quote is refused on the harmful side only', () => {
  assert.equal(refused(order('buy', '1', limit('111.10'))), null);
  assert.equal(refused(order('buy', '1', limit('111.11'))), 'price_collar');
  assert.equal(refused(order('buy', '1', limit('1'))), null);
  assert.equal(refused(order('sell', '1', limit('89.10'))), null);
  assert.equal(refused(order('sell', '1', limit('89.09'))), 'price_collar');
});

test('an order that would trade with a resting order of the same account is refused', () => {
  const resting = [open('sell', '1', limit('101'))];
  assert.equal(refused(order('buy', '1'), { openOrders: resting }), 'wash_trade');
  assert.equal(refused(order('buy', '1', limit('101')), { openOrders: resting }), 'wash_trade');
  assert.equal(refused(order('buy', '1', limit('100.99')), { openOrders: resting }), null);
  assert.equal(refused(order('buy', '1'), { openOrders: [{ ...resting[0]!, held: true }] }), null);
  assert.equal(refused(order('buy', '1'), { openOrders: [open('sell', '1', { orderType: 'stop', stopPrice: '90' })] }), null);
});

test('a quote older than 15 seconds is stale only during the session', () => {
  assert.equal(refused(order('buy', '1'), { marketMs: 15_000 }), null);
  assert.equal(refused(order('buy', '1'), { marketMs: 15_001 }), 'stale_quote');
  assert.equal(refused(order('buy', '1'), { marketMs: 15_001, quoteOf: () => ({ ...quote, session: 'closed' }) }), null);
  assert.equal(refused(order('buy', '1'), { quoteOf: () => null }), 'stale_quote');
});

test('during a block only orders that reduce a position are accepted, without limit checks', () => {
  const blocked = { blocked: true, entries: [held('buy', '500')] };
  assert.equal(refused(order('buy', '1'), blocked), 'blocked');
  assert.equal(refused(order('sell', '500'), blocked), null);
  assert.equal(refused(order('sell', '501'), blocked), 'blocked');
  assert.equal(refused(order('sell', '401'), { ...blocked, openOrders: [open('sell', '100', limit('110'))] }), 'blocked');
});

test('two legs of which only one can fill count once', () => {
  const book = foldBook([held('buy', '10')]);
  const legs = [
    open('sell', '10', { ...limit('110'), group: 'g' }),
    open('sell', '10', { orderType: 'stop', stopPrice: '90', group: 'g' }),
  ];
  assert.equal(isReducing(order('sell', '1'), book, legs), false);
  assert.equal(isReducing(order('sell', '1'), foldBook([held('buy', '11')]), legs), true);
});

test('a loss equal to the limit blocks', () => {
  assert.deepEqual([isLossBreach(-250_000n, 250_000n), isLossBreach(-249_999n, 250_000n)], [true, false]);
});
