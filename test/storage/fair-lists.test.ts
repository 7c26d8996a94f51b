/** Lists of many accounts over few connections. Counted in lists, not in time. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Database, listPoolSizeFor } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';

test('fifty lists of one account at once are all answered, and a list of another account waits for none of them', async (t) => {
  const kept = await testDatabase();
  const database = new Database(kept.url, { listPoolSize: 2 });
  t.after(async () => {
    await database.close();
    await kept.close();
  });
  const order: string[] = [];
  const list = (account: string) =>
    database.list(account, async (em) => {
      await em.getConnection().execute('select pg_sleep(0.005)');
      order.push(account);
    });
  const busy = Array.from({ length: 50 }, () => list('busy'));
  const otherAccounts: Promise<void>[] = [];
  for (let i = 0; i < 3; i++) {
    otherAccounts.push(list('quiet'));
    await otherAccounts[i];
  }
  await Promise.all(busy);
  assert.equal(order.length, 53);
  const last = order.lastIndexOf('quiet');
  assert.ok(last < 15, `the third list of the quiet account was number ${last + 1}`);
  assert.deepEqual(database.listLoad, { running: 0, waiting: 0, rejected: 0 });
});

test('lists use the spare connections of PostgreSQL, and every node, also one that joins later, gets the connections it needs', () => {
  assert.equal(listPoolSizeFor(4, { max: 60, nodes: 0 }), 8, 'alone with the embedded PostgreSQL');
  assert.equal(listPoolSizeFor(4, { max: 20, nodes: 1 }), 4, 'never fewer than the default');
  assert.equal(listPoolSizeFor(2, { max: 460, nodes: 30 }), 2);
  assert.equal(listPoolSizeFor(2, { max: 100, nodes: 3 }), 5);
  for (let nodes = 1; nodes <= 30; nodes++) {
    for (const max of [50, 100, 200, 460, 1_000]) {
      const extra = listPoolSizeFor(2, { max, nodes }) - 2;
      assert.ok(extra === 0 || nodes * (15 + extra) + 15 + 10 <= max, `${nodes} nodes at ${max}`);
    }
  }
});
