/** Orders at a broker, on the real runtime: the broker's answers and reports, and that order, book and account change in one commit. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { tradingActors } from '../../../../src/domains/trading/actors.ts';
import type { PlaceAnswer, VenueFill, VenueOrder } from '../../../../src/domains/trading/brokers/port.ts';
import { tradingAccount } from '../../../../src/domains/trading/trading-account/messages.ts';
import { tradingOrder, type VenueCalls } from '../../../../src/domains/trading/trading-order/messages.ts';
import { PaperAccount, type Wanted } from '../../../support/paper-account.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';
import { until } from '../../../support/until.ts';

const market = new ScriptedMarket('2026-11-18T15:00:00Z');
market.content({ AAPL: 100 });

/** A broker that the test controls; without a set answer a post is never answered. */
const answers: { place: PlaceAnswer | 'none'; cancels: string[]; bodies: string[] } = { place: 'none', cancels: [], bodies: [] };
const venue: VenueCalls = {
  async place(_brokerId, body, signal) {
    answers.bodies.push(body);
    if (answers.place !== 'none') return answers.place;
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'unknown', reason: 'cut' })));
  },
  lookUp: async () => ({ kind: 'known', value: { kind: 'absent' } }),
  cancel: async (_brokerId, brokerOrderId) => {
    answers.cancels.push(brokerOrderId);
    return { kind: 'requested' };
  },
};
const timing = { lookUpMs: 60_000, reconcileMs: 60_000 };
const world = await testRuntime(tradingActors({ market, venue, timing, timeoutMs: 10_000 }));
after(() => world.close());

const route = { brokerKey: 'brk_1', brokerName: 'alpaca', orderMode: 'paper', filledBy: 'broker' } as const;
const { filledBy: _, ...figures } = route;

async function atBroker(): Promise<PaperAccount> {
  const account = new PaperAccount(world, market);
  await world.actors.ask(tradingAccount, account.id, 'adopt', { ...figures, cash: '50000', positions: [] });
  return account;
}

const seen = (orderId: string, order: Partial<VenueOrder> | null, fills: VenueFill[] = []) => {
  const whole =
    order === null
      ? null
      : {
          brokerOrderId: 'venue 1',
          ourId: orderId,
          terms: null,
          reason: null,
          createdAtMs: 0,
          updatedAtMs: 0,
          averagePrice: null,
          ...order,
        };
  return world.actors.ask(tradingOrder, orderId, 'seen', { order: whole as VenueOrder | null, fills, filledSoFar: false });
};
const fill = (venueTradeId: string, quantity: string, price: string): VenueFill => {
  return { venueTradeId, brokerOrderId: 'venue 1', symbol: 'AAPL', side: 'buy', quantity, price, commission: '0', atMs: 1 };
};
const bookOf = async (account: PaperAccount) => (await account.state())!.books.brk_1!.book;
const buy = { symbol: 'AAPL', side: 'buy', quantity: '10', limitPrice: '101', timeInForce: 'gtc' } as const satisfies Wanted;

const venueOrder: VenueOrder = {
  brokerOrderId: 'venue 1',
  ourId: null,
  symbol: 'AAPL',
  assetClass: 'equity',
  side: 'buy',
  terms: null,
  state: 'working',
  filledQuantity: '0',
  averagePrice: null,
  reason: null,
  createdAtMs: 0,
  updatedAtMs: 0,
};

test("an order at a broker is submitted when it is stored, accepted by the broker's answer, and filled by its reports, each fill once", async () => {
  const account = await atBroker();
  answers.place = { kind: 'accepted', brokerOrderId: 'venue 1', order: null };
  const order = await account.place(buy, route);
  assert.equal(order.status, 'submitted');
  assert.equal(JSON.parse(order.body!).client_order_id, order.id);
  await until(async () => (await account.order(order.id)).status === 'accepted');
  const fills = [fill('t1', '4', '100'), fill('t2', '6', '101')];
  await seen(order.id, null, [fills[1]!]);
  await seen(order.id, { state: 'filled', filledQuantity: '10' }, fills);
  await seen(order.id, { state: 'filled', filledQuantity: '10' }, fills);
  assert.deepEqual(await account.order(order.id), { status: 'filled', quantity: '10', filled: '10' });
  assert.equal(BigInt((await bookOf(account)).cash), (50_000n - 400n - 606n) * 10n ** 18n);
  assert.deepEqual((await account.state())!.open, {});
  assert.deepEqual(account.events('trade.'), ['trade.submitted', 'trade.accepted', 'trade.partially_filled', 'trade.filled']);
  assert.deepEqual(
    (await account.fills()).map(({ seq, position_quantity }) => [seq, position_quantity]),
    [
      [3, '6'],
      [4, '10'],
    ],
  );
});

test("an order that the broker's answer shows as rejected is never accepted", async () => {
  const account = await atBroker();
  const order = { ...venueOrder, state: 'rejected', reason: 'no such account' } as const;
  answers.place = { kind: 'accepted', brokerOrderId: 'venue 1', order };
  const placed = await account.place(buy, route);
  await until(async () => (await account.order(placed.id)).status === 'rejected');
  assert.deepEqual(account.events('trade.'), ['trade.submitted', 'trade.rejected']);
  assert.equal((await account.orders())[0].state.rejectReason, 'no such account');
});

test('a post that is cut has an unknown outcome: its symbol accepts no more orders until it is found, and it is sent once', async () => {
  const account = await atBroker();
  answers.place = { kind: 'unknown', reason: 'cut' };
  const sent = answers.bodies.length;
  const order = await account.place(buy, route);
  await until(async () => (await account.state())!.open[order.id]!.unknown);
  await assert.rejects(account.place({ ...buy, quantity: '1' }, route), { code: 'conflict' });
  await assert.rejects(account.replace(order.id, { limitPrice: '102' }), { code: 'conflict' });
  await account.place({ ...buy, quantity: '1' }, {});
  await account.cancel(order.id);
  assert.equal((await account.order(order.id)).status, 'submitted');
  await seen(order.id, { state: 'working', filledQuantity: '0' });
  await until(() => answers.cancels.includes('venue 1'));
  assert.equal((await account.state())!.open[order.id]!.unknown, false);
  await seen(order.id, { state: 'cancelled', filledQuantity: '0' });
  assert.equal((await account.order(order.id)).status, 'cancelled');
  assert.equal(new Set(answers.bodies.slice(sent)).size, 1, 'only ever the identical body');
});

test('when a node dies while an order is sent, the outcome is unknown and the order is not sent again without a look-up', async () => {
  const account = await atBroker();
  answers.place = 'none';
  const order = await account.place(buy, route);
  await until(() => answers.bodies.some((body) => body.includes(order.id)));
  await world.crashAndRestart();
  await until(async () => (await account.state())!.open[order.id]!.unknown);
  assert.equal(answers.bodies.filter((body) => body.includes(order.id)).length, 1);
  await world.actors.ask(tradingOrder, order.id, 'settledAbsent', { reason: 'it never arrived' });
  assert.equal((await account.order(order.id)).status, 'rejected');
  assert.deepEqual((await account.state())!.open, {});
});

test('fills after the end or during a halt are booked; the end waits for the fills that the broker counts', async () => {
  const account = await atBroker();
  answers.place = { kind: 'accepted', brokerOrderId: 'venue 1', order: null };
  const order = await account.place(buy, route);
  await until(async () => (await account.order(order.id)).status === 'accepted');
  const halted = await world.actors.ask(tradingAccount, account.id, 'halt', { by: 'usr_1', reason: null });
  assert.deepEqual([halted.cancelled, halted.requested], [[], [order.id]]);
  await seen(order.id, { state: 'cancelled', filledQuantity: '3' });
  assert.equal((await account.order(order.id)).status, 'accepted');
  await seen(order.id, null, [fill('t1', '3', '100')]);
  assert.deepEqual(await account.order(order.id), { status: 'cancelled', quantity: '10', filled: '3' });
  await seen(order.id, null, [fill('t2', '1', '100')]);
  assert.equal((await bookOf(account)).positions.AAPL!.quantity, '4');
  assert.deepEqual(account.events('trade.').slice(2), ['trade.partially_filled', 'trade.cancelled', 'trade.partially_filled']);
});

test('a replacement at a broker is sent after the broker has ended the old order, reduced by its fills meanwhile', async () => {
  const account = await atBroker();
  answers.place = { kind: 'accepted', brokerOrderId: 'venue 1', order: null };
  const order = await account.place(buy, route);
  await until(async () => (await account.order(order.id)).status === 'accepted');
  const next = await account.replace(order.id, { limitPrice: '102' });
  assert.deepEqual([next.status, next.body], ['submitted', null]);
  await assert.rejects(account.replace(order.id, { limitPrice: '103' }), { code: 'conflict' });
  await seen(order.id, { state: 'cancelled', filledQuantity: '4' }, [fill('t1', '4', '100')]);
  await until(async () => (await account.order(next.id)).status === 'accepted');
  const sent = (await account.orders()).find(({ id }) => id === next.id);
  assert.deepEqual([sent.quantity, JSON.parse(sent.body).qty, JSON.parse(sent.body).limit_price], ['6', '6', '102']);
  const last = await account.replace(next.id, { limitPrice: '103' });
  await seen(next.id, { state: 'filled', filledQuantity: '6' }, [fill('t2', '6', '100')]);
  await until(async () => (await account.order(last.id)).status === 'rejected');
  assert.deepEqual((await account.state())!.open, {});
});

test('legs of a bracket wait in this service until their price is reached; one is at the broker at a time, the stop first', async () => {
  const account = await atBroker();
  answers.place = { kind: 'accepted', brokerOrderId: 'venue 1', order: null };
  market.content({ AAPL: 100 });
  const input = { ...account.input(buy, route), legs: [] as any[] };
  const leg = (role: 'stop_loss' | 'take_profit', over: Partial<Wanted>) => {
    return { orderId: account.newOrderId(), role, terms: account.terms({ ...buy, side: 'sell', limitPrice: null, ...over }) };
  };
  input.legs = [leg('take_profit', { limitPrice: '110' }), leg('stop_loss', { stopPrice: '90' })];
  const { order, legs } = await world.actors.ask(tradingAccount, account.id, 'openPosition', input);
  const [target, stop] = legs.map(({ id }) => id) as [string, string];
  await seen(order.id, { state: 'filled', filledQuantity: '10' }, [fill('t1', '10', '100')]);
  await account.mark();
  assert.deepEqual(
    legs.map(({ status, held, body }) => [status, held, body]),
    [
      ['accepted', true, null],
      ['accepted', true, null],
    ],
  );
  market.content({ AAPL: 111 });
  await account.mark();
  const rowOf = async (id: string) => (await account.orders()).find((row) => row.id === id);
  await until(async () => (await rowOf(target)).state.brokerOrderId !== null);
  market.content({ AAPL: 89 });
  await account.mark();
  assert.equal((await rowOf(stop)).held, true);
  await seen(target, { state: 'cancelled', filledQuantity: '4' }, [{ ...fill('t2', '4', '110'), side: 'sell' }]);
  await account.mark();
  const sent = await rowOf(stop);
  const body = JSON.parse(sent.body);
  assert.deepEqual([sent.held, sent.quantity, body.type, body.qty], [false, '6', 'market', '6']);
  await until(async () => (await rowOf(stop)).state.brokerOrderId !== null);
  await seen(stop, { state: 'filled', filledQuantity: '6' }, [{ ...fill('t3', '6', '88'), side: 'sell' }]);
  assert.deepEqual((await bookOf(account)).positions, {});
  assert.deepEqual((await account.state())!.open, {});
});

test("an order placed elsewhere is adopted with its fills and counts; taking over a broker's figures has no profit or loss", async () => {
  const account = await atBroker();
  const orderId = account.newOrderId();
  const terms = account.terms(buy);
  const order: VenueOrder = { ...venueOrder, terms, filledQuantity: '2', averagePrice: '100' };
  const adopting = { ...route, tradingAccountId: account.id, order };
  const adopted = await world.actors.ask(tradingOrder, orderId, 'adoptOrder', adopting);
  assert.deepEqual([adopted?.external, adopted?.status], [true, 'accepted']);
  await seen(orderId, order, [fill('t1', '2', '100')]);
  const { open } = (await account.state())!;
  assert.equal(open[orderId]!.filled, '2');
  await world.actors.ask(tradingAccount, account.id, 'adopt', {
    ...figures,
    cash: '1000',
    positions: [{ symbol: 'AAPL', assetClass: 'equity', quantity: '5', averagePrice: '80' }],
  });
  const [position] = await world.actors.query(tradingAccount, account.id, 'positions', { brokerKey: 'brk_1' });
  assert.deepEqual([position!.quantity, position!.averagePrice], ['5', '80']);
  const summary = await world.actors.query(tradingAccount, account.id, 'summary', { brokerKey: 'brk_1' });
  assert.equal(summary!.cash, '1000');
  await assert.rejects(world.actors.ask(tradingAccount, account.id, 'removeBook', { brokerKey: 'brk_1' }), { code: 'conflict' });
  await account.cancel(orderId);
  await seen(orderId, { ...order, state: 'cancelled' });
  assert.equal((await account.order(orderId)).status, 'cancelled');
  await world.actors.ask(tradingAccount, account.id, 'removeBook', { brokerKey: 'brk_1' });
  assert.equal(await world.actors.query(tradingAccount, account.id, 'summary', { brokerKey: 'brk_1' }), null);
});

test('simulated prices cause no profit or loss for holdings at a broker, and trigger no leg for a broker', async () => {
  const account = await atBroker();
  account.limits = { ...account.limits, dailyLossLimit: '100' };
  market.content({ AAPL: 100 });
  market.source = 'embedded';
  answers.place = { kind: 'accepted', brokerOrderId: 'venue 1', order: null };
  const stop = { ...buy, side: 'sell', limitPrice: null, stopPrice: '90' } as const;
  const legs = [{ orderId: account.newOrderId(), role: 'stop_loss' as const, terms: account.terms(stop) }];
  const { order } = await world.actors.ask(tradingAccount, account.id, 'openPosition', { ...account.input(buy, route), legs });
  await seen(order.id, { state: 'filled', filledQuantity: '10' }, [fill('t1', '10', '100')]);
  market.content({ AAPL: 50 });
  await account.mark();
  const summary = () => world.actors.query(tradingAccount, account.id, 'summary', { brokerKey: 'brk_1' });
  assert.deepEqual([(await summary())!.dayPnl, (await summary())!.equity], ['0', '50000']);
  assert.equal((await account.state())!.open[legs[0]!.orderId]!.held, true);
  market.source = 'file';
  market.content({ AAPL: 50 });
  await account.mark();
  assert.equal((await summary())!.dayPnl, '-500');
  assert.deepEqual(account.events('trading.'), ['trading.blocked']);
});

test('nothing recreates the book of a removed connection: no late report, no order of another program, no new order', async () => {
  const account = await atBroker();
  market.content({ AAPL: 100 });
  answers.place = { kind: 'accepted', brokerOrderId: 'venue 1', order: null };
  const { id } = await account.place(buy, route);
  await seen(id, { state: 'cancelled', filledQuantity: '0' });
  await world.actors.ask(tradingAccount, account.id, 'removeBook', { brokerKey: 'brk_1' });
  const before = [await account.state(), await account.order(id)];
  await seen(id, { state: 'cancelled', filledQuantity: '3' }, [fill('t1', '3', '100')]);
  const foreign = account.newOrderId();
  for (const state of ['working', 'filled'] as const) {
    const order: VenueOrder = { ...venueOrder, terms: account.terms(buy), state, filledQuantity: '2', averagePrice: '100' };
    assert.equal(await world.actors.ask(tradingOrder, foreign, 'adoptOrder', { ...route, tradingAccountId: account.id, order }), null);
    await seen(foreign, order, [fill('t2', '2', '100')]);
  }
  await assert.rejects(account.place(buy, route), { code: 'conflict' });
  assert.deepEqual([await account.state(), await account.order(id)], before);
  assert.equal(await world.actors.query(tradingOrder, foreign, 'get', null), null);
  assert.deepEqual(await account.fills(), []);
});
