import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { fromNano, one, toNano } from '../../../../src/domains/trading/decimal.ts';
import { isOnTick, lotOf, onTick, parseSymbol, symbolPattern, tickOf } from '../../../../src/domains/trading/market/symbol.ts';

test('the form of a symbol determines its class, and a pair has one form', () => {
  assert.deepEqual(parseSymbol('AAPL'), { symbol: 'AAPL', assetClass: 'equity' });
  assert.deepEqual(parseSymbol('BRK.B'), { symbol: 'BRK.B', assetClass: 'equity' });
  for (const text of ['BTC-USD', 'BTC/USD']) assert.deepEqual(parseSymbol(text), { symbol: 'BTC-USD', assetClass: 'crypto' });
  for (const text of ['1INCH-EUR', 'ETH-USDT', 'SOL/USDC']) assert.equal(parseSymbol(text)?.assetClass, 'crypto');
  for (const text of [
    'aapl',
    'btc-usd',
    '',
    'BTC-GBP',
    'BTC_USD',
    '1AAPL',
    'ABCDEFGHIJK',
    'AAPL ',
    'AAPL\n',
    'BTC-USD-USD',
    '-USD',
    '__proto__',
  ])
    assert.equal(parseSymbol(text), null, JSON.stringify(text));
});

test('the pattern of requests accepts exactly what the parser accepts', () => {
  const pattern = new RegExp(symbolPattern);
  const text = fc.oneof(fc.string({ maxLength: 14 }), fc.stringMatching(/^[A-Z0-9.]{1,11}([-/](USD|USDC|USDT|EUR|GBP))?$/));
  fc.assert(fc.property(text, (symbol) => assert.equal(pattern.test(symbol), parseSymbol(symbol) !== null)));
});

test('prices of equities have steps of a cent from 1 USD on and of a hundredth of a cent below; each coin has its own step', () => {
  const [share, bitcoin, doge, other] = ['AAPL', 'BTC-USD', 'DOGE-USD', 'CONSTRUCTOR-USD'].map((text) => parseSymbol(text));
  assert.equal(other, null);
  assert.equal(tickOf(share!, one), one / 100n);
  assert.equal(tickOf(share!, one - 1n), one / 10_000n);
  assert.deepEqual(
    [1.01, 0.9999, 0.0001].map((price) => isOnTick(share!, price)),
    [true, true, true],
  );
  assert.deepEqual(
    [1.005, 0.99995, 0, -1, Number.NaN, 1e-10].map((price) => isOnTick(share!, price)),
    Array(6).fill(false),
  );
  assert.equal(isOnTick(bitcoin!, 65_000.01), true);
  assert.equal(isOnTick(bitcoin!, 65_000.001), false);
  assert.equal(isOnTick(doge!, 0.12345), true);
  assert.equal(isOnTick({ symbol: 'XYZ-EUR', assetClass: 'crypto' }, 0.00000001), true);
  assert.equal(fromNano(onTick(share!, toNano(10.005))), 10);
  assert.equal(fromNano(onTick(share!, toNano(10.005), 'up')), 10.01);
  assert.equal(lotOf('equity', false), one);
  assert.equal(lotOf('equity', true), 1n);
});
