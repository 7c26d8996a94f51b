/** place_order and list_positions as an agent uses them: the approval's text, the placed order, and the agent's result. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import pg from 'pg';
import { accountActor } from '../../../../src/domains/accounts/account/account.ts';
import { account } from '../../../../src/domains/accounts/account/messages.ts';
import { accountSettingsActor } from '../../../../src/domains/accounts/account-settings/account-settings.ts';
import { accountSettings } from '../../../../src/domains/accounts/account-settings/messages.ts';
import { createCatalogue } from '../../../../src/domains/tasks/tools/catalogue.ts';
import { type Connection, noConnections } from '../../../../src/domains/trading/brokers/choose-broker.ts';
import { TradingStats } from '../../../../src/domains/trading/metrics.ts';
import { tradingTools } from '../../../../src/domains/trading/tools/trading-tools.ts';
import { tradingAccount, tradingAccountIdOf } from '../../../../src/domains/trading/trading-account/messages.ts';
import { AppError } from '../../../../src/errors.ts';
import { idPrefixes, newId } from '../../../../src/ids.ts';
import type { Mode } from '../../../../src/mode.ts';
import { checkTrading } from '../../../../src/storage/trading-check.ts';
import { everything, memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';
import { paperActors } from '../../../support/paper-account.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';

// A Wednesday, in session.
const market = new ScriptedMarket('2026-11-18T15:00:00Z');
const price = { bid: 99.99, ask: 100.01, last: 100, volume: 100_000 };
market.content({ AAPL: price, MSFT: price });
const world = await testRuntime([...paperActors(market), accountActor({ startedTasks: null as never }), accountSettingsActor]);
after(() => world.close());
const { actors } = world;
/** Before an order is asked for, and not in the turn of its account. */
let isTraded = true;
/** Whether the source of prices answers. */
let isAway = false;
let connected: readonly Connection[] = [];
const prices = {
  async quoteOf(_owner: unknown, symbol: string) {
    if (isAway) throw new AppError('unavailable', 'The broker returned no price: try again');
    return isTraded ? market.quoteNow(symbol) : null;
  },
};
const catalogue = createCatalogue(
  tradingTools({
    market: null as never,
    orderEntry: { actors, connections: { ...noConnections, of: async () => connected }, prices, stats: new TradingStats() },
    backtests: null as never,
  }),
);

/** An agent of a new account. */
function trader(mode: Mode = 'live') {
  const accountId = newId('acct_', null);
  const context = (callId: string, approvedBasis: unknown = null) => ({
    ...{ ...toolContext(memoryWorkspace()), accountId, callId, slotOwner: accountId, approvedBasis },
    authority: { ...everything, mode },
  });
  const onDefect = (defect: unknown) => assert.fail(String((defect as Error).stack));
  return {
    accountId,
    id: tradingAccountIdOf({ accountId, mode }),
    newCall: () => newId(idPrefixes.effect, accountId),
    preview: async (order: object): Promise<any> => (await catalogue.preview('place_order', order, context('eff_0'), onDefect)).result,
    place: (order: object, callId = newId(idPrefixes.effect, accountId), approvedBasis: unknown = null): Promise<any> =>
      catalogue.run('place_order', order, context(callId, approvedBasis), onDefect),
    positions: async (): Promise<any> => (await catalogue.run('list_positions', {}, context('eff_1'), onDefect)).result,
    orders: () => world.sql('select id, status from trading_order where account_id = $1', [accountId]),
    mark: () => actors.ask(tradingAccount, tradingAccountIdOf({ accountId, mode }), 'mark', {}),
  };
}
const buy = { symbol: 'AAPL', side: 'buy', quantity: 10, order_type: 'market' };

test('the approval shows the mode in capitals, the order, its value, and the rest of both limits', async () => {
  const { text, basis } = await trader().preview({ ...buy, quantity: 100 });
  assert.deepEqual(text.split('\n'), [
    'PAPER order: buy 100 AAPL, market, day, at embedded.',
    'Estimate: 10001.00 USD; ask 100.01, market open.',
    'Position limit: 10101.01 USD of 25000.00 USD with this order, 14898.99 USD left.',
    "Day's loss limit: result 0.00 USD, 2500.00 USD left of 2500.00 USD.",
  ]);
  assert.deepEqual(basis, { symbol: 'AAPL', side: 'buy', orderType: 'market', orderMode: 'paper', brokerKey: 'embedded', price: 100.01 });
  const inTest = await trader('test').preview({ ...buy, order_type: 'limit', limit_price: 95, time_in_force: 'gtc' });
  assert.match(inTest.text, /^TEST order: buy 10 AAPL, limit, limit 95, gtc, at embedded\.\nEstimate: 950\.00 USD;/);
});

test('an order that would be refused is refused before the approval, and nothing is placed', async () => {
  const agent = trader();
  const refused: [object, RegExp][] = [
    [{ ...buy, quantity: 1_000 }, /larger than max_position_size\. No order was placed/],
    [{ ...buy, symbol: 'NOSUCH' }, /NOSUCH is not traded here\. No order/],
    [{ ...buy, order_type: 'limit' }, /needs a limit_price\. No order/],
    [{ ...buy, order_type: 'stop', stop_price: 90, time_in_force: 'ioc' }, /embedded does not take this/],
    [{ ...buy, mode: 'live' }, /free plan has no trading with real money/],
  ];
  for (const [order, words] of refused) {
    assert.match((await agent.preview(order)).error, words);
    assert.match((await agent.place(order)).result.error, words);
  }
  assert.match((await trader('test').preview({ ...buy, mode: 'live' })).error, /test key trades on paper alone/);
  await agent.place({ ...buy, client_order_id: 'mine' });
  assert.match((await agent.preview({ ...buy, client_order_id: 'mine' })).error, /client_order_id is used already/);
  assert.equal((await agent.orders()).length, 1);
  await actors.ask(tradingAccount, agent.id, 'halt', { by: 'usr_1', reason: null });
  assert.match((await agent.preview(buy)).error, /Trading is halted/);
});

test('without a price the agent is told that no order was placed and that it may try again', async () => {
  const agent = trader();
  isAway = true;
  const texts = [(await agent.preview(buy)).error, (await agent.place(buy)).result.error];
  isAway = false;
  for (const text of texts)
    assert.equal(text, 'The broker returned no price: try again. No order was placed: it may be tried again later.');
  assert.deepEqual(await agent.orders(), []);
});

test('the result has the stored order after the broker has answered, the mode in capitals, the session, and the rest of the limits', async () => {
  const agent = trader();
  const { result, isError } = await agent.place(buy);
  assert.equal(isError, false);
  assert.deepEqual([result.mode, result.session, result.order.status, result.order.mode], ['PAPER', 'open', 'accepted', 'paper']);
  assert.deepEqual(result.limits, {
    ...{ max_position_size: 25_000, position_value: 1_010.1, position_size_remaining: 23_989.9 },
    ...{ daily_loss_limit: 2_500, day_pnl: 0, daily_loss_remaining: 2_500 },
  });
  market.content();
  await agent.mark();
  market.content({ AAPL: { bid: 90, ask: 90.02, last: 90 } });
  const { positions, account } = await agent.positions();
  assert.deepEqual(
    positions.map((one: any) => [one.symbol, one.mode, one.quantity, one.avg_entry_price, one.current_price, one.unrealized_pnl]),
    [['AAPL', 'PAPER', 10, 100.01, 90, -100.1]],
  );
  assert.deepEqual([account.mode, account.day_pnl, account.equity], ['PAPER', -100.1, 99_899.9]);
  const sold = await agent.preview({ ...buy, side: 'sell', quantity: 4 });
  assert.match(sold.text, /sell 4 AAPL.*\n.*bid 90.*\nIt reduces the position\.\nDay's loss limit: result -100\.10 USD, 2399\.90 USD left/);
  market.content({ AAPL: price });
});

test('a repeated call is the same order at any price, and its id has the time of the call', async () => {
  const agent = trader();
  const { basis } = await agent.preview(buy);
  const callId = agent.newCall();
  const first = await Promise.all([agent.place(buy, callId, basis), agent.place(buy, callId, basis)]);
  market.content({ AAPL: { bid: 150, ask: 150.02, last: 150 } });
  const again = await agent.place(buy, callId, basis);
  assert.deepEqual(new Set([...first, again].map(({ result }) => result.order.id)).size, 1);
  assert.equal(again.askAgain, undefined);
  assert.equal((await agent.orders()).length, 1);
  assert.equal(again.result.order.id.slice(4, 14), callId.slice(4, 14));
  market.content({ AAPL: price });
});

test('after a repeated call was refused before placing its order, an earlier run can no longer place it', async () => {
  const agent = trader();
  const callId = agent.newCall();
  const ended = actors.repeated.begin([callId]);
  isTraded = false;
  const refused = await agent.place(buy, callId);
  isTraded = true;
  ended();
  assert.match(JSON.stringify(refused), /AAPL is not traded here\. No order was placed/);
  const late = await agent.place(buy, callId);
  assert.equal(late.isError, true, 'what the dead run asks');
  assert.deepEqual(await agent.orders(), []);
  const placed = agent.newCall();
  const { result } = await agent.place(buy, placed);
  const again = actors.repeated.begin([placed]);
  isTraded = false;
  const repeated = await agent.place(buy, placed);
  isTraded = true;
  again();
  assert.equal(repeated.result.order.id, result.order.id, 'a placed order is answered again, whatever is refused now');
  assert.equal((await agent.orders()).length, 1);
});

test('another approval is needed only if the price has moved beyond the collar or the order was changed to another symbol', async () => {
  const agent = trader();
  const { basis } = await agent.preview(buy);
  const asked = async (order: object, ask: number, approved: unknown = basis) => {
    market.content({ AAPL: { bid: ask - 0.02, ask, last: ask } });
    const outcome = await agent.place(order, agent.newCall(), approved);
    return outcome.askAgain ?? null;
  };
  // One percent of 100.01, up and down.
  for (const near of [101.01, 99.01]) assert.equal(await asked(buy, near), null, String(near));
  for (const far of [101.02, 99]) {
    const again = await asked(buy, far);
    assert.match(
      again.text,
      /^The price has moved by -?1\.0\d % since this was approved, from 100\.01 to .*: more than the collar of 1 %\.\nPAPER order/,
    );
    assert.equal(again.basis.price, far);
  }
  const limit = { ...buy, order_type: 'limit', limit_price: 105 };
  const asLimit = { ...basis, orderType: 'limit' };
  assert.equal(await asked(limit, 105, asLimit), null, 'a limit price has a collar of its own: 10 percent');
  assert.match((await asked({ ...limit, limit_price: 115 }, 110.02, asLimit)).text, /moved by 10\.01 %/);
  assert.match((await asked({ ...buy, symbol: 'MSFT' }, 100.01)).text, /^The order that was approved differs in: symbol\./);
  await actors.ask(accountSettings, agent.accountId, 'change', { marketCollarBp: 500 });
  assert.equal(await asked(buy, 104), null, 'the collar is a setting');
  assert.equal((await agent.orders()).length, 4);
});

test('an edit to real money, another broker or another order type needs a new approval whose text names it', async () => {
  const agent = trader();
  const paid = { plan: 'pro', paymentId: newId('cs_', null), billingPeriod: 'monthly', amountMinor: 4_900, processorId: null } as const;
  await actors.ask(account, agent.accountId, 'create', { registrationId: agent.accountId, claimedBy: agent.accountId });
  await actors.ask(account, agent.accountId, 'changePlan', paid);
  await actors.ask(accountSettings, agent.accountId, 'change', { liveTradingEnabled: true });
  const { basis } = await agent.preview(buy);
  const live = { id: 'brk_live', brokerName: 'alpaca' as const, mode: 'live' as const, filledBy: 'broker' as const };
  const paper = { ...live, id: 'brk_paper', mode: 'paper' as const };
  connected = [live, paper].map((one) => ({ ...one, status: 'connected' as const, halted: false }));
  const again = async (order: object, approved: unknown = basis) => (await agent.place(order, agent.newCall(), approved)).askAgain.text;
  const toLive = await again({ ...buy, broker_id: 'embedded' }, { ...basis, orderMode: 'live', brokerKey: 'brk_live' });
  assert.match(toLive, /^The order that was approved differs in: mode, broker\.\nPAPER order/);
  assert.match(
    await again({ ...buy, mode: 'live' }),
    /^The order that was approved differs in: mode, broker\.\nLIVE order with real money: .* at alpaca\./,
  );
  assert.match(await again({ ...buy, broker_id: 'brk_paper' }), /^The order that was approved differs in: broker\.\nPAPER order/);
  const limit = { ...buy, order_type: 'limit', limit_price: 100, broker_id: 'embedded' };
  assert.match(await again(limit), /^The order that was approved differs in: order_type\.\nPAPER order/);
  assert.match(await again(buy, { symbol: 'AAPL', side: 'buy', price: 100.01 }), /differs in/, 'an approval that names no mode');
  connected = [];
  assert.deepEqual(await agent.orders(), []);
});

test('the books are correct after trades of agents', async () => {
  const client = new pg.Client({ connectionString: world.url });
  await client.connect();
  const { findings, live } = await checkTrading(client, null);
  await client.end();
  assert.deepEqual(findings, []);
  assert.ok(live.fills > 0 && live.openOrders > 0);
});
