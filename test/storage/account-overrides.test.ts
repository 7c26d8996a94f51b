import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type pg from 'pg';
import { silentLog } from '../../src/log.ts';
import { AccountOverrides, setOverrides } from '../../src/storage/account-overrides.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';

/** Tells the names of the statements it was sent, and fails them when told to. */
class WatchedDatabase extends Database {
  readonly sent: string[] = [];
  away = false;
  override async read(query: pg.QueryConfig): Promise<{ rows: any[] }> {
    this.sent.push(query.name ?? '');
    if (this.away) throw new Error('no answer');
    return super.read(query);
  }
}

async function node(t: TestContext, options = {}) {
  const server = await testDatabase();
  const database = new WatchedDatabase(server.url);
  await database.migrate();
  const overrides = new AccountOverrides(database, silentLog, options);
  t.after(async () => {
    overrides.stop();
    await database.close();
    await server.close();
  });
  const websockets = async (accountId: string) => (await overrides.of(accountId)).websockets;
  return { database, overrides, websockets };
}

test('an account of which nothing is set has nothing set, and is asked for once', async (t) => {
  const { database, overrides } = await node(t);
  const first = await overrides.of('acct_1');
  assert.deepEqual(new Set(Object.values(first)), new Set([null]));
  assert.equal(overrides.of('acct_1'), first, 'out of memory, without a promise');
  assert.equal(database.sent.filter((name) => name === 'account_overrides').length, 1);
});

test('accounts that are asked for at once are one query', async (t) => {
  const { database, websockets } = await node(t);
  await setOverrides(database, 'acct_7', { websockets: 7 });
  const all = await Promise.all(Array.from({ length: 50 }, (_, i) => websockets(`acct_${i}`)));
  assert.deepEqual(
    all.filter((value) => value !== null),
    [7],
  );
  assert.equal(database.sent.filter((name) => name === 'account_overrides').length, 1);
});

test('a change is seen at the next look, which is one query however many accounts are known', async (t) => {
  const { database, overrides, websockets } = await node(t);
  for (let i = 0; i < 20; i++) await overrides.of(`acct_${i}`);
  await setOverrides(database, 'acct_1', { websockets: 5, plan: 'business' });
  await setOverrides(database, 'acct_2', { websockets: -1 });
  await setOverrides(database, 'acct_elsewhere', { websockets: 9 });
  database.sent.length = 0;
  await overrides.refresh();
  assert.deepEqual(database.sent, ['account_overrides_changed']);
  assert.deepEqual([await websockets('acct_1'), await websockets('acct_2'), await websockets('acct_3')], [5, -1, null]);
  await setOverrides(database, 'acct_1', { websockets: null });
  await overrides.refresh();
  assert.deepEqual([await websockets('acct_1'), (await overrides.of('acct_1')).plan], [null, 'business'], 'what is not named stays');
});

test('a change is seen by itself', async (t) => {
  const { database, overrides, websockets } = await node(t, { everyMs: 5 });
  await overrides.of('acct_1');
  overrides.start();
  await setOverrides(database, 'acct_1', { websockets: 5 });
  while ((await websockets('acct_1')) !== 5) await new Promise(setImmediate);
});

test('while the database is away what is known goes on holding, and what changed meanwhile is seen when it is back', async (t) => {
  const { database, overrides, websockets } = await node(t);
  await setOverrides(database, 'acct_1', { websockets: 5 });
  await overrides.of('acct_1');
  await setOverrides(database, 'acct_1', { websockets: 6 });
  database.away = true;
  await overrides.refresh();
  assert.equal(await websockets('acct_1'), 5);
  await assert.rejects(async () => overrides.of('acct_2'));
  database.away = false;
  await overrides.refresh();
  assert.equal(await websockets('acct_1'), 6);
  assert.equal(await websockets('acct_2'), null, 'a failed question is asked again');
});

test('memory is bounded, and an account that was forgotten is asked for again', async (t) => {
  const { database, websockets } = await node(t, { maxAccounts: 10 });
  await setOverrides(database, 'acct_0', { websockets: 1 });
  for (let i = 0; i < 30; i++) await websockets(`acct_${i}`);
  assert.equal(await websockets('acct_0'), 1);
  assert.equal(database.sent.filter((name) => name === 'account_overrides').length, 31);
});

test('of two that set different things at once, both hold', async (t) => {
  const { database, websockets, overrides } = await node(t);
  await Promise.all(
    Array.from({ length: 8 }, (_, i) => setOverrides(database, 'acct_1', i % 2 === 0 ? { websockets: i } : { credits: i })),
  );
  assert.ok((await websockets('acct_1')) !== null);
  assert.ok((await overrides.of('acct_1')).credits !== null);
});
