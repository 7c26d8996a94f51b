/** What nodes share beside actors: files, a data folder on one machine, and idempotency keys of interrupted requests. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../src/backoff.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
const retryWithinMs = 60_000;

let dataDir: TemporaryFolder;
let cluster: ClusterProcesses;
let nodes: [NodeProcess, NodeProcess];
let caller: Caller;
let file: { path: string; text: Buffer };

before(async () => {
  if (withoutRedis) return;
  dataDir = await temporaryFolder('troupe-shared-');
  cluster = await ClusterProcesses.start({ nodes: 0, redis: true });
  nodes = await Promise.all([cluster.add({ DATA_DIR: dataDir.path }), cluster.add({ DATA_DIR: dataDir.path })]);
  await cluster.untilReady();
  caller = await Caller.register(nodes[0]);
});

after(async () => {
  await cluster?.close();
  await dataDir?.remove();
});

test(
  'a file stored at one node is read at the other, completely and in part, and the shared folder contains no files',
  options,
  async () => {
    const { id } = await caller.json('POST', '/v1/workspaces', { name: 'files' });
    file = { path: `/v1/workspaces/${id}/files/numbers.txt`, text: Buffer.from(randomBytes(3_000_000).toString('base64')) };
    await caller.upload(id, 'numbers.txt', file.text);
    assert.ok((await read()).equals(file.text));
    assert.ok((await read({ range: 'bytes=2500000-2500099' })).equals(file.text.subarray(2_500_000, 2_500_100)));
    assert.deepEqual(await readdir(join(dataDir.path, 'files')).catch(() => []), []);
  },
);

test(
  'requests that a killed node had begun have their effect once when clients repeat them at another node with the same key',
  options,
  async (t) => {
    const [first, second] = nodes;
    const requests = Array.from({ length: 60 }, (_, i) => ({ key: randomUUID(), name: `once ${i}` }));
    const post = (at: NodeProcess, { key, name }: (typeof requests)[number]) =>
      caller.at(at).fetch('POST', '/v1/workspaces', { name }, { 'idempotency-key': key });
    const answered = new Map<string, string>();
    const underWay = requests.map(async (request) => {
      const response = await post(first, request);
      if (response.status === 201) answered.set(request.key, ((await response.json()) as { id: string }).id);
    });
    // During the requests: some are answered, others have stored their key and are not answered.
    await Promise.any(underWay);
    await first.kill();
    const killedAtMs = performance.now();
    await Promise.allSettled(underWay);
    let refusedLastMs = 0;
    const ids = await Promise.all(
      requests.map(async (request) => {
        const giveUpAtMs = killedAtMs + retryWithinMs;
        for (let tries = 0; ; tries++) {
          const response = await post(second, request);
          const body = (await response.json()) as { id: string; detail: unknown };
          if (response.status === 201) return body.id;
          assert.ok([409, 503, 504].includes(response.status), `${response.status} ${JSON.stringify(body.detail)}`);
          assert.ok(performance.now() < giveUpAtMs, 'it is let through in the end');
          refusedLastMs = performance.now() - killedAtMs;
          await pause(backoffMs(tries, 50, 1_000));
        }
      }),
    );
    t.diagnostic(
      `${answered.size} of ${requests.length} were answered before the kill; the last refusal came ${refusedLastMs.toFixed()} ms after it`,
    );
    for (const [i, { key }] of requests.entries())
      if (answered.has(key)) assert.equal(ids[i], answered.get(key), 'what was answered stays');
    const listed: { name: string }[] = await caller.at(second).json('GET', '/v1/workspaces?limit=100');
    for (const { name } of requests) assert.equal(listed.filter((workspace) => workspace.name === name).length, 1, name);
  },
);

test('a file can be read after the node that stored it was killed', options, async () => {
  assert.ok((await read()).equals(file.text));
});

/** The file at the second node. */
async function read(headers: Record<string, string> = {}): Promise<Buffer> {
  const response = await caller.at(nodes[1]).fetch('GET', file.path, undefined, headers);
  assert.ok(response.ok, String(response.status));
  return Buffer.from(await response.arrayBuffer());
}
