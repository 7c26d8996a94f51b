/** The embedded paper broker's fill rules, content by content. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { OrderTerms } from '../../../../src/domains/trading/orders/terms.ts';
import {
  acceptPaper,
  type Content,
  expiryOf,
  type PaperOrder,
  splitPaper,
  stepPaper,
} from '../../../../src/domains/trading/paper/fill-rules.ts';

const terms = (over: Partial<OrderTerms> = {}): OrderTerms => ({
  symbol: 'AAPL',
  assetClass: 'equity',
  side: 'buy',
  quantity: '10',
  orderType: 'market',
  limitPrice: null,
  stopPrice: null,
  timeInForce: 'day',
  ...over,
});
const content = (sequence: number, over: Partial<Content> = {}): Content => ({
  bid: 99,
  ask: 101,
  last: 100,
  volume: 1_000,
  atMs: sequence * 1_000,
  session: 'open',
  sequence,
  ...over,
});

/** What came of an order content by content: `quantity@price`, and how it ended. */
function play(order: PaperOrder, ...contents: Content[]): string[] {
  let current = order;
  return contents.map((each) => {
    const step = stepPaper(current, each);
    current = step.order;
    return [step.fill && `${step.fill.quantity}@${step.fill.price}`, step.ended].filter((part) => part !== null).join(' ');
  });
}
const accepted = (over: Partial<OrderTerms>, at: Content = content(1), expiresAtMs: number | null = 1_000_000) =>
  acceptPaper(terms(over), at, expiresAtMs);

test('a market order fills at the content after its acceptance, and pays the spread (P1)', () => {
  assert.deepEqual(play(accepted({}), content(1), content(2)), ['', '10@101 filled']);
  assert.deepEqual(play(accepted({ side: 'sell' }), content(2)), ['10@99 filled']);
});

test('at most a tenth of a content’s volume fills; the rest follows; volume 0 fills nothing', () => {
  const order = accepted({ quantity: '10' });
  assert.deepEqual(play(order, content(2, { volume: 55 }), content(3, { volume: 0 }), content(4, { volume: 40, ask: 102 }), content(5)), [
    '5.5@101',
    '',
    '4@102',
    '0.5@101 filled',
  ]);
});

test('a limit order fills at the market’s price when that is its price or better', () => {
  assert.deepEqual(play(accepted({ orderType: 'limit', limitPrice: '100' }), content(2), content(3, { ask: 100 })), ['', '10@100 filled']);
  assert.deepEqual(play(accepted({ orderType: 'limit', limitPrice: '100' }), content(2, { ask: 98 })), ['10@98 filled']);
  assert.deepEqual(play(accepted({ side: 'sell', orderType: 'limit', limitPrice: '100' }), content(2), content(3, { bid: 103 })), [
    '',
    '10@103 filled',
  ]);
});

test('a stop is triggered by a trade and fills at the next content, also at a worse price after a gap (P2)', () => {
  const stop = accepted({ side: 'sell', orderType: 'stop', stopPrice: '95' });
  assert.deepEqual(play(stop, content(2), content(3, { last: 95 }), content(4, { bid: 80, last: 81 })), ['', '', '10@80 filled']);
  const stopLimit = accepted({ side: 'sell', orderType: 'stop_limit', stopPrice: '95', limitPrice: '94' });
  assert.deepEqual(play(stopLimit, content(3, { last: 95 }), content(4, { bid: 80 }), content(5, { bid: 94 })), ['', '', '10@94 filled']);
});

test('a stop on the wrong side of the market is triggered when it is accepted', () => {
  assert.deepEqual(play(accepted({ orderType: 'stop', stopPrice: '90' }), content(2)), ['10@101 filled']);
});

test('outside the session nothing fills, and a day order ends at the close of its session (P4)', () => {
  const order = accepted({}, content(1, { session: 'closed' }), 9_000);
  assert.deepEqual(play(order, content(2, { session: 'closed' }), content(3, { volume: 10 }), content(9, { session: 'closed' })), [
    '',
    '1@101',
    'expired',
  ]);
  assert.equal(expiryOf('day', 9_000), 9_000);
  assert.equal(expiryOf('gtc', 9_000), null);
});

test('an ioc order fills as much as possible at the next content, and the rest is cancelled', () => {
  assert.deepEqual(play(accepted({ timeInForce: 'ioc' }), content(2, { volume: 40 })), ['4@101 cancelled']);
  assert.deepEqual(play(accepted({ timeInForce: 'ioc', orderType: 'limit', limitPrice: '90' }), content(2)), ['cancelled']);
});

test('after a split a resting order has the same value, and prices on the tick', () => {
  const resting = accepted({ orderType: 'limit', limitPrice: '100.01', timeInForce: 'gtc', quantity: '3' });
  const split = splitPaper(resting, 3_000_000_000n)!;
  assert.deepEqual([split.terms.quantity, split.terms.limitPrice], ['9', '33.33']);
});
