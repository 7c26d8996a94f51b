/** What a role without privileges can see of snapshots of other sessions. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import { OldestSnapshot } from '../../src/admin/oldest-snapshot.ts';
import { snapshotHolders } from '../../src/storage/server-functions.ts';
import { plainRoleDatabase } from '../support/plain-role.ts';

async function sessions(t: TestContext, refused = false) {
  const database = await plainRoleDatabase({ refused });
  t.after(() => database.close());
  const open = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    t.after(() => client.end().catch(() => {}));
    return client;
  };
  return { own: await open(database.url), ofSameRole: await open(database.url), ofOther: await open(database.adminUrl) };
}

async function hold(client: pg.Client): Promise<string> {
  await client.query('begin isolation level repeatable read');
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return `session ${rows[0].pid} `;
}

test('a plain role sees the sessions with a snapshot, and the age for its own sessions', async (t) => {
  const { own, ofSameRole, ofOther } = await sessions(t);
  assert.deepEqual(await snapshotHolders(own), []);
  const [same, other] = [await hold(ofSameRole), await hold(ofOther)];
  const found = (await snapshotHolders(own))!;
  assert.equal(found.length, 2);
  assert.ok(found.find(({ id }) => id.startsWith(same))!.openForS! >= 0);
  assert.equal(found.find(({ id }) => id.startsWith(other))!.openForS, null);
  await Promise.all([ofSameRole.query('commit'), ofOther.query('commit')]);
  assert.deepEqual(await snapshotHolders(own), []);
});

test('an open transaction that has written counts too, one that has only begun does not', async (t) => {
  const { own, ofSameRole } = await sessions(t);
  await own.query('create table mine (x int)');
  await ofSameRole.query('begin; select 1');
  assert.deepEqual(await snapshotHolders(own), []);
  await ofSameRole.query('insert into mine values (1)');
  assert.equal((await snapshotHolders(own))!.length, 1);
});

test('if its beginning is hidden, the age of a snapshot counts from when it was first seen; another snapshot of that session starts again', () => {
  const snapshots = new OldestSnapshot({ pool: null as never });
  const at = (s: number, ...holders: [string, number | null][]) =>
    snapshots.oldest(
      holders.map(([id, openForS]) => ({ id, openForS })),
      s * 1_000,
    );
  assert.equal(at(100, ['session 1 750', null]), 0);
  assert.equal(at(160, ['session 1 750', null], ['session 2 760', 12]), 60);
  assert.equal(at(170, ['session 1 770', null]), 0);
  assert.equal(at(175), 0);
  assert.equal(at(180, ['session 1 770', null]), 0, 'gone in between');
});

test('the age is null if the database does not show it', async (t) => {
  const { own } = await sessions(t, true);
  assert.equal(await snapshotHolders(own), null);
});
