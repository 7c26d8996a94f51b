/** The cost of reads of the event table depends on their result, not on the number of events of an account. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import fc from 'fast-check';
import type pg from 'pg';
import { oldestKeptSeq } from '../../src/edge/stream/oldest-event.ts';
import { commitSession } from '../../src/storage/commit-connection.ts';
import { Database } from '../../src/storage/database.ts';
import { newestSeqs } from '../../src/storage/newest-events.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let server: TestDatabase;
let database: Database;

before(async () => {
  server = await testDatabase();
  database = new Database(server.url);
});
after(async () => {
  await database.close();
  await server.close();
});

async function put(accountId: string, seqs: readonly number[], daysOld: readonly number[]): Promise<void> {
  await database.pool.query(
    `insert into event select $1, seq, $1 || '/' || seq, 'x', null, '{}', now() - days * interval '1 day' from unnest($2::bigint[], $3::float8[]) e(seq, days)`,
    [accountId, seqs, daysOld],
  );
  await database.pool.query('insert into event_counter values ($1, $2)', [accountId, seqs.at(-1) ?? 0]);
}

test('the oldest kept event is found, whichever events are missing before and after it', async () => {
  let accounts = 0;
  const stream = fc.record({
    gaps: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 }),
    old: fc.nat({ max: 40 }),
    after: fc.nat({ max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(stream, async ({ gaps, old, after }) => {
      const account = `acct_${accounts++}`;
      let seq = 0;
      const seqs = gaps.map((gap) => (seq += gap));
      await put(
        account,
        seqs,
        seqs.map((_, i) => (i < old ? 9 : 1)),
      );
      assert.equal(await oldestKeptSeq(database, account, seq + after, 7), seqs[old] ?? seq + after + 1);
    }),
    { numRuns: 60 },
  );
});

test('neither the oldest event nor the number of a new event is found by a scan of all events of the account', async (t) => {
  const count = 40_000;
  const seqs = Array.from({ length: count }, (_, i) => i + 1);
  await put(
    'large',
    seqs,
    seqs.map((seq) => (seq > count - 20 ? 1 : 30)),
  );
  await put('small', [1], [1]);
  await database.pool.query('vacuum analyze event');
  const client = await database.pool.connect();
  t.after(() => client.release(true));
  // As the connections of commits are.
  await client.query(commitSession);
  const readRows = async () => {
    await client.query('select pg_stat_force_next_flush()');
    await client.query('select pg_stat_clear_snapshot()');
    const { rows } = await client.query(
      `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables where relname = 'event'`,
    );
    return rows[0].read as number;
  };
  const before = await readRows();
  assert.equal(await oldestKeptSeq({ read: (query: pg.QueryConfig) => client.query(query) }, 'large', count, 7), count - 19);
  const between = await readRows();
  assert.ok(between - before < 100, `${between - before} rows`);
  const asked = [count, count - 5].map((seq) => ({ accountId: 'large', id: `large/${seq}` }));
  const found = await newestSeqs(client, [...asked, { accountId: 'small', id: 'small/1' }]);
  assert.deepEqual(Object.fromEntries(found), { [`large/${count}`]: count, [`large/${count - 5}`]: count - 5, 'small/1': 1 });
  const rows = (await readRows()) - between;
  assert.ok(rows < 1_500, `${rows} rows`);
  const further = await newestSeqs(client, [{ accountId: 'large', id: 'large/25000' }]);
  assert.deepEqual([...further], [['large/25000', 25_000]], 'and further back where it is not among the newest');
  assert.equal((await newestSeqs(client, [{ accountId: 'large', id: 'none' }])).size, 0);
});
