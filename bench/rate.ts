/**
 * The load on Redis from counting one busy key across three nodes: a quota that is just used up, and one that is exceeded many times. For comparison,
 * one call of Redis for each request. Redis itself counts the calls, and all nodes together may grant no more than the quota and its refill.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LeasedRates } from '../src/edge/limits/leased-rates.ts';
import { RedisLimits } from '../src/edge/limits/redis-limits.ts';
import { noLog } from '../src/log.ts';
import { type TestRedis, testRedis } from '../test/support/redis.ts';
import { makeRow, type Row } from './support/row.ts';
import type { Surroundings } from './support/surroundings.ts';

const nodeCount = 3;
const tickMs = 5;

export async function benchRate({ seconds }: Surroundings): Promise<Row[]> {
  const closing: (() => unknown)[] = [];
  try {
    const redis = await testRedis({ after: (close) => closing.push(close as () => unknown) });
    return [
      // A business key, empty after its first minute's requests.
      ...(await hotKey(redis, { perMinute: 5_000, perSecond: 4_900 / seconds, seconds })),
      ...(await hotKey(redis, { perMinute: 6_000, perSecond: 1_500, seconds: seconds * 2 })),
    ];
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

type Load = { perMinute: number; perSecond: number; seconds: number };

async function hotKey(redis: TestRedis, { perMinute, perSecond, seconds }: Load): Promise<Row[]> {
  const stores = await Promise.all(
    Array.from({ length: nodeCount }, async (_, n) => {
      const store = new RedisLimits(redis.url, `bench-${perMinute}`, `node-${n}`);
      await store.connect();
      return store;
    }),
  );
  const nodes = stores.map((store, n) => new LeasedRates({ store, node: `node-${n}`, nodes: () => nodeCount, log: noLog }));
  const before = await questions(redis);
  const beganMs = performance.now();
  let sent = 0;
  let granted = 0;
  const open = new Set<Promise<void>>();
  for (let elapsedMs = 0; elapsedMs < seconds * 1_000; elapsedMs = performance.now() - beganMs) {
    for (const due = (elapsedMs * perSecond) / 1_000; sent < due; sent++) {
      const taken = nodes[sent % nodeCount]!.take('key-hot', perMinute);
      if (!(taken instanceof Promise)) granted += Number(taken.allowed);
      else {
        const answered: Promise<void> = taken.then(({ allowed }) => void (granted += Number(allowed))).finally(() => open.delete(answered));
        open.add(answered);
      }
    }
    await pause(tickMs);
  }
  await Promise.all(open);
  const quota = perMinute + ((performance.now() - beganMs) * perMinute) / 60_000;
  const asked = (await questions(redis)) - before;
  for (const node of nodes) node.stop();
  for (const store of stores) store.close();
  const about = `${perMinute.toLocaleString('en-US')}/min, asked ${Math.round(perSecond).toLocaleString('en-US')}/s`;
  return [
    makeRow({
      bench: 'limits',
      row: `Redis for 1,000 requests, ${about}`,
      unit: 'commands',
      ours: (asked * 1_000) / sent,
      limit: 1_000,
      reach: { atMost: 0.02 },
    }),
    makeRow({ bench: 'limits', row: 'granted of the quota', unit: 'requests', ours: granted, limit: quota, reach: { atMost: 1 } }),
  ];
}

async function questions(redis: TestRedis): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1] ?? 0);
}
