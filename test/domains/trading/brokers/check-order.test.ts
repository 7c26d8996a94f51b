/** Which orders each broker accepts, by its table. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type BrokerName, shownCapabilities } from '../../../../src/domains/trading/brokers/capabilities.ts';
import { checkOrder } from '../../../../src/domains/trading/brokers/check-order.ts';
import type { OrderTerms } from '../../../../src/domains/trading/orders/terms.ts';

const shares: OrderTerms = {
  symbol: 'AAPL',
  assetClass: 'equity',
  side: 'buy',
  quantity: '1',
  orderType: 'market',
  limitPrice: null,
  stopPrice: null,
  timeInForce: 'day',
};
const coins: OrderTerms = { ...shares, symbol: 'BTC-USD', assetClass: 'crypto', timeInForce: 'gtc' };

function fault(broker: BrokerName, terms: OrderTerms, held?: bigint): unknown {
  const found = checkOrder(broker, terms, held);
  if (found === null) return null;
  return found.type === 'price_increment' ? [found.loc, found.ctx.tick] : [found.loc, found.ctx.allowed];
}

test('an unsupported value is refused with its field and the allowed values', () => {
  assert.deepEqual(checkOrder('tradier', { ...shares, timeInForce: 'ioc' }), {
    type: 'order_not_supported_by_broker',
    loc: 'time_in_force',
    ctx: { broker_name: 'tradier', asset_class: 'equity', allowed: ['day', 'gtc'] },
  });
  assert.deepEqual(fault('tradier', coins), ['symbol', ['equity']]);
  assert.deepEqual(fault('coinbase', shares), ['symbol', ['crypto']]);
  assert.deepEqual(fault('coinbase', { ...coins, orderType: 'stop', stopPrice: '5' }), ['order_type', ['market', 'limit', 'stop_limit']]);
  assert.deepEqual(fault('embedded', { ...shares, orderType: 'stop', stopPrice: '5', timeInForce: 'ioc' }), [
    'time_in_force',
    ['day', 'gtc'],
  ]);
  for (const broker of ['embedded', 'alpaca', 'tradier'] as const) assert.equal(fault(broker, shares), null);
});

test('fractions are accepted where the table allows them, in multiples of the lot', () => {
  assert.equal(fault('embedded', { ...shares, quantity: '0.000000001', orderType: 'limit', limitPrice: '5' }), null);
  assert.equal(fault('alpaca', { ...shares, quantity: '0.5' }), null);
  assert.deepEqual(fault('alpaca', { ...shares, quantity: '0.5', timeInForce: 'gtc' }), ['quantity', ['whole numbers']]);
  assert.deepEqual(fault('tradier', { ...shares, quantity: '1.5' }), ['quantity', ['whole numbers']]);
  assert.deepEqual(fault('coinbase', { ...coins, quantity: '0.000000001' }), ['quantity', ['multiples of 0.00000001']]);
});

test('prices finer than the tick are refused with the field', () => {
  const limit = (limitPrice: string) => ({ ...shares, orderType: 'limit', limitPrice }) as const;
  assert.deepEqual(fault('embedded', limit('1.001')), ['limit_price', 0.01]);
  assert.equal(fault('embedded', limit('0.9999')), null);
  assert.deepEqual(fault('embedded', { ...shares, orderType: 'stop', stopPrice: '0.00001' }), ['stop_price', 0.0001]);
});

test('only the embedded broker lets one order close a position and open the other side', () => {
  const sell: OrderTerms = { ...shares, side: 'sell', quantity: '2' };
  assert.deepEqual(fault('alpaca', sell, 1_000_000_000n), ['quantity', ['at most 1']]);
  assert.equal(fault('alpaca', sell, 2_000_000_000n), null);
  assert.equal(fault('embedded', sell, 1_000_000_000n), null);
});

test('the table for callers lists only classes that the broker trades', () => {
  const shown = shownCapabilities('tradier', 'paper');
  assert.deepEqual(Object.keys(shown.asset_classes), ['equity']);
  const { order_types, fractional, lot, min_quantity, shorts } = shown.asset_classes.equity;
  assert.deepEqual(
    { order_types: order_types.market, fractional, lot, min_quantity, shorts },
    { order_types: ['day', 'gtc'], fractional: [], lot: 1, min_quantity: 1, shorts: true },
  );
});
