import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { HttpRequest } from '../../../src/edge/http/message.ts';
import { Concurrency } from '../../../src/edge/limits/concurrency.ts';
import type { LeasedRates } from '../../../src/edge/limits/leased-rates.ts';
import { RequestLimits } from '../../../src/edge/limits/limits.ts';
import { accountTimes } from '../../../src/plans.ts';
import { testRedis, withoutRedis } from '../../support/redis.ts';
import { handStore, ratesNode, SharedClock, type Way } from './shared-rates.ts';

type Step =
  | { kind: 'requests'; node: number; count: number }
  | { kind: 'time'; ms: number }
  | { kind: 'die' | 'sweep' | 'lose answer'; node: number };

const nodeCount = 3;
const node = fc.nat(nodeCount - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('requests' as const), node, count: fc.integer({ min: 1, max: 120 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 400, max: 30_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('die' as const, 'sweep' as const, 'lose answer' as const), node }) },
);
const histories = fc.record({
  perMinute: fc.constantFrom(7, 60, 300, 1_000, 5_000),
  steps: fc.array(step, { minLength: 5, maxLength: 40 }),
});

const closing: (() => unknown)[] = [];
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
after(async () => {
  for (const close of closing.reverse()) await close();
});

test('three nodes together never grant more than capacity and refill in any window, although nodes die and answers are lost', {
  skip: withoutRedis,
}, async (t) => {
  t.diagnostic(`seed ${seed}`);
  const redis = await testRedis({ after: (close) => closing.push(close as () => unknown) });
  const store = await handStore(redis.url);
  closing.push(() => store.end());
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(histories, async ({ perMinute, steps }) => {
      const granted = await run(`caller-${++runs}`, perMinute, steps, store);
      assertWithinQuota(granted, perMinute);
    }),
    { numRuns: 60, seed },
  );
});

test('keys of one account at three nodes together never get more than five times one key, and each never more than its own', {
  skip: withoutRedis,
}, async (t) => {
  t.diagnostic(`seed ${seed}`);
  const redis = await testRedis({ after: (close) => closing.push(close as () => unknown) });
  const store = await handStore(redis.url);
  closing.push(() => store.end());
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(histories, fc.array(fc.nat(keyCount - 1), { minLength: 41, maxLength: 41 }), async ({ perMinute, steps }, keys) => {
      const accountId = `acct_${++runs}`;
      const byKey = Array.from({ length: keyCount }, (): Grant[] => []);
      const ask = async (limits: RequestLimits, at: number): Promise<boolean> => {
        const key = keys[at % keys.length]!;
        const principal = {
          accountId,
          userId: 'usr',
          kind: 'api_key',
          scopes: 'all',
          mode: 'live',
          id: `${accountId} key ${key}`,
        } as const;
        return (await limits.admit(principal, { whenEnded: (end: () => void) => end() } as unknown as HttpRequest)) === null;
      };
      const entitlement = { requestsPerMinute: perMinute, concurrentRequests: -1, websockets: -1 };
      const limitsOf = (rates: LeasedRates) =>
        new RequestLimits({ entitlements: { of: () => entitlement }, rates, concurrency: new Concurrency(), anonymousPerMinute: 1 });
      const known = new Map<LeasedRates, RequestLimits>();
      const all = await run(accountId, accountTimes * perMinute, steps, store, async (node, at, us) => {
        if (!known.has(node)) known.set(node, limitsOf(node));
        const allowed = await ask(known.get(node)!, at);
        if (allowed) byKey[keys[at % keys.length]!]!.push({ us, count: 1 });
        return allowed;
      });
      assertWithinQuota(all, accountTimes * perMinute);
      for (const granted of byKey) assertWithinQuota(merged(granted), perMinute);
    }),
    { numRuns: 15, seed },
  );
});

const keyCount = 8;

/** One entry a moment. */
function merged(granted: Grant[]): Grant[] {
  const byMoment = new Map<number, number>();
  for (const { us, count } of granted) byMoment.set(us, (byMoment.get(us) ?? 0) + count);
  return [...byMoment].map(([us, count]) => ({ us, count }));
}

type Grant = { us: number; count: number };

/** @param allow whether a node lets the request of a step in */
async function run(
  caller: string,
  perMinute: number,
  steps: Step[],
  store: Awaited<ReturnType<typeof handStore>>,
  allow = async (node: LeasedRates, _at: number, _us: number) => (await node.take(caller, perMinute)).allowed,
): Promise<Grant[]> {
  const clock = new SharedClock();
  const ways: Way[] = [];
  const nodes: LeasedRates[] = [];
  let named = 0;
  const begin = (at: number) => {
    ways[at] = { manner: 'well' };
    nodes[at] = ratesNode(`n${++named}`, () => nodeCount, clock, ways[at], store);
  };
  for (let at = 0; at < nodeCount; at++) begin(at);
  const granted: Grant[] = [];
  for (const [at, step] of steps.entries()) {
    if (step.kind === 'time') clock.us += step.ms * 1_000 + 1;
    else if (step.kind === 'die') {
      nodes[step.node]!.stop();
      begin(step.node);
    } else if (step.kind === 'sweep') {
      nodes[step.node]!.sweep();
    } else if (step.kind === 'requests') {
      let count = 0;
      for (let i = 0; i < step.count; i += 8) {
        const taken = await Promise.all(
          Array.from({ length: Math.min(8, step.count - i) }, (_, n) => allow(nodes[step.node]!, at + n, clock.us)),
        );
        count += taken.filter(Boolean).length;
      }
      granted.push({ us: clock.us, count });
    } else {
      // Tokens granted by a lost query belong to no node. The node then grants its share until Redis answers again, which is counted
      // separately from the quota.
      ways[step.node]!.manner = 'answer lost';
      await store.ask(caller, {
        ...{ node: `n${step.node}-lost`, n: 1, perMinute, nodes: nodeCount, want: 3, expected: 50, held: 0, back: 0 },
        ...{ leaseMs: 2_000, born: '', spent: 0, debt: 0, nowUs: clock.us },
      });
      ways[step.node]!.manner = 'well';
    }
  }
  for (const node of nodes) node.stop();
  return granted;
}

/** Every window between two grants. */
function assertWithinQuota(granted: Grant[], perMinute: number): void {
  for (let from = 0; from < granted.length; from++) {
    let sum = 0;
    for (let to = from; to < granted.length; to++) {
      sum += granted[to]!.count;
      const quota = perMinute + Math.floor(((granted[to]!.us - granted[from]!.us) * perMinute) / 60_000_000);
      assert.ok(sum <= quota, `${sum} granted, ${quota} allowed, from step ${from} to ${to}`);
    }
  }
}
