/** The end of a node's connections while the database does not answer. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

test('a database closes within its time limit while a read and a list have no answer, and both fail', { timeout: 30_000 }, async (t) => {
  const server = await testDatabase();
  const proxy = await TcpProxy.before(server.url);
  t.after(async () => {
    await proxy.close();
    await server.close();
  });
  const database = new Database(proxy.url);
  const statements = [
    () => database.read({ text: 'select 1' }),
    () => database.list('account', (em) => em.getConnection().execute('select 1')),
  ];
  for (const statement of statements) await statement();
  const [reads, lists] = [proxy.hold(/ reads$/, 'to client'), proxy.hold(/ lists$/, 'to client')];
  const outcomes = statements.map((statement) =>
    statement().then(
      () => 'answered',
      () => 'refused',
    ),
  );
  await Promise.all([reads.arrived, lists.arrived]);
  const beganMs = performance.now();
  await database.close(100);
  const tookMs = performance.now() - beganMs;
  assert.ok(tookMs < 3_000, `closed after ${Math.round(tookMs)} ms`);
  assert.deepEqual(await Promise.all(outcomes), ['refused', 'refused']);
});

test('a closing database still answers earlier queries', { timeout: 30_000 }, async (t) => {
  const server = await testDatabase();
  t.after(() => server.close());
  const database = new Database(server.url);
  const answer = database.read({ text: 'select pg_sleep(0.3), 1 as found' });
  await database.close();
  assert.equal((await answer).rows[0].found, 1);
});
