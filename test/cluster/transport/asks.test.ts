import assert from 'node:assert/strict';
import test from 'node:test';
import { monotonicMs } from '../../../src/clock.ts';
import type { RemoteAsk } from '../../../src/cluster/placement.ts';
import { callersToFlush } from '../../../src/cluster/transport/open-asks.ts';
import { AppError } from '../../../src/errors.ts';
import { connectAll, someAsk, type TestNode, testCluster, testNode } from '../../support/transports.ts';
import { until } from '../../support/until.ts';

test('an ask arrives unchanged and its reply is returned', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  const served: { ask: RemoteAsk; from: string }[] = [];
  b!.transport.serve((ask, from) => {
    served.push({ ask, from });
    return { sum: 3, text: 'äöü \u{1f600}', list: [null, { deep: true }] };
  });
  const sent = someAsk({ input: { amount: 1.5, text: 'a "quoted" ü' }, commandId: 'cmd_1', effectId: 'eff_1', trace: '00-1-2-01' });
  assert.deepEqual(await a!.transport.ask(b!.member, sent), { sum: 3, text: 'äöü \u{1f600}', list: [null, { deep: true }] });
  const plain = someAsk({ query: true });
  await a!.transport.ask(b!.member, plain);
  const repeat = someAsk({ repeat: true, commandId: 'cmd_2' });
  await a!.transport.ask(b!.member, repeat);
  const withoutDeadline = ({ deadlineMs, ...rest }: RemoteAsk) => rest;
  assert.deepEqual(
    served.map(({ ask }) => withoutDeadline(ask)),
    [sent, plain, repeat].map(withoutDeadline),
  );
  assert.deepEqual(
    served.map(({ from }) => from),
    Array(3).fill(a!.member.incarnation),
  );
});

test('null, undefined, false and 0 are returned unchanged', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  const replies = [null, undefined, false, 0, ''];
  b!.transport.serve(({ id }) => replies[Number(id)]);
  const received = await Promise.all(replies.map((_, i) => a!.transport.ask(b!.member, someAsk({ id: String(i) }))));
  assert.deepEqual(received, replies);
});

test('asks and notifications are handled in the order in which they were sent, on both sides at once', async (t) => {
  const nodes = await testCluster(t, ['a', 'b'], { windowBytes: 2_000 });
  const received = new Map<string, number[]>(nodes.map(({ member }) => [member.incarnation, []]));
  for (const { transport, member } of nodes) {
    const own = received.get(member.incarnation)!;
    transport.serve(({ input }) => void own.push(input as number));
    transport.onNotification('number', (payload) => own.push(payload as number));
  }
  const asks: Promise<unknown>[] = [];
  const count = 3_000;
  for (let i = 0; i < count; i++) {
    for (const [from, to] of [nodes, nodes.toReversed()] as [TestNode, TestNode][]) {
      if (i % 3 === 0) assert.equal(from.transport.notify(to.member, 'number', i), true);
      else asks.push(from.transport.ask(to.member, someAsk({ input: i })));
    }
  }
  await Promise.all(asks);
  const inOrder = Array.from({ length: count }, (_, i) => i);
  for (const numbers of received.values()) assert.deepEqual(numbers.slice(0, count), inOrder);
});

test('a refusal keeps its code, text, issues and retry time; a defect reveals nothing', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  const issues = [{ loc: ['body', 'name'], msg: 'too long', type: 'value_error', input: null, ctx: {} }];
  const failures: Record<string, unknown> = {
    invalid: new AppError('invalid', 'Name is too long', { issues }),
    later: new AppError('mailbox_full', 'Full', { retryAfterS: 7 }),
    stale: new AppError('stale_epoch', 'No longer ours'),
    defect: new TypeError('secret of the owner'),
  };
  b!.transport.serve(({ id, name }) => {
    if (name === 'throw') throw failures[id];
    return Promise.reject(failures[id]);
  });
  for (const name of ['throw', 'reject']) {
    const ask = (id: string) => a!.transport.ask(b!.member, someAsk({ id, name }));
    await assert.rejects(ask('invalid'), { name: 'AppError', code: 'invalid', message: 'Name is too long', issues });
    await assert.rejects(ask('later'), { code: 'mailbox_full', retryAfterS: 7, issues: undefined });
    await assert.rejects(ask('stale'), { code: 'stale_epoch' });
    await assert.rejects(ask('defect'), { code: 'internal', message: 'Internal error' });
  }
});

test('a reply that cannot be written as JSON is a defect of its owner, and the asks beside it are answered', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  b!.transport.serve(({ id }) => (id === 'bad' ? 10n : id));
  const [bad, good] = await Promise.allSettled(['bad', 'good'].map((id) => a!.transport.ask(b!.member, someAsk({ id }))));
  assert.equal((bad as PromiseRejectedResult).reason.code, 'internal');
  assert.deepEqual(good, { status: 'fulfilled', value: 'good' });
});

test('a node that does not serve yet refuses asks so that another node is asked', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  await assert.rejects(a!.transport.ask(b!.member, someAsk()), { code: 'shard_not_owned' });
});

test('nothing is sent to a node without a stream', async (t) => {
  const [a, b] = await Promise.all([testNode(t, 'a'), testNode(t, 'b')]);
  await assert.rejects(a.transport.ask(b.member, someAsk()), { code: 'shard_not_owned' });
  assert.equal(a.transport.notify(b.member, 'news', 1), false);
});

test('a deadline is sent as the remaining time, independent of the clocks of the nodes', async (t) => {
  const aheadMs = 40_000;
  const nodes = [await testNode(t, 'a'), await testNode(t, 'b', { clock: { nowMs: () => Date.now() + aheadMs } })];
  connectAll(nodes);
  const [a, b] = nodes as [TestNode, TestNode];
  await Promise.all([a.waitsFor('up'), b.waitsFor('up')]);
  let leftMs = 0;
  b.transport.serve(({ deadlineMs }: RemoteAsk) => void (leftMs = deadlineMs - monotonicMs()));
  await a.transport.ask(b.member, someAsk({ deadlineMs: monotonicMs() + 10_000 }));
  assert.ok(leftMs > 5_000 && leftMs <= 10_100, `${leftMs} ms left`);
});

test('a command without an answer in time is unknown, a query late; the owner is notified that the caller no longer waits', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  const gone: string[] = [];
  b!.transport.serve(({ name }, _from, signal) => {
    signal().addEventListener('abort', () => gone.push(name));
    return new Promise(() => {});
  });
  // Late enough that a busy machine also sends both asks before the deadline.
  const soon = () => monotonicMs() + 1_000;
  const command = a!.transport.ask(b!.member, someAsk({ name: 'command', deadlineMs: soon() }));
  const query = a!.transport.ask(b!.member, someAsk({ name: 'query', query: true, deadlineMs: soon() }));
  await Promise.all([assert.rejects(command, { code: 'outcome_unknown' }), assert.rejects(query, { code: 'overloaded' })]);
  await until(() => gone.length === 2);
  assert.equal(a!.transport.counters.asksWaiting, 0);
  assert.equal(b!.transport.counters.asksServed, 0);
});

test('an ask that expires before it is sent is not sent', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  b!.transport.serve(() => assert.fail('served'));
  await assert.rejects(a!.transport.ask(b!.member, someAsk({ deadlineMs: monotonicMs() - 1 })), { code: 'overloaded' });
  assert.equal(a!.transport.counters.asksSent, 0);
});

test('a caller that aborts is released at once, and the owner is notified', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  let began = () => {};
  const running = new Promise<void>((resolve) => (began = resolve));
  const gone = new Promise<void>((resolve) => {
    b!.transport.serve((_ask, _from, signal) => {
      signal().addEventListener('abort', () => resolve());
      began();
      return new Promise(() => {});
    });
  });
  const caller = new AbortController();
  const asked = a!.transport.ask(b!.member, someAsk(), caller.signal);
  await running;
  caller.abort();
  await assert.rejects(asked, { code: 'outcome_unknown' });
  await gone;
});

test('an ask that is aborted in the same tick is never sent', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  const served: string[] = [];
  b!.transport.serve(({ id }) => void served.push(id));
  const caller = new AbortController();
  const asked = a!.transport.ask(b!.member, someAsk({ id: 'given up' }), caller.signal);
  caller.abort();
  await assert.rejects(asked, { code: 'shard_not_owned' });
  await assert.rejects(a!.transport.ask(b!.member, someAsk({ id: 'too late' }), caller.signal), { code: 'shard_not_owned' });
  await a!.transport.ask(b!.member, someAsk({ id: 'after' }));
  assert.deepEqual(served, ['after']);
});

test('a batch larger than a gRPC message is sent in pieces, in order with other frames', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  const served: string[] = [];
  b!.transport.serve(({ id, input }) => {
    served.push(id);
    return input;
  });
  const large = 'ü'.repeat(5_000_000);
  const [, reply] = await Promise.all([
    a!.transport.ask(b!.member, someAsk({ id: 'before' })),
    a!.transport.ask(b!.member, someAsk({ id: 'large', input: large })),
    a!.transport.ask(b!.member, someAsk({ id: 'after' })),
  ]);
  assert.equal(reply, large);
  assert.deepEqual(served, ['before', 'large', 'after']);
});

test('an ask, reply or notification that is too large for another node is refused', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b'], { maxPayloadBytes: 100_000 });
  const large = 'ü'.repeat(60_000);
  b!.transport.serve(({ id }) => (id === 'large reply' ? large : 'small'));
  await assert.rejects(a!.transport.ask(b!.member, someAsk({ input: large })), { code: 'payload_too_large' });
  await assert.rejects(a!.transport.ask(b!.member, someAsk({ id: 'large reply', query: true })), { code: 'payload_too_large' });
  // The command has taken effect, so the code must not be that of a refusal.
  await assert.rejects(a!.transport.ask(b!.member, someAsk({ id: 'large reply' })), { code: 'reply_too_large' });
  assert.equal(a!.transport.notify(b!.member, 'news', large), false);
  assert.equal(await a!.transport.ask(b!.member, someAsk()), 'small');
});

test('a notification listener that throws does not affect other frames of its batch', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  b!.transport.onNotification('bad', () => {
    throw new Error('defect');
  });
  b!.transport.serve(() => 'answered');
  assert.equal(a!.transport.notify(b!.member, 'bad', 1), true);
  assert.equal(a!.transport.notify(b!.member, 'nobody listens for this', 1), true);
  assert.equal(await a!.transport.ask(b!.member, someAsk()), 'answered');
});

test('equal queries are merged only before they are sent and only for the same actor', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  let served = 0;
  b!.transport.serve(({ input }) => ({ input, served: ++served }));
  const ask = (changes: Partial<RemoteAsk>) =>
    a!.transport.ask(b!.member, someAsk({ query: true, input: 1, deadlineMs: monotonicMs() + 5_000, ...changes }));
  const together = [ask({}), ask({}), ask({ input: 2 }), ask({ query: false }), ask({ query: false })];
  assert.deepEqual(
    await Promise.all(together),
    [1, 1, 2, 3, 4].map((n) => ({ input: n === 2 ? 2 : 1, served: n })),
  );
  assert.deepEqual(await ask({}), { input: 1, served: 5 });
});

test('a query with many callers is sent before the tick ends when the peer is idle; equal later queries are sent separately', async (t) => {
  const [a, b] = await testCluster(t, ['a', 'b']);
  let served = 0;
  b!.transport.serve(() => ++served);
  const query = someAsk({ query: true, deadlineMs: monotonicMs() + 5_000 });
  const ask = () => a!.transport.ask(b!.member, query);
  assert.equal(await ask(), 1);
  const together = Array.from({ length: 3 * callersToFlush }, ask);
  assert.deepEqual(
    await Promise.all(together),
    together.map((_, n) => (n < callersToFlush ? 2 : 3)),
  );
});
