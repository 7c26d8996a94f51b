/**
 * The table of owners: of two concurrent claims one succeeds, only the owner releases, and a read returns no rows if nothing has
 * changed.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import type { ShardRow } from '../../src/cluster/shard-map.ts';
import { raiseEpochs, ShardTable } from '../../src/cluster/shard-table.ts';
import { connectionName } from '../../src/storage/connection-name.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';

test('T1 of two concurrent claims of the same shards each shard goes to one claimer, and both get the right answer', async (t) => {
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

test('T2 only the owner can release a shard, and any node can claim a released shard', async (t) => {
  const { tables, sql } = await table(t, ['a', 'b']);
  const [a, b] = tables;
  await a!.claim((await rows(sql)).slice(0, 10));
  assert.deepEqual(await b!.release([1, 2, 3]), []);
  const released = await a!.release([2, 3, 500]);
  assert.deepEqual(released, (await rows(sql)).slice(2, 4));
  assert.deepEqual(
    released.map(({ owner }) => owner),
    [null, null],
  );
  assert.equal((await b!.claim(released.slice(0, 1)))[0]!.owner, 'b');
  assert.deepEqual([...(await b!.own()).epochs.keys()], [2]);
});

test('a read returns all rows, and with unlessSame none if nothing has changed', async (t) => {
  const { tables, sql } = await table(t, ['a', 'b']);
  const [a, b] = tables;
  const unlessSame = true;
  assert.equal((await a!.read({ unlessSame })).rows.length, 1024);
  assert.deepEqual(await a!.read({ unlessSame }), { rows: [], verdict: 'same' });
  assert.equal((await a!.read()).rows.length, 1024);
  const [claimed] = await b!.claim([{ shard: 7, epoch: 0, owner: null }]);
  assert.deepEqual(
    (await a!.read({ unlessSame })).rows.find(({ shard }) => shard === 7),
    claimed,
  );
  assert.deepEqual((await a!.read({ unlessSame })).rows, []);
  await sql(`update shard set owner = 'a' where shard = 7`);
  assert.equal((await a!.read({ unlessSame })).rows.length, 1024, 'an owner changed without its epoch');
});

test('an epoch lower than a known one is raised above it, also if another owner has the same epoch; other rows do not change', async (t) => {
  const { tables, sql } = await table(t, ['a']);
  const [a] = tables;
  const claimed = await a!.claim((await rows(sql)).slice(0, 3));
  const epochs = new Map(claimed.map(({ shard, epoch }) => [shard, epoch]));
  const later = 2 ** 52;
  const raised = await a!.raise(
    [
      { shard: 0, epoch: epochs.get(0)!, owner: 'a' },
      { shard: 1, epoch: epochs.get(1)!, owner: 'b' },
      { shard: 2, epoch: 0, owner: 'b' },
      { shard: 3, epoch: later, owner: 'b' },
    ],
    'fallen',
  );
  const now = await rows(sql);
  assert.deepEqual(
    raised.sort((x, y) => x.shard - y.shard),
    [now[1], now[3]],
  );
  assert.deepEqual(now[0], { shard: 0, epoch: epochs.get(0), owner: 'a' });
  assert.ok(now[1]!.epoch > epochs.get(1)!);
  assert.deepEqual(now[2], { shard: 2, epoch: epochs.get(2), owner: 'a' });
  assert.deepEqual(now[3], { shard: 3, epoch: later + 1, owner: null });
});

test('a change after the database was set back gets an epoch that was never used, although no node remembers the used ones', async (t) => {
  const { tables, sql } = await table(t, ['a', 'b']);
  const [a, b] = tables;
  const seen = (await rows(sql)).slice(0, 1);
  const given = new Set<number>();
  for (let falls = 0; falls < 5; falls++) {
    const [claimed] = await a!.claim(seen);
    const [released] = await a!.release([0]);
    const [taken] = await b!.claim([released!]);
    for (const row of [claimed, released, taken]) {
      assert.ok(!given.has(row!.epoch));
      given.add(row!.epoch);
    }
    await sql(`update shard set epoch = ${seen[0]!.epoch}, owner = null where shard = 0`);
  }
});

test('an epoch grows also if the clock of the database is behind it', async (t) => {
  const { tables, sql } = await table(t, ['a']);
  const ahead = (Date.now() + 3_600_000) * 1_000;
  await sql(`update shard set epoch = ${ahead} where shard = 0`);
  const [claimed] = await tables[0]!.claim((await rows(sql)).slice(0, 1));
  assert.equal(claimed!.epoch, ahead + 1);
});

test('a claim leaves out locked rows, and takes the others', async (t) => {
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

test('the commits of dead owners are ended, those of live owners continue, and owners with open connections are returned', async (t) => {
  const { tables, url } = await table(t, ['a', 'b/dead-one']);
  const connect = async (name: string) => {
    const client = new pg.Client({ connectionString: url, application_name: name });
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const dead = await connect(connectionName('commit', 'b/dead-one'));
  const live = await connect(connectionName('commit', 'c/live-one'));
  await tables[1]!.read();
  assert.deepEqual(await tables[0]!.endCommits(['b/dead-one', 'd/gone']), new Set(['b/dead-one']));
  await assert.rejects(dead.query('select 1'));
  await live.query('select 1');
  await live.end();
});

test('after an unknown outcome only epochs of shards that the owner still has are raised', async (t) => {
  const { tables, sql, url } = await table(t, ['a', 'b']);
  const before = await tables[0]!.claim((await rows(sql)).slice(0, 4));
  await tables[1]!.claim(before.filter(({ shard }) => shard === 1));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const raised = await raiseEpochs(client, 'a', [0, 1, 2], null);
  const now = await rows(sql);
  assert.deepEqual(
    raised.sort((x, y) => x.shard - y.shard),
    [0, 2].map((shard) => ({ ...now[shard], before: before.find((row) => row.shard === shard)!.epoch })),
  );
  for (const row of raised) assert.ok(row.epoch > row.before);
  await client.end();
});

async function table(t: TestContext, owners: string[]) {
  const { url, close } = await testDatabase();
  const database = new Database(url);
  const tables = owners.map((owner) => new ShardTable({ databaseUrl: url, owner }));
  t.after(async () => {
    await Promise.all(tables.map((each) => each.close()));
    await database.close();
    await close();
  });
  return { url, tables, sql: async (text: string) => (await database.read({ text })).rows };
}

async function rows(sql: (text: string) => Promise<any[]>): Promise<ShardRow[]> {
  return sql('select shard, epoch::float8, owner from shard order by shard');
}
