/** The table that judges: of two claimers one wins, a release is the owner's alone, and a look costs nothing where nothing has changed. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import type { ShardRow } from '../../src/cluster/shard-map.ts';
import { raiseEpochs, ShardTable } from '../../src/cluster/shard-table.ts';
import { connectionName } from '../../src/storage/connection-name.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';

test('T1 of two that claim the same shards at the same moment, each shard goes to one, and both hear the truth', async (t) => {
  const { tables, sql } = await table(t, ['a', 'b']);
  for (let round = 0; round < 10; round++) {
    const seen = await rows(sql);
    const got = await Promise.all(tables.map((each) => each.claim(seen)));
    assert.equal(got[0]!.length + got[1]!.length, 1024);
    const now = await rows(sql);
    for (const row of got.flat()) assert.deepEqual(now[row.shard], row);
    assert.deepEqual(await tables[0]!.claim(seen), [], 'what was seen is no longer so');
  }
});

test('T2 only the owner releases, and what it released is anybody’s', async (t) => {
  const { tables, sql } = await table(t, ['a', 'b']);
  const [a, b] = tables;
  await a!.claim((await rows(sql)).slice(0, 10));
  assert.deepEqual(await b!.release([1, 2, 3]), []);
  assert.deepEqual(await a!.release([2, 3, 500]), [
    { shard: 2, epoch: 2, owner: null },
    { shard: 3, epoch: 2, owner: null },
  ]);
  assert.equal((await b!.claim([{ shard: 2, epoch: 2, owner: null }]))[0]!.epoch, 3);
  assert.deepEqual([...(await b!.own()).epochs.keys()], [2]);
});

test('a look brings all rows, and none where nothing has changed since the last one and that is enough', async (t) => {
  const { tables, sql } = await table(t, ['a', 'b']);
  const [a, b] = tables;
  const unlessSame = true;
  assert.equal((await a!.look({ unlessSame })).rows.length, 1024);
  assert.deepEqual(await a!.look({ unlessSame }), { rows: [], verdict: 'same' });
  assert.equal((await a!.look()).rows.length, 1024);
  await b!.claim([{ shard: 7, epoch: 0, owner: null }]);
  assert.deepEqual(
    (await a!.look({ unlessSame })).rows.find(({ shard }) => shard === 7),
    { shard: 7, epoch: 1, owner: 'b' },
  );
  assert.deepEqual((await a!.look({ unlessSame })).rows, []);
  await sql(`update shard set owner = 'a' where shard = 7`);
  assert.equal((await a!.look({ unlessSame })).rows.length, 1024, 'an owner changed without its epoch');
});

test('what is older than what was known is raised above it, also where another owner has the same epoch; nothing else is changed', async (t) => {
  const { tables, sql } = await table(t, ['a']);
  const [a] = tables;
  await a!.claim((await rows(sql)).slice(0, 3));
  const raised = await a!.raise(
    [
      { shard: 0, epoch: 1, owner: 'a' },
      { shard: 1, epoch: 1, owner: 'b' },
      { shard: 2, epoch: 0, owner: 'b' },
      { shard: 3, epoch: 40, owner: 'b' },
    ],
    'fallen',
  );
  assert.deepEqual(
    raised.sort((x, y) => x.shard - y.shard),
    [
      { shard: 1, epoch: 2, owner: 'a' },
      { shard: 3, epoch: 41, owner: null },
    ],
  );
  assert.deepEqual(
    (await rows(sql)).slice(0, 4).map(({ epoch }) => Number(epoch)),
    [1, 2, 1, 41],
  );
});

test('a claim leaves out what somebody holds locked, and takes the rest', async (t) => {
  const { tables, sql, url } = await table(t, ['a']);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from shard where shard = 3 for share');
  const got = await tables[0]!.claim((await rows(sql)).slice(0, 6));
  assert.deepEqual(
    got.map(({ shard }) => shard),
    [0, 1, 2, 4, 5],
  );
  await holder.end();
});

test('what is left of an owner’s commits is ended, those that live are left alone, and whoever is still connected is named', async (t) => {
  const { tables, url } = await table(t, ['a', 'b/dead-one']);
  const connect = async (name: string) => {
    const client = new pg.Client({ connectionString: url, application_name: name });
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const dead = await connect(connectionName('commit', 'b/dead-one'));
  const live = await connect(connectionName('commit', 'c/live-one'));
  await tables[1]!.look();
  assert.deepEqual(await tables[0]!.endCommits(['b/dead-one', 'd/gone']), new Set(['b/dead-one']));
  await assert.rejects(dead.query('select 1'));
  await live.query('select 1');
  await live.end();
});

test('epochs that are raised after an unknown outcome are those of shards that still are the owner’s', async (t) => {
  const { tables, sql, url } = await table(t, ['a', 'b']);
  await tables[0]!.claim((await rows(sql)).slice(0, 4));
  await tables[1]!.claim([{ shard: 1, epoch: 1, owner: 'a' }]);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  assert.deepEqual(await raiseEpochs(client, 'a', [0, 1, 2], null), [
    { shard: 0, epoch: 2, owner: 'a' },
    { shard: 2, epoch: 2, owner: 'a' },
  ]);
  await client.end();
});

async function table(t: TestContext, owners: string[]) {
  const { url, close } = await testDatabase();
  const database = new Database(url);
  await database.migrate();
  const tables = owners.map((owner) => new ShardTable({ databaseUrl: url, owner }));
  t.after(async () => {
    await Promise.all(tables.map((each) => each.close()));
    await database.close();
    await close();
  });
  return { url, tables, sql: async (text: string) => (await database.read({ text })).rows };
}

async function rows(sql: (text: string) => Promise<any[]>): Promise<ShardRow[]> {
  return sql('select shard, epoch::int, owner from shard order by shard');
}
