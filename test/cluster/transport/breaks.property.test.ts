import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { someAsk, type TestNode, testCluster, testNode } from '../../support/transports.ts';

test('each of 10,000 concurrent asks gets exactly its own answer', async (t) => {
  const [a, b] = (await testCluster(t, ['a', 'b'])) as [TestNode, TestNode];
  const served = new Map<string, number>();
  b.transport.serve(({ id, input }) => {
    served.set(id, (served.get(id) ?? 0) + 1);
    const reply = { id, input };
    return Number(id) % 2 === 0 ? reply : new Promise((resolve) => setImmediate(resolve, reply));
  });
  const ids = Array.from({ length: 10_000 }, (_, i) => String(i));
  const replies = await Promise.all(ids.map((id) => a.transport.ask(b.member, someAsk({ id, input: { half: Number(id) + 0.5 } }))));
  assert.deepEqual(
    replies,
    ids.map((id) => ({ id, input: { half: Number(id) + 0.5 } })),
  );
  assert.ok(served.size === ids.length && [...served.values()].every((times) => times === 1));
  assert.equal(a.transport.counters.asksWaiting, 0);
});

type Step = { kind: 'ask'; count: number; query: boolean; slow: boolean } | { kind: 'cut' | 'hold' | 'release' | 'turn' | 'give up' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      count: fc.integer({ min: 1, max: 60 }),
      query: fc.boolean(),
      slow: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom(...(['turn', 'turn', 'hold', 'release'] as const)).map((kind) => ({ kind })) },
  { weight: 1, arbitrary: fc.constantFrom(...(['cut', 'give up'] as const)).map((kind) => ({ kind })) },
);

const codes = new Set(['shard_not_owned', 'outcome_unknown', 'overloaded']);

/**
 * The link is cut and held back at random points, each side asks the other. The counts of both sides must be consistent:
 * answered: served once; `shard_not_owned` for a command: never served; and nothing is served twice, whatever happened.
 */
test('under any faults each ask is settled once, no command is served twice, and a command reported as not accepted is never served', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const bounds = { windowBytes: 4_000, queueChars: 8_000, redialAfterMs: 5, longestRedialPauseMs: 20, silentAfterMs: 30_000 };
      const nodes = [await testNode(t, 'a', bounds), await testNode(t, 'b', bounds)] as const;
      const proxies = await Promise.all(nodes.map(({ member }) => TcpProxy.before(`tcp://127.0.0.1:${member.port}`)));
      const reached = nodes.map(({ member }, i) => ({ ...member, port: Number(new URL(proxies[i]!.url).port) }));
      const served = new Map<string, number>();
      const settled = new Map<string, number>();
      const outcomes: Promise<{ id: string; query: boolean; outcome: string }>[] = [];
      const held: { release(): void }[] = [];
      const callers: AbortController[] = [];
      try {
        for (const { transport } of nodes) {
          transport.serve(({ id, name }) => {
            served.set(id, (served.get(id) ?? 0) + 1);
            return name === 'slow' ? new Promise((resolve) => setTimeout(resolve, 3, id)) : id;
          });
        }
        nodes[0].transport.setMembers([reached[1]!]);
        nodes[1].transport.setMembers([reached[0]!]);
        await Promise.all(nodes.map((node) => node.waitsFor('up')));
        for (const current of steps) {
          if (current.kind === 'cut') for (const proxy of proxies) proxy.cut(/./);
          if (current.kind === 'hold')
            held.push(...proxies.map((proxy) => proxy.hold(/./, held.length % 4 < 2 ? 'to server' : 'to client')));
          if (current.kind === 'release') for (const each of held.splice(0)) each.release();
          if (current.kind === 'turn') await new Promise((resolve) => setTimeout(resolve, 2));
          if (current.kind === 'give up') for (const caller of callers.splice(0)) caller.abort();
          if (current.kind !== 'ask') continue;
          for (let i = 0; i < current.count; i++) {
            const side = outcomes.length % 2;
            const id = String(outcomes.length);
            const caller = new AbortController();
            if (i % 10 === 0) callers.push(caller);
            const ask = someAsk({ id, name: current.slow ? 'slow' : 'quick', query: current.query, input: 'x'.repeat(20) });
            const asked = nodes[side]!.transport.ask(nodes[1 - side]!.member, ask, caller.signal);
            const settle = (outcome: string) => {
              settled.set(id, (settled.get(id) ?? 0) + 1);
              return { id, query: current.query, outcome };
            };
            outcomes.push(
              asked.then(
                (reply) => settle(reply === id ? 'answered' : 'an answer of another'),
                (error) => settle(error.code),
              ),
            );
          }
        }
        for (const each of held.splice(0)) each.release();
        for (const { id, query, outcome } of await Promise.all(outcomes)) {
          const times = served.get(id) ?? 0;
          assert.ok(times <= 1, `${id} was served ${times} times`);
          assert.equal(settled.get(id), 1);
          assert.ok(outcome === 'answered' || codes.has(outcome), outcome);
          if (outcome === 'answered') assert.equal(times, 1);
          if (!query && outcome === 'shard_not_owned') assert.equal(times, 0, `${id} was answered as not taken, but was`);
        }
        for (const { transport } of nodes) assert.equal(transport.counters.asksWaiting, 0);
      } finally {
        await Promise.all(nodes.map(({ transport }) => transport.close(0)));
        await Promise.all(proxies.map((proxy) => proxy.close()));
      }
    }),
    { numRuns: 25 },
  );
});
