import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import test from 'node:test';
import type { AppError } from '../../../src/errors.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { someAsk, type TestNode, testNode } from '../../support/transports.ts';
import { until } from '../../support/until.ts';

const bounds = { windowBytes: 20_000, queueChars: 10_000, silentAfterMs: 60_000 };

/** A and B, and what lies between them on the way from A to B. */
async function throughProxy(t: TestContext): Promise<{ a: TestNode; b: TestNode; proxy: TcpProxy }> {
  const [a, b] = [await testNode(t, 'a', bounds), await testNode(t, 'b', bounds)];
  const proxy = await TcpProxy.before(`tcp://127.0.0.1:${b.member.port}`);
  t.after(() => proxy.close());
  a.transport.setMembers([{ ...b.member, port: Number(new URL(proxy.url).port) }]);
  await Promise.all([a.waitsFor('up'), b.waitsFor('up')]);
  return { a, b, proxy };
}

test('a peer that processes nothing fills the window, then the queue; then asks are overloaded and notifications are refused', async (t) => {
  const { a, b, proxy } = await throughProxy(t);
  const received: number[] = [];
  b.transport.serve(({ input }) => received.push((input as number[])[0]!));
  const held = proxy.hold(/./, 'to server');
  const asks: Promise<unknown>[] = [];
  const filler = Array.from({ length: 100 }, () => 7);
  let refused = null as AppError | null;
  // One ask a tick, so that each batch is small.
  for (let i = 0; refused === null; i++) {
    const ask = a.transport.ask(b.member, someAsk({ input: [i, ...filler] }));
    asks.push(ask);
    ask.catch((error) => (refused ??= error));
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(i < 1_000);
  }
  assert.equal(refused.code, 'overloaded');
  assert.equal(a.transport.notify(b.member, 'news', filler), false);
  const { bytesSent, creditStalls, refusedQueueFull } = a.transport.counters;
  assert.ok(bytesSent >= bounds.windowBytes && bytesSent < bounds.windowBytes + 1_000, `${bytesSent} bytes were sent`);
  assert.ok(creditStalls > 0);
  assert.equal(refusedQueueFull, 2);

  held.release();
  const outcomes = await Promise.allSettled(asks);
  assert.deepEqual(outcomes.filter(({ status }) => status === 'rejected').length, 1);
  assert.deepEqual(
    received,
    Array.from({ length: asks.length - 1 }, (_, i) => i),
  );
});

test('asks of many windows are all answered while the other side processes them', async (t) => {
  const { a, b } = await throughProxy(t);
  b.transport.serve(({ input }) => input);
  for (let round = 0; round < 20; round++) {
    const inputs = Array.from({ length: 60 }, (_, i) => `${round}/${i}/${'x'.repeat(100)}`);
    assert.deepEqual(await Promise.all(inputs.map((input) => a.transport.ask(b.member, someAsk({ input })))), inputs);
  }
  assert.ok(a.transport.counters.bytesSent > 6 * bounds.windowBytes);
});

test('an ask that is aborted while it waits for credit is never sent', async (t) => {
  const { a, b, proxy } = await throughProxy(t);
  const served: string[] = [];
  b.transport.serve(({ id }) => void served.push(id));
  const held = proxy.hold(/./, 'to server');
  const first = a.transport.ask(b.member, someAsk({ id: 'first', input: 'x'.repeat(25_000) }));
  await until(() => a.transport.counters.asksSent === 1);
  const caller = new AbortController();
  const waiting = a.transport.ask(b.member, someAsk({ id: 'given up' }), caller.signal);
  const last = a.transport.ask(b.member, someAsk({ id: 'last' }));
  await until(() => a.transport.counters.creditStalls > 0);
  caller.abort();
  await assert.rejects(waiting, { code: 'shard_not_owned' });
  held.release();
  await Promise.all([first, last]);
  assert.deepEqual(served, ['first', 'last']);
});

test('replies without room are reported as lost: a command may have happened, a query may be repeated', async (t) => {
  const { a, b, proxy } = await throughProxy(t);
  const release: (() => void)[] = [];
  b.transport.serve(({ id }) => new Promise((resolve) => release.push(() => resolve(`${id} ${'x'.repeat(15_000)}`))));
  const asks = Array.from({ length: 8 }, (_, i) => a.transport.ask(b.member, someAsk({ id: `c${i}`, query: i % 2 === 1 })));
  await until(() => release.length === asks.length);
  const held = proxy.hold(/./, 'to client');
  for (const answer of release) {
    answer();
    await new Promise((resolve) => setImmediate(resolve));
  }
  held.release();
  const outcomes = await Promise.allSettled(asks);
  const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'answered' : outcome.reason.code));
  assert.deepEqual(codes.slice(0, 4), Array(4).fill('answered'));
  assert.deepEqual(codes.slice(6), ['outcome_unknown', 'overloaded']);
});
