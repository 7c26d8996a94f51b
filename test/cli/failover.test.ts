/** `troupe run` with a cluster whose nodes die, leave and are unreachable: it continues where it was, and creates nothing twice. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import type { EventBody } from '../support/bodies.ts';
import { testDatabase } from '../support/database.ts';
import { FrontDoor } from '../support/front-door.ts';
import { type Behaviour, callTool, finish } from '../support/openai-server.ts';
import { scriptedService, turns } from '../support/scripted-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { troupe } from './command.ts';

test('a run survives a cut connection, a refused connection, a busy balancer, and a node that leaves and returns at another port', {
  timeout: 180_000,
}, async (t) => {
  const database = await testDatabase();
  t.after(() => database.close());
  const { service, caller, begin } = await scriptedService(t, { DATABASE_URL: database.url, DRAIN_GRACE_MS: '300' });
  const door = new FrontDoor(() => service.url);
  await door.open();
  t.after(() => door.close());
  const folder = await temporaryFolder('troupe-failover-');
  t.after(() => folder.remove());

  const gates = [1, 2, 3, 4].map(() => Promise.withResolvers<void>());
  const after =
    (gate: number, behaviour: Behaviour): Behaviour =>
    async (response, asked) => {
      await gates[gate]!.promise;
      return behaviour(response, asked);
    };
  const note = (n: number): Behaviour => callTool('write_file', { path: `note-${n}.md`, content: `Note ${n}.` });
  // Only to say how the case goes; the task that is followed is the command's own.
  await begin('outlive', turns(after(0, note(1)), after(1, note(2)), after(2, note(3)), after(3, finish('All notes are written.'))));
  const command = troupe(['run', 'case outlive', '--json', '--token', caller.token], {
    url: door.url,
    dataDir: join(folder.path, 'data'),
    folder: folder.path,
  });
  await command.says('agent.started');

  // The edge dies, and another answers at once.
  door.cut();
  gates[0]!.resolve();
  await command.says(/agent\.tool_result/);

  // No node listens for some time; an event happens meanwhile.
  await door.close();
  gates[1]!.resolve();
  await command.says('Connection to the service lost');
  await door.open();
  await command.says('Connected to the service again');

  // A balancer without a node to send to.
  door.mode = 'unavailable';
  door.cut();
  gates[2]!.resolve();
  await until(() => door.rejected >= 4, 'the command to be rejected');
  door.mode = 'open';

  // The node leaves as requested, and returns at another port.
  await service.stop('SIGTERM');
  await service.restart();
  gates[3]!.resolve();

  assert.equal(await command.exit, 0, command.stderr());
  const lines = command
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  // The live stream shows those that name the task; history also what its agents did to files.
  const ofTask = (events: EventBody[]): number[] => events.filter(({ data }) => data?.task_id !== undefined).map(({ seq }) => seq);
  const recorded = await caller.json('GET', `/v1/tasks/${lines.at(-1).task_id}/events?limit=100`);
  assert.deepEqual(ofTask(lines.slice(0, -1)), ofTask(recorded.data), 'each event once, in order');
  assert.equal(lines.at(-1).status, 'complete');
});
