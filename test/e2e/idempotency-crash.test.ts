import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { randomFrom } from '../support/random.ts';
import { Caller, startService } from '../support/service.ts';

const rounds = 2;
/** The number of concurrent requests that the plan allows. */
const requestsPerRound = 9;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

type Asked = { key: string; path: string; body: { name?: string; quantity?: number; [field: string]: unknown }; answer: unknown };

test(`commands in progress when their node is killed (-9) have their effect once, and repeats get the same answer (seed ${seed})`, {
  timeout: 300_000,
}, async (t) => {
  t.diagnostic(`seed ${seed}`);
  const random = randomFrom(seed);
  const service = await startService(t);
  const caller = await Caller.register(service);
  const all: Asked[] = [];
  for (let round = 0; round < rounds; round++) {
    const asked = Array.from({ length: requestsPerRound }, (_, i): Asked => {
      const key = `${round}-${i}`;
      // A repeated creation would be visible: a second workspace of the same name is refused, and a second key is in the list.
      if (i % 3 === 0) return { key, path: '/v1/workspaces', body: { name: `w ${key}` }, answer: null };
      if (i % 3 === 1) return { key, path: '/v1/api-keys', body: { name: `k ${key}`, scopes: ['tasks.read'] }, answer: null };
      // The limit is far below the market price, so the order stays open. Quantities differ to identify the orders.
      const order = {
        symbol: 'AAPL',
        side: 'buy',
        order_type: 'limit',
        limit_price: 1,
        time_in_force: 'gtc',
        quantity: round + (i + 1) / 10,
      };
      return { key, path: '/v1/trading/orders', body: order, answer: null };
    });
    const underWay = asked.map((one) => ask(caller, one).catch(() => null));
    // At the kill some requests are answered, some are committed but not answered, and some have not begun.
    await pause(random.between(0, 30));
    await service.kill();
    await Promise.all(underWay);
    await service.restart();
    all.push(...asked);
    await Promise.all(asked.map((one) => settle(caller, one)));
  }
  const [workspaces, keys] = [await caller.json('GET', '/v1/workspaces?limit=100'), await caller.json('GET', '/v1/api-keys?limit=100')];
  const orders = await caller.json('GET', '/v1/trading/orders?limit=100');
  const named = (list: any): string[] =>
    (Array.isArray(list) ? list : (list.data ?? list.workspaces)).map(({ name }: { name: string }) => name).sort();
  const expected = (path: string): string[] =>
    all
      .filter((one) => one.path === path)
      .map(({ body }) => body.name!)
      .sort();
  assert.deepEqual(
    named(workspaces).filter((name) => name.startsWith('w ')),
    expected('/v1/workspaces'),
  );
  assert.deepEqual(named(keys), expected('/v1/api-keys'));
  const quantities = (list: { quantity?: number }[]): number[] => list.map(({ quantity }) => quantity!).sort((a, b) => a - b);
  assert.deepEqual(quantities(orders.data), quantities(all.filter(({ path }) => path === '/v1/trading/orders').map(({ body }) => body)));
});

/** Stores the first answer and checks that every repeat gets the same answer. */
async function ask(caller: Caller, one: Asked): Promise<boolean> {
  const response = await caller.fetch('POST', one.path, one.body, { 'idempotency-key': one.key });
  const answer: any = await response.json();
  if (response.status !== 201) {
    // Allowed refusals: the first request is still running, or the node has just started.
    assert.ok([409, 429, 503, 504].includes(response.status), `${one.key}: ${response.status} ${JSON.stringify(answer)}`);
    if (response.status === 409) assert.match(answer.detail, /still running/);
    return false;
  }
  if (one.answer !== null) assert.deepEqual(answer, one.answer, 'the secret of a key included');
  one.answer = answer;
  return true;
}

async function settle(caller: Caller, one: Asked): Promise<void> {
  for (let tries = 0; !(await ask(caller, one)); tries++) {
    assert.ok(tries < 60, `${one.key} is still not answered`);
    await pause(500);
  }
}
