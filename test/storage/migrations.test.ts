import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Database } from '../../src/storage/database.ts';
import * as ownEntities from '../../src/storage/entities/index.ts';
import { testDatabase } from '../support/database.ts';
import { productSchema } from '../support/product-schema.ts';
import { until } from '../support/until.ts';

async function databases(t: TestContext, count: number): Promise<Database[]> {
  const server = await testDatabase({ empty: true });
  const all = Array.from({ length: count }, () => new Database(server.url, { schema: productSchema }));
  t.after(async () => {
    for (const database of all) await database.close();
    await server.close();
  });
  return all;
}

test('nodes that start at the same time on an empty database create its tables once, and all continue', async (t) => {
  const nodes = await databases(t, 4);
  await Promise.all(nodes.map((node) => node.migrate()));
  const { rows } = await nodes[0]!.read({ text: 'select name, count(*) from migration group by name order by name' });
  assert.ok(rows.length >= 3);
  for (const { name, count } of rows) assert.equal(count, 1, name);
  assert.equal((await nodes[3]!.read({ text: 'select count(*) from shard' })).rows[0].count, 1024);
});

test('a node that starts later applies no migration', async (t) => {
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

test('a migration that finds a table in use blocks no other session, and is applied when the table is free', async (t) => {
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

test('a migration whose table stays locked fails with one line that says what to do, and changes nothing', async (t) => {
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

test('an index is built by a migration while a transaction that will write to its table has read it', async (t) => {
  const [database] = (await databases(t, 1)) as [Database];
  await database.migrate();
  await database.pool.query('drop index snapshot_file_by_content_and_sha1');
  await database.pool.query(`delete from migration where name = '0049-known-contents'`);
  const snapshot = await database.pool.connect();
  try {
    await snapshot.query('begin');
    await snapshot.query('select from snapshot_file');
    await database.migrate(10_000);
    await snapshot.query(`insert into snapshot_file values ('snap_1', 'a.html', 'acct_1', 'text/html', 1, 'a', 'b', 'c')`);
  } finally {
    await snapshot.query('commit');
    snapshot.release();
  }
  const built = `select from pg_index where indexrelid = to_regclass('snapshot_file_by_content_and_sha1')`;
  assert.equal((await database.read({ text: built })).rows.length, 1);
});

test('every entity matches the migrated table: columns, types, nullability and primary key', async (t) => {
  const [database] = (await databases(t, 1)) as [Database];
  await database.migrate();
  assert.deepEqual(await differences(database), []);
  await database.pool.query('alter table timer alter command drop not null, drop constraint timer_pkey, add place text not null');
  await database.pool.query('alter table card alter spent_minor type numeric, drop name');
  assert.deepEqual(
    (await differences(database)).map((line) => line.slice(0, line.search(/[: ]/))).sort(),
    ['card.name', 'card.spent_minor', 'timer.actor_id', 'timer.command', 'timer.kind', 'timer.name', 'timer.place'],
    'and what is not so is found',
  );
});

async function differences(database: Database): Promise<string[]> {
  const { rows } = await database.read({
    text: `select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as nullable,
      a.atthasdef or a.attidentity <> '' as "hasDefault", coalesce(a.attnum = any(i.indkey), false) as "isKey"
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_index i on i.indrelid = c.oid and i.indisprimary where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`,
  });
  const found: string[] = [];
  for (const entity of [...Object.values(ownEntities).filter((value) => typeof value === 'object'), ...productSchema.entities]) {
    const { name: table, columns, primaryKey } = database.table(entity);
    const there = new Map(rows.filter((row) => row.table === table).map((row) => [row.name, row]));
    for (const { name, type, nullable } of columns) {
      const column = there.get(name);
      there.delete(name);
      const expected = { type: typeNames[type] ?? type, nullable: nullable === true, isKey: primaryKey.some((key) => key.name === name) };
      const is = column === undefined ? null : { type: column.type, nullable: column.nullable, isKey: column.isKey };
      if (!isDeepStrictEqual(expected, is)) found.push(`${table}.${name}: ${JSON.stringify(expected)} is ${JSON.stringify(is)}`);
    }
    // What the entity does not name, its rows do not give.
    for (const { name, nullable, hasDefault } of there.values())
      if (!nullable && !hasDefault) found.push(`${table}.${name} is never given`);
  }
  return found;
}

/** As PostgreSQL names what entities call otherwise. */
const typeNames: Record<string, string> = {
  'timestamptz(3)': 'timestamp(3) with time zone',
  int: 'integer',
  bool: 'boolean',
  'double precision': 'double precision',
};
