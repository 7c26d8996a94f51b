import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Database } from '../../src/storage/database.ts';
import * as entities from '../../src/storage/entities/index.ts';
import { testDatabase } from '../support/database.ts';

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

test('every entity is a table with its columns', async (t) => {
  const [database] = (await databases(t, 1)) as [Database];
  await database.migrate();
  for (const entity of Object.values(entities).filter((value) => typeof value === 'object' && 'meta' in value)) {
    const { name, columns } = database.table(entity);
    await database.read({ text: `select ${columns.map((column) => column.name).join(', ')} from ${name} limit 0` });
  }
});
