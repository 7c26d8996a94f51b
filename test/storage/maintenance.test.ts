import assert from 'node:assert/strict';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { pastSessions } from '../../src/domains/identity/retention.ts';
import { workspacesIds } from '../../src/domains/workspaces/ids.ts';
import { newContentKey } from '../../src/domains/workspaces/workspace-file/content-key.ts';
import { OrphanContent } from '../../src/domains/workspaces/workspace-file/orphan-content.ts';
import { newId } from '../../src/ids.ts';
import { noLog } from '../../src/log.ts';
import { deleteAgedRows } from '../../src/storage/aged-rows.ts';
import { Database } from '../../src/storage/database.ts';
import { IdempotencyKeys } from '../../src/storage/idempotency-keys.ts';
import { LargeTables } from '../../src/storage/large-tables.ts';
import { localContents } from '../../src/storage/local-contents.ts';
import { openLocalFiles } from '../../src/storage/local-files.ts';
import { type HousekeepingJob, Maintenance } from '../../src/storage/maintenance.ts';
import { deadOwnersMarkers, expiredIdempotencyKeys, oldCommandRecords, oldEvents } from '../../src/storage/retention.ts';
import { testDatabase } from '../support/database.ts';
import { insertNeutralRow } from '../support/neutral-row.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = Date.UTC(2026, 10, 20);
const clock = { nowMs: () => nowMs };
const ago = (ms: number) => new Date(nowMs - ms);

async function prepared(t: TestContext) {
  const server = await testDatabase();
  const database = new Database(server.url);
  await database.migrate();
  t.after(async () => {
    await database.close();
    await server.close();
  });
  const maintain = (jobs: HousekeepingJob[], options = {}) =>
    new Maintenance({ databaseUrl: server.url, jobs, log: noLog, everyMs: 0, pauseMs: 0, ...options });
  const column = async (text: string) => (await database.pool.query({ text, rowMode: 'array' })).rows.map((row) => row[0]);
  return { url: server.url, database, maintain, column };
}

describe('retention', () => {
  test('old events are deleted, unless they belong to a task; recent events stay', async (t) => {
    const { database, maintain, column } = await prepared(t);
    const event = (seq: number, task_id: string | null, ageMs: number) =>
      insertNeutralRow(database, 'event', { account_id: 'a', seq, id: `e${seq}`, task_id, data: {}, created_at: ago(ageMs) });
    await event(1, null, 8 * dayMs);
    await event(2, 'task_1', 8 * dayMs);
    await event(3, null, 6 * dayMs);
    const events = oldEvents(7, clock);
    assert.deepEqual(await maintain([events]).runOnce(), { events: 1 });
    assert.deepEqual(await column('select seq from event order by seq'), [2, 3]);
    await event(4, null, 7 * dayMs + hourMs);
    assert.deepEqual(await maintain([events]).runOnce(), { events: 1 }, 'a late one is found although the past is done');
  });

  test('scanned rows are not scanned again for a day, also after a restart and on another node', async (t) => {
    const { database, maintain, column } = await prepared(t);
    const event = (seq: number, ageMs: number) =>
      insertNeutralRow(database, 'event', { account_id: 'a', seq, id: `e${seq}`, task_id: null, data: {}, created_at: ago(ageMs) });
    await event(1, 20 * dayMs);
    assert.deepEqual(await maintain([oldEvents(7, clock)]).runOnce(), { events: 1 });
    // Far behind the mark: only a new scan from the beginning finds it.
    await event(2, 20 * dayMs);
    assert.deepEqual(await maintain([oldEvents(7, clock)]).runOnce(), { events: 0 });
    assert.deepEqual(await maintain([oldEvents(10, clock)]).runOnce(), { events: 0 }, 'also where more is kept than before');
    assert.deepEqual(await maintain([oldEvents(7, { nowMs: () => nowMs + dayMs })]).runOnce(), { events: 1 }, 'a day later all is walked');
    assert.deepEqual(await column('select seq from event'), []);
  });

  test('a piece that takes too long is rolled back, and smaller pieces are tried until one succeeds', async (t) => {
    const { database, maintain, column } = await prepared(t);
    await database.pool.query(
      `insert into event select 'a', i, 'e' || i, 'x', null, '{}', $1::timestamptz - i * interval '1 minute' from generate_series(1, 100) i`,
      [ago(8 * dayMs)],
    );
    await database.pool.query(
      `create function slowly() returns trigger language plpgsql as 'begin perform pg_sleep(0.003); return old; end'`,
    );
    await database.pool.query('create trigger slow before delete on event for each row execute function slowly()');
    const events = { name: 'events', table: 'event', column: 'created_at', keepMs: 7 * dayMs, pieceMs: 200, clock };
    const maintenance = maintain([deleteAgedRows(events)]);
    assert.deepEqual(await maintenance.runOnce(), { events: 100 });
    assert.deepEqual(await column('select seq from event'), []);
  });

  test('a locked row is skipped and deleted later', async (t) => {
    const { database, maintain, column } = await prepared(t);
    for (const id of ['held', 'over']) await insertNeutralRow(database, 'session', { id, refresh_expires_at: ago(9 * dayMs) });
    const holder = await database.pool.connect();
    await holder.query(`begin; update session set refresh_expires_at = now() where id = 'held'`);
    assert.deepEqual(await maintain([pastSessions(clock)]).runOnce(), { sessions: 1 });
    await holder.query('commit');
    holder.release();
    assert.deepEqual(await column('select id from session'), ['held']);
  });

  test('exactly the rows older than their retention are deleted, for any pieces, restarts and new rows', async (t) => {
    const { database, maintain, column } = await prepared(t);
    const hour = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 22, max: 26 }));
    const step = fc.oneof(
      fc.record({ kind: fc.constant('rows' as const), hours: fc.array(fc.tuple(hour, fc.boolean()), { maxLength: 12, size: 'max' }) }),
      fc.record({
        kind: fc.constant('round' as const),
        pieceRows: fc.integer({ min: 1, max: 8 }),
        maxPieces: fc.integer({ min: 1, max: 6 }),
      }),
      fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 30 }) }),
    );
    const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) => {
      await database.pool.query('delete from event; delete from chore');
      let time = nowMs;
      let seq = 0;
      const aged = { nowMs: () => time };
      const kept = new Map<number, { atMs: number; ofTask: boolean }>();
      const isOld = ({ atMs, ofTask }: { atMs: number; ofTask: boolean }) => !ofTask && atMs < time - dayMs;
      // A round of a process that has just started.
      const round = (options = {}) => maintain([oldEvents(1, aged)], options).runOnce();
      const check = async (all: boolean) => {
        const there = new Set(await column('select seq::int from event'));
        for (const [id, row] of kept) {
          if (!isOld(row)) assert.ok(there.has(id), 'gone before its time');
          else if (all) assert.ok(!there.has(id), 'not gone although its time is over');
        }
      };
      for (const one of steps) {
        if (one.kind === 'wait') time += one.hours * hourMs;
        else if (one.kind === 'round') await round(one);
        else
          for (const [hours, ofTask] of one.hours) {
            kept.set(++seq, { atMs: time - hours * hourMs, ofTask });
            const at = new Date(time - hours * hourMs);
            await insertNeutralRow(database, 'event', {
              account_id: 'a',
              seq,
              id: `e${seq}`,
              task_id: ofTask ? 't' : null,
              created_at: at,
            });
          }
        await check(false);
      }
      // Rows that came late by more than the overlap of rounds are found by the walk a day later.
      time += dayMs;
      await round({ pieceRows: 3 });
      await check(true);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10, size: 'max' }), run), { numRuns: 30 });
  });

  test('a missing index of a large table is built concurrently, and nothing is deleted before', async (t) => {
    const { url, database, maintain, column } = await prepared(t);
    await insertNeutralRow(database, 'event', { account_id: 'a', seq: 1, task_id: null, created_at: ago(8 * dayMs) });
    await database.pool.query('drop index event_to_forget, webhook_delivery_to_forget; alter table event reset (vacuum_truncate)');
    assert.deepEqual(await maintain([oldEvents(7, clock)]).runOnce(), { events: 0 });
    const unfinished = await database.pool.connect();
    await unfinished.query('begin; insert into event_counter values (1, 1)');
    const tables = new LargeTables(url, noLog);
    assert.deepEqual(await maintain([tables]).runOnce(), { 'large tables': 0 }, 'the round does not wait for it');
    await unfinished.query('commit');
    unfinished.release();
    await tables.built();
    // A build that was quicker to lock the table keeps its settings for the next round.
    await maintain([tables]).runOnce();
    assert.deepEqual(
      await column(
        `select indisvalid from pg_index where indexrelid in ('event_to_forget'::regclass, 'webhook_delivery_to_forget'::regclass)`,
      ),
      [true, true],
    );
    assert.match(String(await column(`select reloptions from pg_class where relname = 'event'`)), /autovacuum_vacuum_scale_factor=0.02/);
    assert.deepEqual(await maintain([oldEvents(7, clock)]).runOnce(), { events: 1 });
    assert.deepEqual(await column('select seq from event'), []);
  });

  test('a stopping node does not wait for the build of an index, which PostgreSQL finishes', async (t) => {
    const { url, database, maintain, column } = await prepared(t);
    await database.pool.query('drop index event_to_forget');
    const reader = await database.pool.connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select from event');
    const maintenance = maintain([new LargeTables(url, noLog)]);
    await maintenance.runOnce();
    const valid = `select indisvalid from pg_index where indexrelid = to_regclass('event_to_forget')`;
    await until(async () => (await column(valid)).length > 0, 'the building');
    await maintenance.stop();
    const other = new LargeTables(url, noLog);
    await maintain([other]).runOnce();
    await other.built();
    assert.deepEqual(await column(valid), [false], 'nobody else begins to build it meanwhile');
    await reader.query('commit');
    reader.release();
    await until(async () => (await column(valid))[0] === true, 'the index');
  });

  test('an index whose build was interrupted is built again', async (t) => {
    const { url, database, maintain, column } = await prepared(t);
    await database.pool.query('drop index event_to_forget');
    const reader = await database.pool.connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select from event');
    const first = new LargeTables(url, noLog);
    await maintain([first]).runOnce();
    const found = `select indisvalid from pg_index where indexrelid = to_regclass('event_to_forget')`;
    await until(async () => (await column(found)).length > 0, 'the building');
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'troupe indexes' and datname = current_database()`,
    );
    await first.built();
    await reader.query('commit');
    reader.release();
    assert.deepEqual(await column(found), [false]);
    const second = new LargeTables(url, noLog);
    await maintain([second]).runOnce();
    await second.built();
    assert.deepEqual(await column(found), [true]);
  });

  test('a replaced index is dropped when the one that replaces it is usable, and nothing waits for that', async (t) => {
    const { url, database, maintain, column } = await prepared(t);
    await database.pool.query('drop index snapshot_file_by_content_and_sha1');
    const old = `select to_regclass('snapshot_file_by_content')::text`;
    assert.deepEqual(await column(old), ['snapshot_file_by_content']);
    const reader = await database.pool.connect();
    await reader.query('begin');
    await reader.query('select from snapshot_file');
    const tables = new LargeTables(url, noLog);
    await maintain([tables]).runOnce();
    const dropping = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'drop index%'`;
    await until(async () => (await column(dropping)).length === 1, 'the drop, which waits for the reader');
    await insertNeutralRow(database, 'snapshot_file', { snapshot_id: 's', path: 'p' });
    assert.deepEqual(await column(`select indisvalid from pg_index where indexrelid = 'snapshot_file_by_content_and_sha1'::regclass`), [
      true,
    ]);
    await reader.query('commit');
    reader.release();
    await tables.built();
    assert.deepEqual(await column(old), [null]);
  });

  test('many rows are removed in small pieces, up to the limit of a round', async (t) => {
    const { database, maintain, column } = await prepared(t);
    await database.pool.query(`insert into command_record select 'c' || i, null, $1 from generate_series(1, 95) i`, [ago(25 * hourMs)]);
    await database.pool.query(`insert into command_record values ('young', null, $1)`, [ago(23 * hourMs)]);
    const maintenance = maintain([oldCommandRecords(dayMs, clock)], { pieceRows: 10, maxPieces: 6 });
    assert.deepEqual(await maintenance.runOnce(), { 'command records': 60 });
    assert.deepEqual(await maintenance.runOnce(), { 'command records': 35 });
    assert.deepEqual(await column('select id from command_record'), ['young']);
  });

  test('command records are kept for a month where their idempotency keys are', async (t) => {
    const { database, maintain, column } = await prepared(t);
    const at = [ago(25 * hourMs), ago(29 * dayMs), ago(31 * dayMs)];
    await database.pool.query(
      `insert into command_record select 'idem30_' || i, null, at from unnest($1::timestamptz[]) with ordinality x (at, i)`,
      [at],
    );
    assert.deepEqual(await maintain([oldCommandRecords(dayMs, clock)]).runOnce(), { 'command records': 1 });
    assert.deepEqual(await column('select id from command_record order by id'), ['idem30_1', 'idem30_2']);
  });

  test('a marker stays while its owner owns a shard, and for a day after', async (t) => {
    const { database, maintain, column } = await prepared(t);
    await database.pool.query(`insert into commit_marker values ('owner', 1, $1), ('dead', 1, $1), ('just died', 1, $2)`, [
      ago(25 * hourMs),
      ago(hourMs),
    ]);
    await database.pool.query(`update shard set owner = 'owner' where shard = 7`);
    assert.deepEqual(await maintain([deadOwnersMarkers(clock)]).runOnce(), { 'commit markers': 1 });
    assert.deepEqual(await column('select owner from commit_marker order by owner'), ['just died', 'owner']);
  });

  test('expired idempotency keys are deleted, except those that are reserved again meanwhile', async (t) => {
    const { database, maintain, column } = await prepared(t);
    await insertNeutralRow(database, 'idempotency_key', { account_id: 'a', key: 'old', expires_at: ago(1) });
    await insertNeutralRow(database, 'idempotency_key', { account_id: 'a', key: 'new', expires_at: ago(-hourMs) });
    await insertNeutralRow(database, 'idempotency_key', { account_id: 'a', key: 'anew', expires_at: ago(1) });
    const user = await database.pool.connect();
    await user.query('begin');
    await user.query(`update idempotency_key set expires_at = $1 where key = 'anew'`, [ago(-hourMs)]);
    assert.deepEqual(await maintain([expiredIdempotencyKeys(new IdempotencyKeys(database, clock))]).runOnce(), { 'idempotency keys': 1 });
    await user.query('commit');
    user.release();
    assert.deepEqual(await column('select key from idempotency_key order by key'), ['anew', 'new']);
  });
});

describe('a round of maintenance', () => {
  test('is skipped while another node runs it', async (t) => {
    const { url, maintain } = await prepared(t);
    let maySee!: () => void;
    const seen = new Promise<void>((resolve) => (maySee = resolve));
    let mayEnd!: () => void;
    const end = new Promise<void>((resolve) => (mayEnd = resolve));
    const slow: HousekeepingJob = {
      name: 'slow',
      async runBatch() {
        maySee();
        await end;
        return { seen: 0, removed: 0 };
      },
    };
    const first = maintain([slow]).runOnce();
    await seen;
    assert.equal(await maintain([slow]).runOnce(), null);
    mayEnd();
    assert.deepEqual(await first, { slow: 0 });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      `select count(*)::int as held from pg_locks l join pg_database d on d.oid = l.database where locktype = 'advisory' and datname = current_database()`,
    );
    await client.end();
    assert.equal(rows[0].held, 0, 'and nobody holds the lock after it');
  });

  test('runs due jobs on any node, and each job at most once per interval', async (t) => {
    const { maintain, database } = await prepared(t);
    let walks = 0;
    const often: HousekeepingJob = { name: 'often', runBatch: async () => ({ seen: 1, removed: 1 }) };
    const rare: HousekeepingJob = { name: 'rare', everyMs: hourMs, runBatch: async () => ({ seen: ++walks, removed: 0 }) };
    const nodes = Array.from({ length: 4 }, () => maintain([often, rare], { everyMs: 60_000 }));
    const rounds = [];
    for (const node of nodes) rounds.push(await node.runOnce());
    assert.deepEqual(rounds, [{ often: 1, rare: 0 }, {}, {}, {}]);
    await database.pool.query(`update chore set begun_at = begun_at - interval '2 minutes'`);
    assert.deepEqual(await nodes[1]!.runOnce(), { often: 1 });
    await database.pool.query(`update chore set begun_at = begun_at - interval '1 hour'`);
    assert.deepEqual(await nodes[2]!.runOnce(), { often: 1, rare: 0 });
    assert.equal(walks, 2);
  });

  test('leaves the rest to the next round at its limit, also for rare jobs', async (t) => {
    const { maintain } = await prepared(t);
    let left = 25;
    const rare: HousekeepingJob = {
      name: 'rare',
      everyMs: hourMs,
      async runBatch(limit) {
        const removed = Math.min(limit, left);
        left -= removed;
        return { seen: removed, removed };
      },
    };
    const round = () => maintain([rare], { pieceRows: 5, maxPieces: 3 }).runOnce();
    await round();
    assert.equal(left, 10);
    await round();
    assert.equal(left, 0);
    assert.deepEqual(await round(), {}, 'and then it is rare again');
  });

  test('continues with the next job when one fails', async (t) => {
    const { maintain } = await prepared(t);
    const broken: HousekeepingJob = { name: 'broken', runBatch: () => Promise.reject(new Error('disk on fire')) };
    const sound: HousekeepingJob = { name: 'sound', runBatch: async () => ({ seen: 3, removed: 3 }) };
    assert.deepEqual(await maintain([broken, sound]).runOnce(), { broken: 0, sound: 3 });
  });

  test('returns nothing and throws nothing when the database is away', async () => {
    const maintenance = new Maintenance({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', jobs: [], log: noLog });
    assert.equal(await maintenance.runOnce(), null);
  });

  test('ends after the current piece when it is stopped', async (t) => {
    const { maintain } = await prepared(t);
    let pieces = 0;
    let closed = false;
    const endless: HousekeepingJob = {
      name: 'endless',
      async runBatch(limit) {
        pieces++;
        if (pieces === 3) stopping = maintenance.stop();
        return { seen: limit, removed: limit };
      },
      close: async () => void (closed = true),
    };
    let stopping: Promise<void> | undefined;
    const maintenance = maintain([endless], { everyMs: 1 });
    maintenance.start();
    while (stopping === undefined) await new Promise(setImmediate);
    await stopping;
    assert.deepEqual([pieces, closed], [3, true]);
  });
});

describe('orphaned content', () => {
  async function store(t: TestContext) {
    const parts = await prepared(t);
    const folder = await temporaryFolder();
    t.after(() => folder.remove());
    const files = await openLocalFiles(folder.path);
    const workspaceId = newId(workspacesIds.workspace, null);
    await insertNeutralRow(parts.database, 'workspace', { id: workspaceId });
    const put = async (key: string, ageMs: number) => {
      await mkdir(dirname(join(folder.path, key)), { recursive: true });
      await writeFile(join(folder.path, key), 'x');
      await utimes(join(folder.path, key), ago(ageMs), ago(ageMs));
      return key;
    };
    const orphans = new OrphanContent({ database: parts.database, files, clock });
    const left = async () => {
      const keys: string[] = [];
      for await (const { key } of localContents(folder.path)) keys.push(key);
      return keys.sort();
    };
    return { ...parts, put, orphans, left, newKey: () => newContentKey(workspaceId, newId(workspacesIds.file, null), 'acct_ann') };
  }

  test('is deleted when it is a day old, unless a file, a deliverable or a deliverable in progress refers to it', async (t) => {
    const { database, put, orphans, left, newKey } = await store(t);
    const [old, young, ofFile, ofDeleted, ofDeliverable, onItsWay] = [newKey(), newKey(), newKey(), newKey(), newKey(), newKey()] as const;
    for (const key of [old, ofFile, ofDeleted, ofDeliverable, onItsWay]) await put(key, 25 * hourMs);
    await put(young, 23 * hourMs);
    const fileIdOf = (key: string) => key.split('/')[1];
    await insertNeutralRow(database, 'workspace_file', { id: fileIdOf(ofFile), content_key: ofFile, status: 'present' });
    await insertNeutralRow(database, 'workspace_file', { id: fileIdOf(ofDeleted), content_key: ofDeleted, status: 'deleted' });
    await insertNeutralRow(database, 'deliverable', { id: 'd', content_key: ofDeliverable });
    await insertNeutralRow(database, 'message', { id: 'm', kind: 'task', command: 'delivered', input: { contentKey: onItsWay } });
    assert.deepEqual(await orphans.runBatch(100), { seen: 6, removed: 2 });
    assert.deepEqual(await left(), [young, ofFile, ofDeliverable, onItsWay].sort());
  });

  test('of an unknown workspace is kept, and so are foreign files', async (t) => {
    const { put, orphans, left } = await store(t);
    const foreign = await put(
      newContentKey(newId(workspacesIds.workspace, null), newId(workspacesIds.file, null), 'acct_bob'),
      48 * hourMs,
    );
    const other = await put('backup/keep.tar', 48 * hourMs);
    assert.deepEqual(await orphans.runBatch(100), { seen: 2, removed: 0 });
    assert.deepEqual(await left(), [foreign, other].sort());
  });

  test('is found page by page, and the scan begins again after its end', async (t) => {
    const { put, orphans, left, newKey } = await store(t);
    for (let i = 0; i < 25; i++) await put(newKey(), 48 * hourMs);
    const pages = [await orphans.runBatch(10), await orphans.runBatch(10), await orphans.runBatch(10)];
    assert.equal(
      pages.reduce((sum, page) => sum + page.removed, 0),
      25,
    );
    assert.ok(pages.every((page) => page.seen <= 10));
    await put(newKey(), 48 * hourMs);
    assert.equal((await orphans.runBatch(10)).removed, 1);
    await put(newKey(), 48 * hourMs);
    await put(newKey(), 48 * hourMs);
    await orphans.runBatch(1);
    await orphans.close();
    assert.equal((await orphans.runBatch(10)).removed, 1, 'a walk that was let go begins anew too');
    assert.deepEqual(await left(), []);
  });
});

test('housekeeping stops within its bound while its statement has no answer', { timeout: 30_000 }, async (t) => {
  const { url } = await prepared(t);
  const proxy = await TcpProxy.before(url);
  t.after(() => proxy.close());
  const asked = Promise.withResolvers<void>();
  const job: HousekeepingJob = {
    name: 'asks in vain',
    async runBatch(_limit, client) {
      const held = proxy.hold(/troupe maintenance/, 'to client');
      void held.arrived.then(asked.resolve);
      await client.query('select 1');
      return { seen: 0, removed: 0 };
    },
  };
  const maintenance = new Maintenance({ databaseUrl: proxy.url, jobs: [job], log: noLog, everyMs: 0, stopWithinMs: 100 });
  maintenance.start();
  await asked.promise;
  const beganMs = performance.now();
  await maintenance.stop();
  const tookMs = performance.now() - beganMs;
  assert.ok(tookMs < 3_000, `stopped after ${Math.round(tookMs)} ms`);
});
