/** The ways between nodes, cut and silenced: nobody is answered wrongly meanwhile, and afterwards everybody is answered. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { untilAnswered } from '../support/probes.ts';
import { withoutRedis } from '../support/redis.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis || (process.platform !== 'linux' && 'who dialled is known on Linux alone'), timeout: 90_000 };
const forMs = 3_500;

let world: World;
before(async () => {
  if (!withoutRedis) world = await World.open();
});
after(() => world?.close());

const harms: [string, () => () => void][] = [
  ['the way between two nodes is cut', () => world.cluster.sever(world.node(1), world.node(2), 'cut')],
  ['the way between two nodes falls silent', () => world.cluster.sever(world.node(1), world.node(2), 'silence')],
  ['one node no longer hears another', () => world.cluster.deafen(world.node(1), world.node(2))],
  ['a node is cut off from all others', () => world.cluster.isolate(world.node(3), 'cut')],
  ['a node is unheard by all others', () => world.cluster.isolate(world.node(3), 'silence')],
];

for (const [what, harm] of harms)
  test(`when ${what}, answers are true or say that they may be asked again, and afterwards all answer`, options, async () => {
    const { cluster, caller } = world;
    const id = world.workspaces[harms.findIndex(([one]) => one === what)]!;
    const written = [0];
    const heal = harm();
    const untilMs = performance.now() + forMs;
    await Promise.all(
      cluster.up.map(async (node) => {
        for (let n = 0; performance.now() < untilMs; n++) {
          const body = new FormData();
          body.set('file', new Blob([`${node.name} ${n}`]), 'links.txt');
          const asked = caller
            .at(node)
            .fetch('POST', `/v1/workspaces/${id}/files`, body, { 'idempotency-key': `${what} ${node.name} ${n}` });
          const response = await asked;
          const text = await response.text();
          if (response.status === 201) written.push(JSON.parse(text).version);
          else assert.ok([503, 504].includes(response.status), `${node.name}: ${response.status} ${text}`);
          await pause(20);
        }
      }),
    );
    heal();
    await untilAnswered(caller, cluster.up, world.paths);
    await cluster.untilReady();
    assert.equal(new Set(written).size, written.length, 'no version is answered twice');
    const events = (await caller.at(world.node(1)).events()).filter(
      ({ type, data }) => type === 'workspace.file_created' && data.workspace_id === id,
    );
    const versions = events.map(({ data }) => data.version);
    assert.deepEqual(
      versions,
      versions.map((_, n) => n + 1),
    );
    for (const version of written.slice(1)) assert.ok(versions.includes(version), `version ${version} was answered`);
  });
