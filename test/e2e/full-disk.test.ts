/** A disk with less free space than the service may use. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { noLog } from '../../src/log.ts';
import { DiskSpace } from '../../src/storage/disk-space.ts';
import { openLocalFiles } from '../../src/storage/local-files.ts';
import type { Refused } from '../support/bodies.ts';
import { Caller, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

test('with less free space than the reserve, commands are 503 and reads, sign-in and deletions continue; with enough space all do', async (t) => {
  const service = await startService(t);
  const caller = await Caller.register(service, 'full');
  const { id } = await caller.json('POST', '/v1/workspaces', { name: 'Kept' });
  const upload = (as: Caller) => {
    const form = new FormData();
    form.set('file', new Blob(['n\n1\n']), 'a.csv');
    return fetch(`${service.url}/v1/workspaces/${id}/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${as.token}` },
      body: form,
    });
  };
  assert.equal((await upload(caller)).status, 201);
  const running = await caller.json('POST', '/v1/tasks', { prompt: 'What is 6 times 7?' });
  await service.kill();

  await service.restart({ DISK_RESERVE_MB: '1000000' });
  const full = caller.at(service);
  for (const refused of [
    await full.fetch('POST', '/v1/workspaces', { name: 'New' }),
    await upload(full),
    await full.fetch('POST', '/v1/tasks', { prompt: 'Hi' }),
  ]) {
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '30']);
    assert.match(((await refused.json()) as Refused).detail, /disk of the service is full/);
  }
  assert.equal((await full.json('GET', `/v1/workspaces/${id}`)).file_count, 1);
  const password = 'a long enough password';
  assert.equal((await full.fetch('POST', '/v1/auth/login', { email: 'full@example.com', password })).status, 200);
  assert.equal((await full.fetch('DELETE', `/v1/workspaces/${id}/files/a.csv`)).status, 204);
  const { status } = await full.json('GET', `/v1/tasks/${running.id}`);
  assert.ok(['pending', 'planning', 'running', 'complete'].includes(status), status);
  const health: any = await (await fetch(`${service.url}/health`)).json();
  assert.equal(health.status, 'degraded');
  assert.notEqual(health.checks.disk, 'ok');
  await until(() => /the disk of DATA_DIR .* is full/.test(service.output()), 'the log line');
  await service.stop();

  await service.restart({ DISK_RESERVE_MB: '0' });
  const again = caller.at(service);
  assert.equal((await again.fetch('POST', '/v1/workspaces', { name: 'New' })).status, 201);
  assert.equal((await again.untilTask(running.id, ['complete', 'failed'])).status, 'complete', 'agents that stood still go on');
});

test('an upload during which the disk becomes full is refused with this reason and leaves nothing', async (t) => {
  const folder = await temporaryFolder('troupe-disk-');
  t.after(() => folder.remove());
  const room = new DiskSpace({ dataDir: folder.path, reserveBytes: 2 ** 50, log: noLog });
  t.after(() => room.stop());
  const files = await openLocalFiles(`${folder.path}/files`, room);
  async function* content() {
    yield Buffer.alloc(100_000);
    await room.start();
    yield Buffer.alloc(100_000);
  }
  await assert.rejects(files.put('ws_1/wsf_1/1', Readable.from(content(), { objectMode: false }), 2 ** 20), { code: 'storage_full' });
  for await (const kept of files.contents()) assert.fail(kept.key);
});
