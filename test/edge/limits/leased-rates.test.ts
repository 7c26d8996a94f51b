import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestRedis, testRedis, withoutRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { handStore, ratesNode, SharedClock, type Way } from './shared-rates.ts';

const closing: (() => unknown)[] = [];
let redis: TestRedis;
let store: Awaited<ReturnType<typeof handStore>>;
let callers = 0;

before(async () => {
  if (withoutRedis) return;
  redis = await testRedis({ after: (close) => closing.push(close as () => unknown) });
  store = await handStore(redis.url);
  closing.push(() => store.end());
});
after(async () => {
  for (const close of closing.reverse()) await close();
});

function cluster(size: number) {
  const clock = new SharedClock();
  const ways: Way[] = Array.from({ length: size }, () => ({ manner: 'well' }));
  const caller = `c${++callers}`;
  const nodes = ways.map((way, i) => ratesNode(`n${i}`, () => size, clock, way, store));
  closing.push(() => nodes.forEach((node) => node.stop()));
  const allowedOf = async (node: number, count: number, perMinute: number): Promise<number> => {
    let allowed = 0;
    for (let i = 0; i < count; i++) if ((await nodes[node]!.take(caller, perMinute)).allowed) allowed++;
    return allowed;
  };
  return { clock, ways, nodes, caller, allowedOf };
}

const options = { skip: withoutRedis };

test('a small quota is granted to the last request, at whichever node', options, async () => {
  const { allowedOf } = cluster(3);
  let allowed = 0;
  for (let i = 0; i < 90; i++) allowed += await allowedOf(i % 3, 1, 60);
  assert.equal(allowed, 60);
});

test('a busy caller is served from leases: few queries, and the whole large quota except the leases of other nodes', options, async () => {
  const { allowedOf, nodes } = cluster(3);
  let allowed = 0;
  for (let i = 0; i < 600; i++) allowed += await allowedOf(i % 3, 10, 5_000);
  assert.ok(allowed > 4_900 && allowed <= 5_000, `${allowed} of 5,000`);
  const asks = nodes.reduce((sum, node) => sum + node.asks, 0);
  assert.ok(asks <= 120, `${asks} questions for 6,000 requests`);
});

test('unused tokens of a caller that stopped are returned', options, async () => {
  const { clock, allowedOf, nodes, caller } = cluster(2);
  await allowedOf(0, 30, 1_000);
  clock.us += 1_500_000;
  nodes[0]!.sweep();
  // One more question, so that what was given back is known here.
  assert.equal(await allowedOf(1, 1, 1_000), 1);
  assert.ok(nodes[1]!.peek(caller, 1_000).remaining >= 994, JSON.stringify(nodes[1]!.peek(caller, 1_000)));
});

test('after Redis was emptied the nodes report their state, so a spent quota stays spent', options, async () => {
  const { allowedOf } = cluster(2);
  assert.equal(await allowedOf(0, 200, 60), 60);
  await allowedOf(1, 1, 60);
  await redis.flush();
  assert.equal((await allowedOf(0, 60, 60)) + (await allowedOf(1, 60, 60)), 0);
});

test('without Redis each node grants its share of the rest, and a new caller gets limit ÷ nodes at each', options, async () => {
  const { clock, ways, allowedOf } = cluster(3);
  for (const way of ways) way.manner = 'away';
  const shares = [await allowedOf(0, 100, 60), await allowedOf(1, 100, 60), await allowedOf(2, 100, 60)];
  assert.deepEqual(shares, [20, 20, 20]);
  clock.us += 30_000_000;
  assert.equal(await allowedOf(0, 100, 60), 10);
});

test('when Redis is back, tokens granted meanwhile are counted', options, async () => {
  const { clock, ways, nodes, caller, allowedOf } = cluster(2);
  for (const way of ways) way.manner = 'away';
  assert.equal(await allowedOf(0, 100, 60), 30);
  assert.equal(await allowedOf(1, 100, 60), 30);
  for (const way of ways) way.manner = 'well';
  clock.us += 500_000;
  for (const node of nodes) await node.take(caller, 60);
  await until(() => ways.every(({ answers }) => answers === 1), 'each node to have reported to Redis');
  assert.equal((await allowedOf(0, 50, 60)) + (await allowedOf(1, 50, 60)), 0);
});

test('a raised limit ends a refusal at once, a lowered limit applies at once', options, async () => {
  const { clock, allowedOf } = cluster(1);
  assert.equal(await allowedOf(0, 80, 60), 60);
  assert.equal(await allowedOf(0, 240, 300), 240);
  clock.us += 60_000_000;
  assert.equal(await allowedOf(0, 100, 60), 60);
});
