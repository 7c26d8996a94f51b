/** The lock on a database on a machine under heavy load: the process pauses, and connections take long. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { NodeLock } from '../../src/cluster/node-lock.ts';
import { noLog } from '../../src/log.ts';
import { testDatabase } from '../support/database.ts';
import { Link } from '../support/link.ts';
import { until } from '../support/until.ts';

async function takenLock(t: TestContext, reconnectMs?: number): Promise<{ lock: NodeLock; link: Link }> {
  const kept = await testDatabase();
  t.after(() => kept.close());
  const { hostname: host, port } = new URL(kept.url);
  const link = await Link.to({ host, port: Number(port) });
  t.after(() => link.close());
  const lock = new NodeLock({ databaseUrl: link.through(kept.url), owner: 'node/1', mode: 'exclusive', log: noLog, reconnectMs });
  await lock.take();
  t.after(() => lock.release());
  return { lock, link };
}

test('a lock is kept whose answer came while the process paused for longer than it waits for one', async (t) => {
  const { lock } = await takenLock(t);
  const used = lock.use(async (client) => {
    const answer = client.query('select 1');
    // The statement leaves in this round of the event loop, then nothing runs here.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000));
    return (await answer).rows.length;
  }, 200);
  assert.equal(await used, 1);
  assert.ok(lock.held);
});

test('a lock whose connection does not answer while the process runs is lost', async (t) => {
  const { lock, link } = await takenLock(t);
  link.silence();
  await assert.rejects(lock.use((client) => client.query('select 1'), 200));
  assert.ok(!lock.held);
});

test('a lock is taken again from a database that takes longer to connect than the first try waits', async (t) => {
  const { lock, link } = await takenLock(t, 50);
  link.delayMs = 100;
  link.breakOpen();
  await until(() => !lock.held, 'the lock to be lost');
  await until(() => lock.held, 'the lock to be held again');
});
