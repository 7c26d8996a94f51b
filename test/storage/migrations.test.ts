import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Database } from '../../src/storage/database.ts';
import * as entities from '../../src/storage/entities/index.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/runtime.ts';

async function databases(t: TestContext, count: number): Promise<Database[]> {
  const server = await testDatabase({ empty: true });
  const all = Array.from({ length: count }, () => new Database(server.url));
  t.after(async () => {
    for (const database of all) await database.close();
    await server.close();
  });
  return all;
}

test('nodes that start at the same instant on an empty database set it up once, and all go on', async (t) => {
  const nodes = await databases(t, 4);
  await Promise.all(nodes.map((node) => node.migrate()));
  const { rows } = await nodes[0]!.read({ text: 'select name, count(*) from migration group by name order by name' });
  assert.ok(rows.length >= 3);
  for (const { name, count } of rows) assert.equal(count, 1, name);
  assert.equal((await nodes[3]!.read({ text: 'select count(*) from shard' })).rows[0].count, 1024);
});

test('a node that starts later finds nothing to do', async (t) => {
  const [first, second] = (await databases(t, 2)) as [Database, Database];
  await first.migrate();
  await first.pool.query(`insert into chore values ('kept', now())`);
  await second.migrate();
  assert.equal((await second.read({ text: 'select count(*) from chore' })).rows[0].count, 1);
});

/** A database whose migration of a busy table is missing, and a session that reads this table in a transaction. */
async function behindAList(t: TestContext) {
  const [database] = (await databases(t, 1)) as [Database];
  await database.migrate();
  await database.pool.query('alter table account_storage drop counted_at; alter table account_webhooks drop counted_at');
  await database.pool.query(`delete from migration where name = '0033-recounts'`);
  const list = await database.pool.connect();
  await list.query('begin');
  await list.query('select from account_webhooks');
  const end = async () => {
    await list.query('commit');
    list.release();
  };
  return { database, end };
}

test('a migration that finds a table in use keeps nobody waiting, and is done when the table is free', async (t) => {
  const { database, end } = await behindAList(t);
  let done = false;
  const migrated = database.migrate().then(() => (done = true));
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'alter table%'`;
  // Also what comes while it waits: the list ends only after these.
  for (let round = 0; round < 3; round++) {
    await until(async () => (await database.read({ text: waits })).rows.length > 0, 'the wait');
    for (let i = 0; i < 10; i++) await database.pool.query(`insert into account_webhooks values ('acct ${round} ${i}', '[]')`);
  }
  assert.equal(done, false);
  await end();
  await migrated;
  assert.equal((await database.read({ text: 'select counted_at from account_webhooks' })).rows.length, 30);
});

test('a migration whose table stays locked gives up with one line that says what to do, and changes nothing', async (t) => {
  const { database, end } = await behindAList(t);
  await assert.rejects(
    database.migrate(500),
    /^Error: The migration 0033-recounts found a table locked by another session \d times: end that/,
  );
  const columns = `select from information_schema.columns where table_name like 'account_%' and column_name = 'counted_at'`;
  assert.equal((await database.read({ text: columns })).rows.length, 0);
  await end();
  await database.migrate();
  assert.equal((await database.read({ text: columns })).rows.length, 2);
});

test('every entity is a table with its columns', async (t) => {
  const [database] = (await databases(t, 1)) as [Database];
  await database.migrate();
  for (const entity of Object.values(entities).filter((value) => typeof value === 'object' && 'meta' in value)) {
    const { name, columns } = database.table(entity);
    await database.read({ text: `select ${columns.map((column) => column.name).join(', ')} from ${name} limit 0` });
  }
});
