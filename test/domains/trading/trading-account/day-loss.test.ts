/**
 * The result of a day and the block after a loss, halts, and corporate actions: on the real runtime, with a market whose clock the test
 * sets.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { CorporateAction } from '../../../../src/domains/trading/market/port.ts';
import { tradingAccount } from '../../../../src/domains/trading/trading-account/messages.ts';
import { PaperAccount, paperActors } from '../../../support/paper-account.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';

const market = new ScriptedMarket('2026-11-18T15:00:00Z');
const world = await testRuntime(paperActors(market));
after(() => world.close());

/** An account that holds 100 AAPL, bought at 100 at that moment. */
async function holder(at: string, limit = '1000'): Promise<PaperAccount> {
  const account = new PaperAccount(world, market);
  account.limits = { ...account.limits, dailyLossLimit: limit };
  market.content({ AAPL: 100, 'BTC-USD': 50_000 }, at);
  await account.place({ symbol: 'AAPL', side: 'buy', quantity: '100' });
  market.content();
  await account.mark();
  return account;
}

async function at(account: PaperAccount, now: string, price: number): Promise<void> {
  market.content({ AAPL: price }, now);
  await account.mark();
}

const blockedUntil = async (account: PaperAccount) => {
  const { blocked } = (await account.summary())!;
  return Object.values(blocked).map((until) => until && new Date(until).toISOString());
};

test('a loss counts from the last regular close, over a weekend, and blocks each class until its own time', async () => {
  const account = await holder('2026-11-20T20:00:00Z');
  await at(account, '2026-11-20T20:59:00Z', 95);
  assert.equal((await account.summary())!.dayPnl, '-500');
  await at(account, '2026-11-23T14:31:00Z', 85.01);
  assert.equal((await account.summary())!.dayPnl, '-999');
  const resting = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', limitPrice: '80' });
  const ofCrypto = await account.place({ symbol: 'BTC-USD', side: 'buy', quantity: '0.1', limitPrice: '49000' });
  await at(account, '2026-11-23T15:00:00Z', 85);
  assert.deepEqual(account.events('trading.'), ['trading.blocked']);
  assert.deepEqual(await blockedUntil(account), ['2026-11-24T14:30:00.000Z', '2026-11-24T00:00:00.000Z']);
  for (const { id } of [resting, ofCrypto]) assert.equal((await account.order(id)).status, 'cancelled');
  const wanted = { symbol: 'AAPL', side: 'buy', quantity: '1' } as const;
  await assert.rejects(account.place(wanted), { code: 'conflict' });
  await assert.rejects(account.place({ ...wanted, side: 'sell', quantity: '101' }), { code: 'conflict' }, 'a flip does not reduce');
  const reducing = await account.place({ ...wanted, side: 'sell', quantity: '40' });
  await at(account, '2026-11-23T15:00:01Z', 85);
  assert.equal((await account.order(reducing.id)).status, 'filled');
  account.limits = { ...account.limits, dailyLossLimit: '5000' };
  await assert.rejects(account.place(wanted), { code: 'conflict' }, 'a higher limit lifts no block');
  account.limits = { ...account.limits, dailyLossLimit: '1000' };
  await at(account, '2026-11-24T00:00:00Z', 85);
  assert.deepEqual(await blockedUntil(account), ['2026-11-24T14:30:00.000Z', null]);
  await account.place({ symbol: 'BTC-USD', side: 'buy', quantity: '0.01', limitPrice: '49000' });
  await at(account, '2026-11-24T14:30:00Z', 85);
  await account.place(wanted);
  assert.deepEqual(account.events('trading.'), ['trading.blocked']);
});

test('a holiday has no close: the day before it lasts until the next one, and a half day closes at 13:00', async () => {
  const account = await holder('2026-11-25T20:00:00Z', '100000');
  await at(account, '2026-11-25T20:59:00Z', 90);
  // Thanksgiving, then a half day.
  await at(account, '2026-11-26T18:00:00Z', 90);
  await at(account, '2026-11-27T17:59:00Z', 88);
  assert.equal((await account.summary())!.dayPnl, '-200');
  await at(account, '2026-11-27T18:01:00Z', 87);
  assert.equal((await account.summary())!.dayPnl, '-100');
});

test('when clocks change over a weekend the day still begins at 16:00 in New York', async () => {
  const account = await holder('2026-10-30T18:00:00Z', '100000');
  await at(account, '2026-10-30T19:59:00Z', 90);
  await at(account, '2026-10-30T20:01:00Z', 91);
  assert.equal((await account.summary())!.dayPnl, '100', 'summer: the close was 20:00 UTC');
  await at(account, '2026-11-02T20:01:00Z', 93);
  assert.equal((await account.summary())!.dayPnl, '300', 'winter: the day goes on until 21:00 UTC');
  await at(account, '2026-11-02T21:01:00Z', 94);
  assert.equal((await account.summary())!.dayPnl, '100');
});

test('the loss of crypto counts from 00:00 UTC, together with that of equities', async () => {
  const account = await holder('2026-12-02T15:00:00Z', '1500');
  await account.place({ symbol: 'BTC-USD', side: 'buy', quantity: '0.1' });
  market.content();
  await account.mark();
  market.content({ 'BTC-USD': 45_000, AAPL: 95 }, '2026-12-02T20:59:00Z');
  assert.equal((await account.summary())!.dayPnl, '-1000');
  await account.mark();
  market.content({ AAPL: 94 }, '2026-12-02T21:01:00Z');
  await account.mark();
  assert.equal((await account.summary())!.dayPnl, '-600', 'the exchange has closed, the UTC day goes on');
  market.content({ 'BTC-USD': 40_000 }, '2026-12-03T00:00:01Z');
  await account.mark();
  assert.equal((await account.summary())!.dayPnl, '-600', 'a new day of crypto began at its last price');
  market.content({ AAPL: 84 }, '2026-12-03T14:30:00Z');
  await account.mark();
  assert.deepEqual(account.events('trading.'), ['trading.blocked'], '−500 of crypto and −1100 of equities');
});

test('a halt cancels open orders, refuses everything but cancels until it is resumed, and fills nothing more', async () => {
  const account = await holder('2026-12-07T15:00:00Z');
  const wanted = { symbol: 'AAPL', side: 'buy', quantity: '1', limitPrice: '90', timeInForce: 'gtc' } as const;
  const open = await Promise.all(Array.from({ length: 3 }, () => account.place(wanted)));
  const halt = () => world.actors.ask(tradingAccount, account.id, 'halt', { by: 'usr_1', reason: 'enough' });
  const { cancelled, requested, left } = await halt();
  assert.deepEqual([[...cancelled].sort(), requested, left], [open.map(({ id }) => id as string).sort(), [], 0]);
  await assert.rejects(account.place({ ...wanted, side: 'sell', limitPrice: '110' }), { code: 'conflict' });
  await halt();
  assert.equal((await account.summary())!.halted, true);
  await world.actors.ask(tradingAccount, account.id, 'resume', { by: 'usr_1' });
  await world.actors.ask(tradingAccount, account.id, 'resume', { by: 'usr_1' });
  await account.place(wanted);
  assert.deepEqual(account.events('trading.'), ['trading.halted', 'trading.resumed']);
});

test('a halt of more orders than fit into one turn ends all of them, and emits one event', async () => {
  const account = new PaperAccount(world, market);
  market.content({ AAPL: 100 }, '2026-12-07T16:00:00Z');
  const wanted = { symbol: 'AAPL', side: 'buy', quantity: '1', limitPrice: '90', timeInForce: 'gtc' } as const;
  await Promise.all(Array.from({ length: 120 }, () => account.place(wanted)));
  const { left } = await world.actors.ask(tradingAccount, account.id, 'halt', { by: 'usr_1', reason: null });
  assert.ok(left > 0);
  await account.mark();
  assert.deepEqual((await account.state())!.open, {});
  assert.equal(account.events('trade.cancelled').length, 120);
  assert.equal(account.events('trading.').length, 1);
});

test('a split changes positions and orders once, and a dividend is paid to holders', async () => {
  const account = await holder('2026-12-08T15:00:00Z');
  const order = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '3', limitPrice: '90.01', timeInForce: 'gtc' });
  const about = { symbol: 'AAPL', date: '2026-12-08', effectiveMs: market.clock.nowMs() };
  const split: CorporateAction = { id: 'split', type: 'split', ratio: 2, ...about };
  const dividend: CorporateAction = { id: 'dividend', type: 'dividend', amount: 0.25, ...about };
  market.act(split);
  market.content({ AAPL: 50 });
  await account.mark();
  assert.equal(await account.mark(), false);
  assert.equal(await account.held('AAPL'), '200');
  const adjusted = (await account.orders()).find(({ id }) => id === order.id);
  assert.deepEqual([adjusted.quantity, adjusted.limit_price], ['6', '45']);
  assert.equal((await account.summary())!.dayPnl, '0');
  const late = new PaperAccount(world, market);
  await late.place({ symbol: 'AAPL', side: 'buy', quantity: '10' });
  market.act(split, dividend);
  market.content({ AAPL: 49.75 });
  await account.mark();
  await late.mark();
  market.content();
  await world.crashAndRestart();
  await account.mark();
  await late.mark();
  assert.equal((await account.summary())!.cash, '90050');
  assert.equal((await account.summary())!.dayPnl, '0');
  assert.deepEqual([await late.held('AAPL'), (await late.summary())!.cash], ['10', String(100_000 - 10 * 49.75)]);
  assert.deepEqual((await account.state())!.books.embedded!.book, (await account.refolded()).book);
  const [held] = await world.actors.query(tradingAccount, account.id, 'positions', { brokerKey: null });
  assert.deepEqual([held!.averagePrice, held!.marketValue, held!.unrealised], ['50', '9950', '-50']);
});

test('a split changes opposite holdings of strategies, although the account holds nothing of the symbol', async () => {
  const account = await holder('2026-12-09T15:00:00Z');
  const own = async (side: 'buy' | 'sell', strategyId: string) => {
    const { id } = await account.place({ symbol: 'MSFT', side, quantity: '10' }, { strategyId });
    market.content();
    await account.mark();
    assert.equal((await account.order(id)).status, 'filled');
  };
  market.content({ MSFT: 100 });
  await own('buy', 'stg_a');
  await own('sell', 'stg_b');
  // Nothing else is left to be watched.
  await account.place({ symbol: 'AAPL', side: 'sell', quantity: await account.held('AAPL') });
  market.content();
  await account.mark();
  assert.deepEqual(Object.keys((await account.state())!.books.embedded!.book.positions), []);
  assert.equal((await account.state())!.watched, true);
  market.act({ id: 'msft split', type: 'split', ratio: 2, symbol: 'MSFT', date: '2026-12-09', effectiveMs: market.clock.nowMs() });
  market.content({ MSFT: 50 });
  await account.mark();
  const { strategyBooks } = (await account.state())!;
  assert.deepEqual(
    ['stg_a', 'stg_b'].map((id) => strategyBooks[`${id}/embedded`]!.positions.MSFT!.quantity),
    ['20', '-20'],
  );
  assert.deepEqual((await account.state())!.books.embedded!.book, (await account.refolded()).book);
});
