/** Waiting for room in the batch (M3): a busy actor does not keep others from their turns. Counted in turns, not in time. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { probe } from '../support/probe-actor.ts';
import { proxiedNode } from '../support/proxied-node.ts';
import { until } from '../support/until.ts';

const commits = /^troupe commit/;
const room = 12;

test('an actor that arrives while busy actors wait has a turn in the next batch with room, however busy they are', async (t) => {
  const { node, proxy } = await proxiedNode(t, { maxBatchTurns: room });
  let round = 0;
  // Admission never falls below 256 pending asks: with fewer, none is refused however slow the machine is.
  const busyLoads = fc.array(fc.integer({ min: 20, max: 48 }), { minLength: 1, maxLength: 5 });
  const seed = Date.now() & 0xffffff;
  t.diagnostic(`seed ${seed}`);
  await fc.assert(
    fc.asyncProperty(busyLoads, fc.integer({ min: 1, max: 6 }), fc.boolean(), async (loads, others, known) => {
      const [busy, light] = [loads.map((_, i) => `busy ${round} ${i}`), Array.from({ length: others }, (_, i) => `light ${round} ${i}`)];
      round++;
      const add = (id: string) => node.actors.ask(probe, id, 'add', { n: 1, account: 'acct_fair' });
      await Promise.all([...busy, ...(known ? light : [])].map(add));
      const before = node.events.length;
      const held = proxy.hold(commits, 'to client');
      const asked = [add(busy[0]!)];
      await held.arrived;
      // They fill the open batch, and wait for the next ones.
      for (let i = 0; i < Math.max(...loads); i++) for (const [at, id] of busy.entries()) if (i < loads[at]!) asked.push(add(id));
      const met = light.map(add);
      // Actors that are not in memory are loaded while commits still wait.
      const activations = node.actors.kinds.get(probe.kind)!.activations;
      await until(async () => light.every((id) => activations.get(id)?.phase === 'ready'), 'all to be in memory');
      held.release();
      await Promise.all([...asked, ...met]);
      const order = node.events.slice(before).map((event) => JSON.parse(event.data.text).id as string);
      assert.equal(order.length, 1 + loads.reduce((sum, load) => sum + load, 0) + others);
      // One turn was in flight and one batch was full when they arrived; they also fill the next one.
      const latest = Math.max(...light.map((id) => order.indexOf(id)));
      assert.ok(latest < 1 + room + room, `${latest + 1} turns until the last of ${others} beside ${loads.length} busy ones`);
    }),
    { numRuns: 15, seed },
  );
});
