/**
 * E5: an effect that ends its process is found; effects that ran beside it or were interrupted on healthy nodes are not counted as the
 * cause.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { abandonedMessage } from '../../src/actors/abandoned-effect.ts';
import { effects, probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { until } from '../support/until.ts';

const received = async (node: TestRuntime, id: string) => (await node.actors.query(probe, id, 'state', null))?.received;
const failed = { kind: 'failed', message: abandonedMessage, abandoned: true };

test('an effect that ends its process each time becomes a dead letter, and concurrent effects end normally', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  await node.runtime.stop();
  const exits: (number | null)[] = [];
  for (let life = 0; life < 8; life++) {
    const child = fork(fileURLToPath(new URL('./poisoned-node.ts', import.meta.url)), [node.url, life === 0 ? 'begin' : 'go on'], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const end = once(child, 'exit');
    const ended = await Promise.race([end.then(([code]) => code as number), once(child, 'message').then(() => null)]);
    exits.push(ended);
    if (ended !== null) continue;
    child.kill('SIGKILL');
    await end;
    break;
  }
  assert.deepEqual(exits, [7, 7, 7, 7, 7, null], 'five starts, five deaths, and then it is left alone');
  await node.crashAndRestart();
  assert.deepEqual(await received(node, 'p1'), [failed]);
  for (const [id, value] of [
    ['p0', 200],
    ['p2', 100],
    ['p3', 300],
  ] as const)
    assert.deepEqual(await received(node, id), [{ kind: 'done', value }]);
  assert.deepEqual(await node.sql('select kind, actor_id, command, input, error from dead_letter'), [
    { kind: 'probe', actor_id: 'p1', command: 'effect work', input: { ms: 20, ends: true }, error: abandonedMessage },
  ]);
});

test('an effect on a node that is killed four times for other reasons ends normally', async (t) => {
  const node = await testRuntime([probeActor], { ...probeOptions, suspectPauseMs: 50 });
  t.after(() => node.close());
  let begun = 0;
  effects.work = () => {
    begun++;
    return new Promise(() => {});
  };
  await node.actors.ask(probe, 'a', 'begin', { effect: 'work', input: {} });
  for (let kills = 1; kills <= 4; kills++) {
    await until(() => begun === kills, 'the effect');
    if (kills === 4) effects.work = async () => 'done after all';
    await node.crashAndRestart();
  }
  await until(async () => (await received(node, 'a'))?.length === 1, 'its outcome');
  assert.deepEqual(await received(node, 'a'), [{ kind: 'done', value: 'done after all' }]);
});

test('a suspect may release its slot at its first restart, and not where suspects run one at a time', async (t) => {
  const node = await testRuntime([probeActor], { ...probeOptions, effectLaneLimits: { maxRunning: 1 } });
  t.after(() => node.close());
  const lane = (name: string) => node.runtime.effects.laneSizes.find((one) => one.lane === name);
  let begun: string[] = [];
  const aroundRelease: unknown[] = [];
  effects.work = ({ name }, { releaseSlot }) => {
    begun.push(name);
    aroundRelease.push(lane('suspect'));
    if (begun.length === 1) releaseSlot();
    aroundRelease.push(lane('suspect'));
    return new Promise(() => {});
  };
  const bothHaveBegun = () => until(() => begun.includes('a') && begun.includes('b'), 'both');
  for (const name of ['a', 'b']) await node.actors.ask(probe, name, 'begin', { effect: 'work', input: { name } });
  await bothHaveBegun();
  begun = [];
  await node.crashAndRestart();
  await bothHaveBegun();
  assert.deepEqual(await node.sql('select starts from effect'), [{ starts: 1 }, { starts: 1 }]);
  begun = [];
  aroundRelease.length = 0;
  await node.crashAndRestart();
  await until(() => begun.length > 0, 'the first of them');
  assert.deepEqual(aroundRelease[1], aroundRelease[0]);
});

test('orderly stops of nodes are never counted, and neither are effects that only waited', async (t) => {
  const node = await testRuntime([probeActor], { ...probeOptions, effectLaneLimits: { maxRunning: 1 } });
  t.after(() => node.close());
  let begun = 0;
  effects.work = () => {
    begun++;
    return new Promise(() => {});
  };
  for (const id of ['a', 'b']) await node.actors.ask(probe, id, 'begin', { effect: 'work', input: {} });
  for (let stops = 1; stops <= 4; stops++) {
    await until(() => begun === stops, 'the effect');
    await node.restart();
  }
  await until(() => begun === 5, 'the effect');
  assert.deepEqual(await node.sql('select starts from effect'), [{ starts: 0 }, { starts: 0 }]);
  await node.crashAndRestart();
  await until(() => begun === 6, 'the effect');
  assert.deepEqual(await node.sql('select starts from effect order by id'), [{ starts: 1 }, { starts: 0 }]);
  effects.work = async () => 'done';
  await node.crashAndRestart();
  await until(async () => (await node.sql('select id from effect')).length === 0, 'both');
  for (const id of ['a', 'b']) assert.deepEqual(await received(node, id), [{ kind: 'done', value: 'done' }]);
});
