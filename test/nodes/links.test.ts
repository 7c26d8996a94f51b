/** The ways between nodes, cut and silenced: nobody is answered wrongly meanwhile, and afterwards everybody is answered. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { untilAnswered } from '../support/probes.ts';
import { withoutRedis } from '../support/redis.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis || (process.platform !== 'linux' && 'who dialled is known on Linux alone'), timeout: 90_000 };
/** Longer than a stream may be silent, and than a lease. */
const forMs = 2_500;

let world: World;
before(async () => {
  if (!withoutRedis) world = await World.open();
});
after(() => world?.close());

type Harm = {
  what: string;
  make: () => () => void;
  /** Somebody still reaches everybody, so nobody is refused. */
  around: boolean;
};

const harms: Harm[] = [
  { what: 'the way between two nodes is cut', make: () => world.cluster.sever(world.node(1), world.node(2), 'cut'), around: true },
  {
    what: 'the way between two nodes falls silent',
    make: () => world.cluster.sever(world.node(1), world.node(2), 'silence'),
    around: true,
  },
  { what: 'one node no longer hears another', make: () => world.cluster.deafen(world.node(1), world.node(2)), around: true },
  { what: 'a node is cut off from all others', make: () => world.cluster.isolate(world.node(3), 'cut'), around: false },
  { what: 'a node is unheard by all others', make: () => world.cluster.isolate(world.node(3), 'silence'), around: false },
];

for (const [nth, { what, make, around }] of harms.entries()) {
  const answers = around ? 'every write is answered, with the help of others' : 'answers are true or say that they may be asked again';
  test(`when ${what}, ${answers}, and afterwards all answer`, options, async () => {
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
          if (response.status === 201) written.push(JSON.parse(text).version);
          else assert.ok(!around && [503, 504].includes(response.status), `${node.name}: ${response.status} ${text}`);
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
