/** kill -9 during work, several times: no acknowledged work is lost, nothing is done twice (G4, G5, G6). */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { effects, probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { testRuntime } from '../support/runtime.ts';
import { until } from '../support/until.ts';

test('a node killed repeatedly during its work loses no acknowledged work and does nothing twice', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  await node.runtime.stop();
  const acknowledged: number[] = [];
  for (let round = 0; round < 4; round++) {
    const child = fork(fileURLToPath(new URL('./killed-node.ts', import.meta.url)), [node.url, String(round * 100_000)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const exited = once(child, 'exit');
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error('The node ended by itself')));
      let received = 0;
      child.on('message', (i: number) => {
        acknowledged.push(i);
        if (++received === 40 + 67 * round) resolve();
      });
    });
    child.kill('SIGKILL');
    await exited;
  }
  effects.work = async ({ i }) => i;
  await node.crashAndRestart();

  const left = async () => (await node.sql('select (select count(*)::int from message) + (select count(*)::int from effect) as n'))[0].n;
  await until(async () => (await left()) === 0, 'the work left behind');
  // The database shows a commit a little before the node knows of it.
  const changed = ['receiver', ...Array.from({ length: 5 }, (_, worker) => `worker ${worker}`)];
  await Promise.all(changed.map((id) => node.actors.ask(probe, id, 'touch', null)));
  const received = ((await node.actors.query(probe, 'receiver', 'state', null))?.received ?? []) as number[];
  assert.deepEqual(
    received,
    [...new Set(received)].sort((a, b) => a - b),
    'each message once, in order',
  );
  const numbers = new Set(received);
  for (const i of acknowledged) assert.ok(numbers.has(i), `message ${i} was acknowledged`);

  const repeats = await Promise.all(acknowledged.map((i) => node.actors.ask(probe, 'counter', 'add', { n: 1 }, { commandId: `add ${i}` })));
  assert.equal(new Set(repeats).size, acknowledged.length, 'each command has its own first reply');
  const [{ commands }] = await node.sql('select count(*)::int as commands from command_record');
  assert.equal((await node.actors.query(probe, 'counter', 'state', null))?.value, commands, 'each took effect once');

  const outcomes: number[] = [];
  for (let worker = 0; worker < 5; worker++) {
    const state = await node.actors.query(probe, `worker ${worker}`, 'state', null);
    outcomes.push(...((state?.received ?? []) as { value: number }[]).map(({ value }) => value));
  }
  assert.equal(new Set(outcomes).size, outcomes.length, 'each outcome once');
  for (const i of acknowledged) assert.ok(outcomes.includes(i), `effect ${i} was acknowledged`);

  const seqs = (await node.sql(`select seq::int from event where account_id = 'acct' order by seq`)).map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    seqs.map((_, i) => i + 1),
  );
});
