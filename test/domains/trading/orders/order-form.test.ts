import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkOrder } from '../../../../src/domains/trading/brokers/check-order.ts';
import { type Connection, chooseBroker, mustBeReady } from '../../../../src/domains/trading/brokers/choose-broker.ts';
import { bracketOf, type OrderForm, replaceRequestOf, termsOf } from '../../../../src/domains/trading/orders/order-form.ts';
import { numberOf } from '../../../../src/domains/trading/orders/order-view.ts';
import { AppError } from '../../../../src/errors.ts';

const order = { symbol: 'AAPL', side: 'buy', quantity: 1, order_type: 'market' } as const satisfies OrderForm;
/** The field, type and further details of each issue. */
function faults(work: () => unknown): unknown[] {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid') return error.issues!.map(({ loc, type }) => [loc.slice(1).join('.'), type]);
    throw error;
  }
  return [];
}

test('each type of order needs its prices and has no others', () => {
  const of = (form: Partial<OrderForm>) => faults(() => termsOf({ ...order, ...form }));
  assert.deepEqual(of({}), []);
  assert.deepEqual(of({ limit_price: 1, stop_price: 2 }), [
    ['limit_price', 'extra_forbidden'],
    ['stop_price', 'extra_forbidden'],
  ]);
  assert.deepEqual(of({ order_type: 'limit' }), [['limit_price', 'missing']]);
  assert.deepEqual(of({ order_type: 'limit', limit_price: null }), [['limit_price', 'missing']]);
  assert.deepEqual(of({ order_type: 'limit', limit_price: 1, stop_price: 2 }), [['stop_price', 'extra_forbidden']]);
  assert.deepEqual(of({ order_type: 'stop', limit_price: 1 }), [
    ['limit_price', 'extra_forbidden'],
    ['stop_price', 'missing'],
  ]);
  assert.deepEqual(of({ order_type: 'stop_limit' }), [
    ['limit_price', 'missing'],
    ['stop_price', 'missing'],
  ]);
  assert.deepEqual(of({ order_type: 'stop_limit', limit_price: 1, stop_price: 2 }), []);
});

test('quantities have at most nine places, prices are multiples of the step of their symbol', () => {
  const quantity = (value: number) => faults(() => termsOf({ ...order, quantity: value }));
  assert.deepEqual([quantity(0.000000001), quantity(1e-9), quantity(1e9)], [[], [], []]);
  assert.deepEqual(quantity(1e-10), [['quantity', 'decimal_max_places']]);
  assert.deepEqual(quantity(0.1234567891), [['quantity', 'decimal_max_places']]);
  const limit = (symbol: string, price: number) => faults(() => termsOf({ ...order, symbol, order_type: 'limit', limit_price: price }));
  for (const [symbol, price] of [
    ['AAPL', 1.01],
    ['AAPL', 0.9999],
    ['BTC-USD', 50_000.01],
    ['BTC/USD', 50_000.01],
    ['DOGE-USD', 0.12345],
  ] as const)
    assert.deepEqual(limit(symbol, price), [], `${symbol} ${price}`);
  for (const [symbol, price] of [
    ['AAPL', 1.001],
    ['AAPL', 0.99999],
    ['AAPL', 1e-12],
    ['AAPL', 100.0000000001],
    ['BTC-USD', 50_000.001],
    ['DOGE-USD', 0.123456],
  ] as const)
    assert.deepEqual(limit(symbol, price), [['limit_price', 'price_increment']], `${symbol} ${price}`);
  assert.deepEqual(
    faults(() => termsOf({ ...order, symbol: 'aapl' })),
    [['symbol', 'string_pattern_mismatch']],
  );
});

test('the terms are exact, with the normalized symbol, and with the default duration of the class', () => {
  assert.deepEqual(termsOf({ ...order, symbol: 'BTC/USD', quantity: 0.1, order_type: 'stop_limit', limit_price: 3.1, stop_price: 3 }), {
    symbol: 'BTC-USD',
    assetClass: 'crypto',
    side: 'buy',
    quantity: '0.1',
    orderType: 'stop_limit',
    limitPrice: '3.1',
    stopPrice: '3',
    timeInForce: 'gtc',
  });
  assert.equal(termsOf({ ...order, time_in_force: null }).timeInForce, 'day');
  assert.equal(termsOf({ ...order, time_in_force: 'ioc' }).timeInForce, 'ioc');
});

test('a replacement changes something, and has no price that the order’s type lacks', () => {
  const limit = { symbol: 'AAPL', assetClass: 'equity', orderType: 'limit' } as const;
  assert.deepEqual(
    faults(() => replaceRequestOf({}, limit)),
    [['', 'missing']],
  );
  assert.deepEqual(
    faults(() => replaceRequestOf({ limit_price: null }, limit)),
    [['', 'missing']],
  );
  assert.deepEqual(
    faults(() => replaceRequestOf({ limit_price: 1.001, stop_price: 1 }, limit)),
    [
      ['limit_price', 'price_increment'],
      ['stop_price', 'extra_forbidden'],
    ],
  );
  assert.deepEqual(replaceRequestOf({ quantity: 0.5, limit_price: 2, time_in_force: 'gtc' }, limit), {
    quantity: '0.5',
    limitPrice: '2',
    timeInForce: 'gtc',
  });
});

test('a bracket’s target is beyond its stop, and both are on the step', () => {
  const form = { symbol: 'AAPL', quantity: 1, side: 'long' } as const;
  const of = (more: object) => faults(() => bracketOf({ ...form, ...more }));
  assert.deepEqual(bracketOf({ ...form, stop_loss: 95.5, take_profit: null }), { stopLoss: '95.5', takeProfit: null });
  assert.deepEqual(of({ stop_loss: 95, take_profit: 110 }), []);
  assert.deepEqual(of({ stop_loss: 110, take_profit: 110 }), [['take_profit', 'value_error']]);
  assert.deepEqual(of({ side: 'short', stop_loss: 110, take_profit: 95 }), []);
  assert.deepEqual(of({ side: 'short', stop_loss: 95, take_profit: 110 }), [['take_profit', 'value_error']]);
  assert.deepEqual(of({ stop_loss: 95.001, take_profit: 110.001 }), [
    ['stop_loss', 'price_increment'],
    ['take_profit', 'price_increment'],
  ]);
});

test('an order goes to the named connection, else to the newest connected one of its mode that trades its class, else to the embedded broker', () => {
  const connection = (id: string, more: Partial<Connection>): Connection => ({
    id,
    brokerName: 'alpaca',
    mode: 'paper',
    filledBy: 'broker',
    status: 'connected',
    halted: false,
    ...more,
  });
  const all = [
    connection('brk_5', { status: 'error' }),
    connection('brk_4', { brokerName: 'tradier', halted: true }),
    connection('brk_3', { brokerName: 'coinbase', filledBy: 'embedded' }),
    connection('brk_2', { mode: 'live' }),
    connection('brk_1', {}),
  ];
  const choose = (requested: Partial<Parameters<typeof chooseBroker>[1]>, from = all) => {
    const choice = chooseBroker(from, { brokerId: null, mode: 'paper', assetClass: 'equity', ...requested });
    return choice === null || typeof choice === 'string' ? choice : [choice.route.brokerKey, choice.unready === null];
  };
  assert.deepEqual(choose({}), ['brk_4', false]);
  assert.deepEqual(choose({ assetClass: 'crypto' }), ['brk_3', true]);
  assert.deepEqual(choose({ mode: 'live' }), ['brk_2', true]);
  assert.deepEqual(choose({ mode: 'live' }, all.slice(0, 3)), 'no_live_broker');
  const unconnected = [connection('brk_7', { mode: 'live', status: 'error' })];
  assert.deepEqual(choose({ mode: 'live' }, unconnected), ['brk_7', false], 'the reason is that it is not connected');
  assert.deepEqual(
    choose({ mode: 'live', assetClass: 'crypto' }, [connection('brk_8', { brokerName: 'tradier', mode: 'live', status: 'error' })]),
    'no_live_broker',
  );
  assert.deepEqual(choose({}, []), ['embedded', true]);
  assert.deepEqual(choose({ brokerId: 'embedded' }), ['embedded', true]);
  assert.deepEqual(choose({ brokerId: 'embedded', mode: 'live' }), 'no_live_broker');
  assert.deepEqual(choose({ brokerId: 'brk_5' }), ['brk_5', false]);
  assert.deepEqual(choose({ brokerId: 'brk_1', mode: 'live' }), 'no_live_broker');
  assert.deepEqual(choose({ brokerId: 'brk_2' }), 'no_live_broker');
  assert.equal(choose({ brokerId: 'brk_9' }), null);
  // For the replacement of an order that is there already.
  for (const ready of ['embedded', 'brk_3', 'brk_2']) mustBeReady(all, ready);
  for (const unready of ['brk_5', 'brk_4', 'brk_9']) assert.throws(() => mustBeReady(all, unready), { code: 'conflict' });
  const route = chooseBroker(all, { brokerId: 'brk_3', mode: 'paper', assetClass: 'crypto' });
  assert.deepEqual(route, {
    route: { brokerKey: 'brk_3', brokerName: 'coinbase', orderMode: 'paper', filledBy: 'embedded' },
    unready: null,
  });
});

test('an accepted number is stored as the written decimal, and others are refused with their field', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, min: 0, max: 1e9 }),
    fc.tuple(fc.nat(1e9), fc.nat(12)).map(([n, places]) => Number(`${n}e-${places}`)),
  );
  fc.assert(
    fc.property(number, number, fc.constantFrom('AAPL', 'BTC-USD', 'DOGE-EUR'), (quantity, price, symbol) => {
      const form = { ...order, symbol, quantity, order_type: 'limit', limit_price: price } as const;
      const refused = faults(() => termsOf(form)).map((fault) => (fault as string[])[0]);
      if (refused.length > 0) return refused.every((field) => field === 'quantity' || field === 'limit_price');
      const terms = termsOf(form);
      return numberOf(terms.quantity) === quantity && numberOf(terms.limitPrice!) === price && checkOrder('embedded', terms) === null;
    }),
  );
});
