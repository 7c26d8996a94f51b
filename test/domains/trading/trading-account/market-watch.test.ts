/** Accounts are evaluated when the market's file changes, and only those that depend on time or prices. */
import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { ActorSystem } from '../../../../src/actors/actor-system.ts';
import { loadConfig } from '../../../../src/config.ts';
import { openLocalMarket } from '../../../../src/domains/trading/market/local-market.ts';
import { localPrices } from '../../../../src/domains/trading/market/prices.ts';
import { MarkStats } from '../../../../src/domains/trading/metrics.ts';
import { maxCalls } from '../../../../src/domains/trading/trading-account/mark.ts';
import { MarketWatch } from '../../../../src/domains/trading/trading-account/market-watch.ts';
import { noLog } from '../../../../src/log.ts';
import { PaperAccount, paperActors } from '../../../support/paper-account.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until, untilWithin } from '../../../support/until.ts';

test('a new content fills matching orders within a second, also after a restart, and an idle account is not evaluated', async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const path = join(folder.path, 'market.json');
  const write = async (last: number, now: string) => {
    await writeFile(`${path}.new`, JSON.stringify({ now, quotes: { AAPL: { bid: last, ask: last, last, volume: 1_000 } } }));
    await rename(`${path}.new`, path);
  };
  await write(100, '2026-11-18T15:00:00Z');
  const open = () => openLocalMarket({ settings: loadConfig({ MARKET_DATA_FILE: path }), log: noLog });
  let market = open();
  // The actors continue with the market that was opened last, as after a restart.
  const current = new Proxy(market, { get: (_, name) => Reflect.get(market, name) });
  const world = await testRuntime(paperActors(current));
  t.after(() => world.close());
  const stats = new MarkStats();
  const watched = () => new MarketWatch({ ...world, market, prices: localPrices(market), stats, log: noLog });
  let watch = watched();
  watch.start();
  const account = new PaperAccount(world, current);
  const idle = new PaperAccount(world, current);
  await idle.cancel((await idle.place({ symbol: 'AAPL', side: 'buy', quantity: '1' })).id);
  const order = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '150' });
  const resting = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '1', limitPrice: '95', timeInForce: 'gtc' });
  await watch.round();
  assert.equal((await account.order(order.id)).filled, '0', 'nothing fills on the content that the order was accepted on');
  await write(101, '2026-11-18T15:00:01Z');
  const isFilled = async () => {
    // A mark of another account, which takes as long as the one that is waited for.
    await idle.mark();
    return (await account.order(order.id)).filled === '100';
  };
  await untilWithin(1_000, isFilled, 'the fill');

  await watch.stop();
  await market.close();
  market = open();
  assert.equal(market.quoteNow('AAPL')!.last, 101, 'a file that is there is read before anything else');
  t.after(() => market.close());
  watch = watched();
  t.after(() => watch.stop());
  await watch.round();
  assert.equal((await account.order(order.id)).filled, '100', 'the content before the restart is used up');
  watch.start();
  await write(95, '2026-11-18T15:00:02Z');
  await until(async () => (await account.order(order.id)).filled === '150' && (await account.order(resting.id)).filled === '1');
  const watching = await world.sql('select id, watched from trading_account order by watched');
  assert.deepEqual(watching, [
    { id: idle.id, watched: false },
    { id: account.id, watched: true },
  ]);
});

test('an account that needs many turns has one of them, and then every account has its turn on the newer content', async (t) => {
  const market = Object.assign(new ScriptedMarket('2026-11-18T15:00:00Z'), { onContent: () => () => {}, hasPrices: () => true });
  market.content({ AAPL: 100 });
  const world = await testRuntime(paperActors(market));
  t.after(() => world.close());
  const marked: string[] = [];
  const ask: ActorSystem['ask'] = async (actor, id, command, input) => {
    marked.push(id);
    const reply = await world.actors.ask(actor, id, command, input);
    if (marked.length === 2) market.content({ AAPL: 95 });
    if (marked.length === 2) void watch.round();
    return reply;
  };
  const actors = { ask, query: world.actors.query.bind(world.actors) };
  const prices = { quoteOf: async () => null };
  const watch = new MarketWatch({ ...world, actors, market, prices, stats: new MarkStats(), log: noLog });
  const [large, small] = [new PaperAccount(world, market), new PaperAccount(world, market)];
  const resting = { symbol: 'AAPL', side: 'buy', quantity: '1', timeInForce: 'gtc' } as const;
  const many = await Promise.all(Array.from({ length: 2 * maxCalls + 1 }, () => large.place({ ...resting, limitPrice: '97' })));
  const one = await small.place({ ...resting, limitPrice: '95' });
  market.content({ AAPL: 96 });
  await watch.round();
  assert.deepEqual(marked.slice(2, 4).toSorted(), [large.id, small.id].toSorted());
  assert.equal((await small.order(one.id)).filled, '1');
  for (const { id } of many) assert.equal((await large.order(id)).filled, '1', 'the rest follows in the same call');
});
