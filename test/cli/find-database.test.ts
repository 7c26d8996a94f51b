/** A command finds the embedded PostgreSQL of a running, killed or stopped service, and leaves it in the same state. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import pg from 'pg';
import { findDatabase } from '../../src/cli/find-database.ts';
import { noLog } from '../../src/log.ts';
import { lockDataDir } from '../../src/storage/data-dir-lock.ts';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query('select 1 as one')).rows[0].one === 1;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

test('a running PostgreSQL is used and continues; a stopped one is started, and stopped again afterwards', async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const config = { databaseUrl: null, dataDir: join(folder.path, 'data') };
  await assert.rejects(findDatabase(config), { name: 'Failure', kind: 'usage', message: /contains no database of a service/ });

  const service = await startEmbeddedPostgres({ dataDir: config.dataDir, log: noLog });
  try {
    const lock = await lockDataDir(config.dataDir);
    const beside = await findDatabase(config);
    assert.equal(beside.url, service.url);
    await beside.close();
    assert.ok(await answers(service.url));
    await lock.release();
  } finally {
    await service.stop();
  }

  const alone = await findDatabase(config);
  assert.ok(await answers(alone.url));
  await assert.rejects(lockDataDir(config.dataDir), /Another process/);
  await alone.close();
  assert.equal(await runningEmbeddedPostgres(config.dataDir), null);
  await (await lockDataDir(config.dataDir)).release();
});

test('a DATABASE_URL is used unchanged', async () => {
  const { url } = await findDatabase({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', dataDir: '/nowhere' });
  assert.equal(url, 'postgres://nobody@127.0.0.1:1/none');
});
