/** Links between nodes, cut and silent: no caller gets a wrong answer meanwhile, and afterwards all callers are answered. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { untilAnswered } from '../support/probes.ts';
import { withoutRedis } from '../support/redis.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
/** Longer than a stream may be silent, and than a lease. */
const forMs = 2_500;

let world: World;
before(async () => {
  if (!withoutRedis) world = await World.open();
});
after(() => world?.close());

/** Every node is still reached by another one, so no request is refused. `isolated.test.ts` tests a node that no other node reaches. */
type Harm = { what: string; make: () => () => void };

const harms: Harm[] = [
  { what: 'the way between two nodes is cut', make: () => world.cluster.sever(world.node(1), world.node(2), 'cut') },
  {
    what: 'the way between two nodes falls silent',
    make: () => world.cluster.sever(world.node(1), world.node(2), 'silence'),
  },
  { what: 'one node no longer hears another', make: () => world.cluster.deafen(world.node(1), world.node(2)) },
];

for (const [nth, { what, make }] of harms.entries()) {
  test(`when ${what}, every write is answered, after retries at other nodes, and afterwards all nodes answer`, options, async () => {
    const { cluster, caller } = world;
    const id = world.workspaces[nth]!;
    const written = [0];
    const heal = make();
    let isHealed = false;
    const healing = pause(forMs).then(() => {
      heal();
      isHealed = true;
    });
    await Promise.all(
      cluster.up.map(async (node) => {
        for (let n = 0; !isHealed; n++) {
          const body = new FormData();
          body.set('file', new Blob([`${node.name} ${n}`]), 'links.txt');
          const key = { 'idempotency-key': `${what} ${node.name} ${n}` };
          const response = await caller.at(node).fetch('POST', `/v1/workspaces/${id}/files`, body, key);
          const text = await response.text();
          assert.equal(response.status, 201, `${node.name}: ${text}`);
          written.push(JSON.parse(text).version);
          await pause(20);
        }
      }),
    );
    await healing;
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
}
