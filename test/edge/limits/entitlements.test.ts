import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type pg from 'pg';
import { Entitlements } from '../../../src/edge/limits/entitlements.ts';
import { noLog } from '../../../src/log.ts';
import { planLimits } from '../../../src/plans.ts';
import { readOverrides, setOverrides } from '../../../src/storage/account-overrides.ts';
import { Database } from '../../../src/storage/database.ts';
import { testDatabase } from '../../support/database.ts';

/** Records the names of its statements, and fails them on request. */
class WatchedDatabase extends Database {
  readonly sent: string[] = [];
  away = false;
  override async read(query: pg.QueryConfig): ReturnType<Database['read']> {
    this.sent.push(query.name ?? '');
    if (this.away) throw new Error('no answer');
    return super.read(query);
  }
}

/** Accounts that are subscribed to nothing. */
async function signUp(database: Database, accountIds: string[]): Promise<void> {
  await database.write({
    text: `insert into account (id, plan, created_at, period_starts_at, period_ends_at, tasks_used, worked_ms, tokens_used,
        task_places, agent_places, limit_reached)
      select id, 'free', now(), now(), now(), 0, 0, 0, '{"held":0,"waiting":[]}', '{"held":0,"waiting":[]}', false from unnest($1::text[]) id`,
    values: [accountIds],
  });
}

async function node(t: TestContext, options = {}) {
  const server = await testDatabase();
  const database = new WatchedDatabase(server.url);
  const ids = Array.from({ length: 50 }, (_, i) => `acct_${i}`);
  await signUp(database, ids);
  const entitlements = new Entitlements(database, noLog, options);
  t.after(async () => {
    entitlements.stop();
    await database.close();
    await server.close();
  });
  const websockets = async (accountId: string) => (await entitlements.of(accountId)).websockets;
  const queryCount = () => database.sent.filter((name) => name === 'entitlements').length;
  return { database, ids, entitlements, websockets, queryCount };
}

const free = planLimits.free.websockets;

test('an account without overrides has the limits of its plan, and is queried once', async (t) => {
  const { entitlements, queryCount } = await node(t);
  const { requestsPerMinute, concurrentRequests, websockets } = planLimits.free;
  const first = await entitlements.of('acct_1');
  assert.deepEqual(first, { requestsPerMinute, concurrentRequests, websockets });
  assert.equal(entitlements.of('acct_1'), first, 'out of memory, without a promise');
  assert.equal(queryCount(), 1);
});

test('accounts requested at the same time are read by one query', async (t) => {
  const { database, ids, websockets, queryCount } = await node(t);
  await setOverrides(database, 'acct_7', { websockets: 7 });
  const all = await Promise.all(ids.map(websockets));
  assert.deepEqual(
    all.filter((value) => value !== free),
    [7],
  );
  assert.equal(queryCount(), 1);
});

test('a change is seen at the next poll, which is one query for any number of known accounts', async (t) => {
  const { database, ids, entitlements, websockets, queryCount } = await node(t);
  for (const id of ids.slice(0, 20)) await entitlements.of(id);
  await setOverrides(database, 'acct_1', { websockets: 5, plan: 'business' });
  await setOverrides(database, 'acct_2', { websockets: -1 });
  await setOverrides(database, 'acct_49', { websockets: 9 });
  database.sent.length = 0;
  await entitlements.refresh();
  assert.deepEqual(database.sent, ['entitlements']);
  assert.deepEqual([await websockets('acct_1'), await websockets('acct_2'), await websockets('acct_3')], [5, -1, free]);
  const { requestsPerMinute } = await entitlements.of('acct_1');
  assert.equal(requestsPerMinute, planLimits.business.requestsPerMinute);
  await setOverrides(database, 'acct_1', { websockets: null });
  await entitlements.refresh();
  assert.equal(await websockets('acct_1'), planLimits.business.websockets, 'what is not named stays');
  assert.equal(queryCount(), 2);
});

test('an account without requests is no longer polled, and is read again by its next request', async (t) => {
  const { database, entitlements, websockets, queryCount } = await node(t);
  await websockets('acct_1');
  await entitlements.refresh();
  await entitlements.refresh();
  await setOverrides(database, 'acct_1', { websockets: 5 });
  assert.equal(queryCount(), 2);
  assert.equal(await websockets('acct_1'), 5);
});

test('a change is seen without a request', async (t) => {
  const { database, entitlements, websockets } = await node(t, { everyMs: 5 });
  await entitlements.of('acct_1');
  entitlements.start();
  await setOverrides(database, 'acct_1', { websockets: 5 });
  while ((await websockets('acct_1')) !== 5) await new Promise(setImmediate);
});

test('while the database is unavailable known limits apply, and changes are seen when it is back', async (t) => {
  const { database, entitlements, websockets } = await node(t);
  await setOverrides(database, 'acct_1', { websockets: 5 });
  await entitlements.of('acct_1');
  await setOverrides(database, 'acct_1', { websockets: 6 });
  database.away = true;
  await entitlements.refresh();
  assert.equal(await websockets('acct_1'), 5);
  await assert.rejects(async () => entitlements.of('acct_2'));
  database.away = false;
  await entitlements.refresh();
  assert.equal(await websockets('acct_1'), 6);
  assert.equal(await websockets('acct_2'), free, 'a failed question is asked again');
});

test('memory is bounded, and an evicted account is queried again', async (t) => {
  const { database, ids, websockets, queryCount } = await node(t, { maxAccounts: 10 });
  await setOverrides(database, 'acct_0', { websockets: 1 });
  for (const id of ids.slice(0, 30)) await websockets(id);
  assert.equal(await websockets('acct_0'), 1);
  assert.equal(queryCount(), 31);
});

test('two concurrent changes of different limits both apply', async (t) => {
  const { database } = await node(t);
  await Promise.all(
    Array.from({ length: 8 }, (_, i) => setOverrides(database, 'acct_1', i % 2 === 0 ? { websockets: i } : { credits: i })),
  );
  const set = (await readOverrides(database, ['acct_1'])).get('acct_1')!;
  assert.ok(set.websockets !== null);
  assert.ok(set.credits !== null);
});
