/**
 * PostgreSQL restarted, crashed, disconnected and slow under a cluster: every request is answered once, and the nodes recover
 * automatically.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { withoutRedis } from '../support/redis.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
const writers = 6;

let world: World;
before(async () => {
  if (!withoutRedis) world = await World.open({ postgres: 'own' });
});
after(() => world?.close());

const harms: [string, () => Promise<void>][] = [
  ['is restarted', () => world.cluster.postgres!.restart()],
  ['crashes', () => world.cluster.postgres!.crash()],
  ['loses every connection', async () => world.cluster.postgresLink.breakOpen()],
  ['says nothing for a while', () => silent(2_500)],
  ['is slow', () => slow(60, 2_000)],
];

for (const [what, harm] of harms)
  test(`when PostgreSQL ${what}, every write has its effect once, and the nodes become ready again automatically`, options, async () => {
    const { cluster, caller } = world;
    const id = world.workspaces[harms.findIndex(([one]) => one === what)]!;
    let isOver = false;
    const versions: number[] = [];
    const writing = Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; !isOver; n++) versions.push(await write(id, `${what} ${writer} ${n}`));
    });
    await pause(300);
    await harm();
    await pause(300);
    isOver = true;
    await Promise.all(writing);
    assert.deepEqual(
      versions.sort((a, b) => a - b),
      versions.map((_, n) => n + 1),
      'versions run from 1 without a hole or a repeat',
    );
    await cluster.untilReady();
    const files = await Promise.all(cluster.up.map((node) => caller.at(node).json('GET', `/v1/workspaces/${id}/files`)));
    for (const [file] of files) assert.equal(file.version, versions.length);
  });

test('without PostgreSQL every node reports within seconds that it is not ready', options, async () => {
  const { cluster } = world;
  const heal = cluster.postgresLink.cut();
  await Promise.all(cluster.up.map((node) => node.untilReadiness((status) => status === 503)));
  heal();
  await cluster.untilReady();
});

/** Repeats the request with one key until a node answers. */
async function write(workspace: string, key: string): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const node = world.cluster.up[attempt % world.cluster.up.length]!;
    const body = new FormData();
    body.set('file', new Blob([key]), 'counter.txt');
    const response = await world.caller.at(node).fetch('POST', `/v1/workspaces/${workspace}/files`, body, { 'idempotency-key': key });
    const text = await response.text();
    if (response.status === 201) return JSON.parse(text).version;
    assert.ok([409, 503, 504].includes(response.status), `${response.status} ${text}`);
    await pause(50);
  }
}

async function silent(forMs: number): Promise<void> {
  const heal = world.cluster.postgresLink.silence();
  await pause(forMs);
  heal();
}

async function slow(delayMs: number, forMs: number): Promise<void> {
  world.cluster.postgresLink.delayMs = delayMs;
  await pause(forMs);
  world.cluster.postgresLink.delayMs = 0;
}
