/** Orders of the embedded paper broker, through the real runtime: what is filled, booked, ended and told. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PaperAccount, paperActors } from '../../../support/paper-account.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { ScriptedMarket } from '../../../support/scripted-market.ts';

// A Wednesday, in session.
const market = new ScriptedMarket('2026-11-18T15:00:00Z');
market.content({ AAPL: { bid: 99, ask: 101, last: 100, volume: 1_000 } });
const world = await testRuntime(paperActors(market));
after(() => world.close());

test('a market order fills at the content after its acceptance, at the ask, and at most a tenth of the volume of each content', async () => {
  const account = new PaperAccount(world, market);
  const placed = await account.place({ symbol: 'AAPL', side: 'buy', quantity: '150' });
  assert.equal(placed.status, 'accepted');
  assert.equal(await account.mark(), false);
  market.content();
  await account.mark();
  assert.deepEqual(await account.order(placed.id), { status: 'partially_filled', quantity: '150', filled: '100' });
  assert.equal(await account.mark(), false);
  market.content({ AAPL: { ask: 102 } });
  await account.mark();
  assert.deepEqual(await account.order(placed.id), { status: 'filled', quantity: '150', filled: '150' });
  const { book } = await account.refolded();
  assert.deepEqual((await account.state())!.books.embedded!.book, book);
  assert.equal(BigInt(book.cash), (100_000n - 100n * 101n - 50n * 102n) * 10n ** 18n);
  assert.deepEqual(account.events(), ['trade.submitted', 'trade.accepted', 'trade.partially_filled', 'trade.filled']);
  assert.deepEqual((await account.state())!.open, {});
});
