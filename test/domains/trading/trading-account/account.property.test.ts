/**
 * For any sequence of commands and any kill of its node: books are the fold of the journal, final states of orders never change, open
 * orders are those that have not ended, and events match the stored rows (T1 to T3, D1, D2).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import fc from 'fast-check';
import { tradingAccount } from '../../../../src/domains/trading/trading-account/messages.ts';
import { AppError } from '../../../../src/errors.ts';
import { PaperAccount, paperActors, type Wanted } from '../../../support/paper-account.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';
import { verifyAccount } from '../../../support/verify-account.ts';

const market = new ScriptedMarket('2026-11-18T15:00:00Z');
const world = await testRuntime(paperActors(market));
after(() => world.close());

const price = fc.integer({ min: 90, max: 110 });
const symbol = fc.constantFrom('AAPL', 'BTC-USD');
const wanted = fc
  .record({
    symbol,
    side: fc.constantFrom('buy', 'sell'),
    quantity: fc.constantFrom('1', '7.5', '20', '0.000000001', '60'),
    limitPrice: fc.option(price.map(String)),
    stopPrice: fc.option(price.map(String)),
    timeInForce: fc.constantFrom('gtc', 'ioc', 'day'),
  })
  .map(({ timeInForce, ...order }): Wanted => {
    const isForDay = timeInForce === 'day' && order.symbol === 'AAPL';
    return { ...(order as Wanted), timeInForce: timeInForce === 'ioc' ? 'ioc' : isForDay ? 'day' : 'gtc' };
  });
const one = fc.nat({ max: 30 });
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('place' as const), wanted, clientId: fc.option(fc.constantFrom('a', 'b', 'c', 'd')) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('bracket' as const), wanted, stop: price.map(String), target: fc.option(price.map(String)) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('content' as const), symbol, last: price, volume: fc.constantFrom(0, 50, 400, 10_000) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), one }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      one,
      price: price.map(String),
      quantity: fc.option(fc.constantFrom('3', '12')),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('split' as const), ratio: fc.constantFrom(2, 0.5, 1.5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('halt' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('night' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let days = 0;
let actions = 0;

async function take(account: PaperAccount, what: Step): Promise<unknown> {
  const anyOrder = async (n: number) => {
    const orders = await account.orders();
    return orders.length === 0 ? null : (orders[n % orders.length].id as string);
  };
  switch (what.do) {
    case 'place':
      return account.place(what.wanted, { clientOrderId: what.clientId });
    case 'bracket':
      return account.bracket(what.wanted, { stop_loss: what.stop, ...(what.target !== null && { take_profit: what.target }) });
    case 'content':
      market.content({ [what.symbol]: { bid: what.last - 0.5, ask: what.last + 0.5, last: what.last, volume: what.volume } });
      return account.mark();
    case 'cancel': {
      const id = await anyOrder(what.one);
      return id === null ? null : account.cancel(id);
    }
    case 'replace': {
      const id = await anyOrder(what.one);
      const change = { limitPrice: what.price, ...(what.quantity !== null && { quantity: what.quantity }) };
      return id === null ? null : account.replace(id, change);
    }
    case 'split': {
      const about = { id: `action ${actions++}`, symbol: 'AAPL', date: '2026-11-18', effectiveMs: market.clock.nowMs() };
      market.act({ type: 'split', ratio: what.ratio, ...about });
      market.content();
      return account.mark();
    }
    case 'halt':
      await world.actors.ask(tradingAccount, account.id, 'halt', { by: 'usr_1', reason: null });
      return world.actors.ask(tradingAccount, account.id, 'resume', { by: 'usr_1' });
    case 'night':
      days++;
      market.content({}, new Date(Date.parse('2026-11-18T15:00:00Z') + days * 86_400_000).toISOString());
      return account.mark();
    case 'crash':
      return world.crashAndRestart();
  }
}

test('books, orders, journal and events agree after any orders, marks, cancels, replacements, splits, halts and crashes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 30 }), fc.nat({ max: 29 }), async (steps, killAt) => {
      market.act();
      market.content({ AAPL: 100, 'BTC-USD': 100 });
      actions = 0;
      const account = new PaperAccount(world, market);
      const ended = new Map<string, string>();
      for (const [n, what] of steps.entries()) {
        let defect: unknown = null;
        const taken = take(account, what).catch((error) => {
          if (!(error instanceof AppError) || error.code === 'internal') defect = error;
        });
        // Killed at some moment between the first read and the answer.
        if (n === killAt && what.do !== 'crash') {
          await new Promise((resolve) => setTimeout(resolve, killAt % 4));
          await world.crashAndRestart();
        }
        await taken;
        if (defect !== null) throw defect;
        if (n % 6 === 5) await verifyAccount(world, account, ended, 'embedded', { hasSplits: actions > 0 });
      }
      await world.actors.ask(tradingAccount, account.id, 'halt', { by: 'usr_1', reason: null });
      await account.mark();
      await verifyAccount(world, account, ended, 'embedded', { hasSplits: actions > 0 });
      assert.deepEqual((await account.state())!.open, {}, 'a halt leaves nothing open');
      assert.deepEqual(world.errors, []);
    }),
    { numRuns: 12 },
  );
});
