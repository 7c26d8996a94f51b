import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type TestRedis, testRedis, withoutRedis } from '../support/redis.ts';
import type { Scope } from '../support/scope.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { agreed, assertNobodyMissed, type TestNode, testNode } from './membership-nodes.ts';

type Step = { kind: 'join' | 'leave' | 'die' | 'sleep' | 'wake' | 'flush' | 'restart' | 'pause' | 'leap' | 'lose members'; pick: number };

/** `slept`: the node was paused and may have been expelled. */
type Node = TestNode & { link: TcpProxy; slept: boolean; wake: (() => void) | null };

const kinds = ['join', 'leave', 'die', 'sleep', 'wake', 'flush', 'restart', 'pause', 'leap', 'lose members'] as const;
const step: fc.Arbitrary<Step> = fc.record({ kind: fc.constantFrom(...kinds), pick: fc.nat(100) });

test('M1 M2 M3 M6 after any faults the live nodes agree in the end, and only paused nodes were expelled', {
  skip: withoutRedis,
}, async (t) => {
  const redis = await testRedis(t);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
      const cleanups: (() => unknown)[] = [];
      const scope = { after: (fn: any) => void cleanups.unshift(fn) };
      try {
        await run(scope, redis, steps, `run-${++runs}`);
      } finally {
        for (const cleanup of cleanups) await cleanup();
      }
    }),
    { numRuns: 8 },
  );
});

async function run(t: Scope, redis: TestRedis, steps: Step[], clusterId: string): Promise<void> {
  const live: Node[] = [];
  const ended: TestNode[] = [];
  let names = 0;
  const join = async () => {
    const link = await TcpProxy.before(redis.url);
    t.after(() => link.close());
    const node = testNode(t, link.url, `n${++names}`, { clusterId });
    live.push(Object.assign(node, { link, slept: false, wake: null }));
    await node.membership.start();
  };
  const asleep = () => live.filter(({ wake }) => wake !== null);
  await Promise.all([join(), join()]);

  for (const { kind, pick } of steps) {
    const node = live[pick % live.length]!;
    switch (kind) {
      case 'join':
        if (live.length < 5) await join();
        break;
      case 'leave':
      case 'die':
        if (live.length - asleep().length < 2 || node.wake !== null) break;
        live.splice(live.indexOf(node), 1);
        ended.push(node);
        await (kind === 'leave' ? node.membership.leave() : node.membership.stop());
        break;
      case 'sleep':
        if (live.length - asleep().length < 2 || node.wake !== null) break;
        node.slept = true;
        node.wake = node.link.hold(/./, 'to server').release;
        break;
      case 'wake':
        for (const sleeper of asleep()) wakeUp(sleeper);
        break;
      case 'flush':
        await redis.flush();
        break;
      case 'restart':
        await redis.kill();
        await redis.restart();
        break;
      case 'pause':
        redis.pause();
        await until(() => live.some(({ membership }) => membership.state === 'alone'), 'somebody notices');
        redis.resume();
        break;
      case 'leap':
        if ((await redis.client.exists(`troupe:{${clusterId}}:state`)) === 1)
          await redis.client.hincrby(`troupe:{${clusterId}}:state`, 'nowMs', (pick - 50) * 100_000);
        break;
      case 'lose members':
        await redis.client.del(`troupe:{${clusterId}}:members`);
        break;
    }
  }
  for (const sleeper of asleep()) wakeUp(sleeper);
  await agreed(live);
  await until(() => live.every(({ membership }) => membership.state === 'member'), 'all are members');
  assertNobodyMissed(live.filter(({ slept }) => !slept));
  for (const { views } of [...live, ...ended]) assert.ok(views.every((view, i) => i === 0 || view.number > views[i - 1]!.number));
}

function wakeUp(sleeper: Node): void {
  sleeper.wake!();
  sleeper.wake = null;
}
