import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Member } from '../../../src/cluster/member.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { clusterKey, someAsk, type TestNode, testCluster, testNode } from '../../support/transports.ts';
import { until } from '../../support/until.ts';

test('two nodes that dial each other at the same time always keep exactly one stream', async (t) => {
  for (let round = 0; round < 10; round++) {
    const [a, b] = (await testCluster(t, ['a', 'b'])) as [TestNode, TestNode];
    for (const { transport, member } of [a, b]) transport.serve(() => member.name);
    assert.equal(await a.transport.ask(b.member, someAsk()), 'b');
    assert.equal(await b.transport.ask(a.member, someAsk()), 'a');
    assert.equal(a.transport.counters.peersUp, 1);
    assert.equal(b.transport.counters.peersUp, 1);
    await Promise.all([a, b].map(({ transport }) => transport.close(0)));
  }
});

test('every pair of many nodes connects', async (t) => {
  const nodes = await testCluster(t, ['a', 'b', 'c', 'd', 'e']);
  for (const { transport, member } of nodes) transport.serve((_ask, from) => `${member.name} to ${from.slice(0, 1)}`);
  for (const from of nodes) {
    for (const to of nodes) {
      if (from === to) continue;
      assert.equal(await from.transport.ask(to.member, someAsk()), `${to.member.name} to ${from.member.name}`);
    }
  }
});

test('a node that is not in the list yet is served when it dials, and stays connected when the list changes', async (t) => {
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => testNode(t, name)));
  a!.transport.serve(() => 'served');
  b!.transport.setMembers([a!.member]);
  await b!.waitsFor('up');
  a!.transport.setMembers([c!.member]);
  await a!.waitsFor('up', c!.member);
  a!.transport.setMembers([]);
  assert.equal(await b!.transport.ask(a!.member, someAsk()), 'served');
});

test('a killed node is reported as broken and then as refused; its open commands are unknown, its open queries may be repeated', async (t) => {
  const node = await testNode(t, 'node');
  const { child, member } = await childNode(t);
  child.send([node.member]);
  node.transport.setMembers([member]);
  await node.waitsFor('up');
  const command = node.transport.ask(member, someAsk({ name: 'never' }));
  const query = node.transport.ask(member, someAsk({ name: 'never', query: true }));
  assert.equal(await node.transport.ask(member, someAsk()), child.pid);
  child.kill('SIGKILL');
  await Promise.all([assert.rejects(command, { code: 'outcome_unknown' }), assert.rejects(query, { code: 'shard_not_owned' })]);
  await node.waitsFor('refused');
  assert.deepEqual(
    node.received.map(({ what }) => what),
    ['up', 'broken', 'refused'],
  );
  await node.waitsFor('refused', member, 2);
});

test('a paused process is silent, and is reached again when it continues', async (t) => {
  const node = await testNode(t, 'node', { receiveTimeoutMs: 1_000, dialWithinMs: 5_000 });
  const { child, member } = await childNode(t);
  node.transport.setMembers([member]);
  await node.waitsFor('up');
  child.kill('SIGSTOP');
  const asked = assert.rejects(node.transport.ask(member, someAsk()), { code: 'outcome_unknown' });
  await node.waitsFor('silent', member, 2);
  await asked;
  await assert.rejects(node.transport.ask(member, someAsk()), { code: 'shard_not_owned' });
  child.kill('SIGCONT');
  await node.waitsFor('up', member, 2);
  assert.equal(await node.transport.ask(member, someAsk()), child.pid);
});

for (const direction of ['to server', 'to client'] as const) {
  test(`a link that is frozen ${direction} is silent at both ends, and is reopened afterwards`, async (t) => {
    const options = { silentAfterMs: 1_000, dialWithinMs: 5_000 };
    const [a, b] = [await testNode(t, 'a', options), await testNode(t, 'b', options)];
    const proxy = await proxyTo(t, b);
    a.transport.setMembers([proxy.member]);
    await Promise.all([a.waitsFor('up'), b.waitsFor('up')]);
    const held = proxy.hold(/./, direction);
    await a.waitsFor('silent');
    await until(() => b.transport.counters.peersUp === 0);
    held.drop();
    proxy.cut(/./);
    b.transport.serve(() => 'served');
    await a.waitsFor('up', b.member, 2);
    assert.equal(await a.transport.ask(b.member, someAsk()), 'served');
  });
}

test('if only one of two nodes reaches the other, both use its stream', async (t) => {
  for (const reaching of [0, 1]) {
    const nodes = [await testNode(t, 'a'), await testNode(t, 'b')] as [TestNode, TestNode];
    const from = nodes[reaching]!;
    const to = nodes[1 - reaching]!;
    const proxy = await proxyTo(t, from);
    // A node that cannot be reached accepts the connection and sends nothing.
    proxy.hold(/./, 'to server');
    to.transport.setMembers([proxy.member]);
    from.transport.setMembers([to.member]);
    await Promise.all([from.waitsFor('up'), to.waitsFor('up')]);
    from.transport.serve(() => 'served');
    assert.equal(await to.transport.ask(from.member, someAsk()), 'served');
  }
});

test('a cut link is reported as broken and reopened at once', async (t) => {
  const [a, b] = [await testNode(t, 'a'), await testNode(t, 'b')];
  const proxy = await proxyTo(t, b);
  a.transport.setMembers([proxy.member]);
  b.transport.serve(({ name }) => (name === 'never' ? new Promise(() => {}) : 'served'));
  await a.waitsFor('up');
  const asked = a.transport.ask(b.member, someAsk({ name: 'never' }));
  await until(() => b.transport.counters.asksServed === 1);
  proxy.cut(/./);
  await assert.rejects(asked, { code: 'outcome_unknown' });
  await a.waitsFor('up', b.member, 2);
  await until(() => b.transport.counters.asksServed === 0);
  assert.deepEqual(
    a.received.map(({ what }) => what),
    ['up', 'broken', 'up'],
  );
  assert.equal(await a.transport.ask(b.member, someAsk()), 'served');
});

test('a node that leaves the list gets a goodbye: open asks are answered, and it is not reported as down', async (t) => {
  const [a, b] = (await testCluster(t, ['a', 'b'])) as [TestNode, TestNode];
  const answers: (() => void)[] = [];
  b.transport.serve(() => new Promise((resolve) => answers.push(() => resolve('answered'))));
  const open = a.transport.ask(b.member, someAsk());
  await until(() => answers.length === 1);
  b.transport.setMembers([]);
  a.transport.setMembers([]);
  await assert.rejects(a.transport.ask(b.member, someAsk()), { code: 'shard_not_owned' });
  answers[0]!();
  assert.equal(await open, 'answered');
  await until(() => a.transport.counters.peersUp + b.transport.counters.peersUp === 0);
  assert.deepEqual(
    [...a.received, ...b.received].map(({ what }) => what),
    ['up', 'up'],
  );
});

test('a node that closes answers its open asks, gets no new ones, and then stops listening', async (t) => {
  const [a, b] = (await testCluster(t, ['a', 'b'])) as [TestNode, TestNode];
  const answers: (() => void)[] = [];
  b.transport.serve(() => new Promise((resolve) => answers.push(() => resolve('answered'))));
  const open = a.transport.ask(b.member, someAsk());
  await until(() => answers.length === 1);
  const closed = b.transport.close(10_000);
  await until(() => a.transport.peerStatuses()[0]!.takesAsks === false);
  await assert.rejects(a.transport.ask(b.member, someAsk()), { code: 'shard_not_owned' });
  answers[0]!();
  assert.equal(await open, 'answered');
  await closed;
  await a.waitsFor('refused');
  assert.deepEqual(
    a.received.filter(({ what }) => what === 'broken' || what === 'silent'),
    [],
  );
});

test('answers that arrived before a stream closes are not lost', async (t) => {
  const [a, b] = (await testCluster(t, ['a', 'b'])) as [TestNode, TestNode];
  const count = 2_000;
  let closed: Promise<void> | null = null;
  b.transport.serve(({ id }) => {
    if (Number(id) === count - 1) closed = b.transport.close(10_000);
    return id;
  });
  const ids = Array.from({ length: count }, (_, i) => String(i));
  assert.deepEqual(await Promise.all(ids.map((id) => a.transport.ask(b.member, someAsk({ id })))), ids);
  await closed;
});

test('a node that closes has delivered its last answers, however large, whichever side dialed', async (t) => {
  for (const [from, to] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const nodes = (await testCluster(t, ['a', 'b'])) as [TestNode, TestNode];
    const count = 100;
    const answer = 'x'.repeat(60_000);
    let closed: Promise<void> | null = null;
    nodes[to].transport.serve(({ id }) => {
      if (Number(id) === count - 1) closed = nodes[to].transport.close(10_000);
      return answer;
    });
    const asks = Array.from({ length: count }, (_, i) => nodes[from].transport.ask(nodes[to].member, someAsk({ id: String(i) })));
    assert.ok((await Promise.all(asks)).every((each) => each === answer));
    await closed;
  }
});

test('closing waits for answers at most for its grace period', async (t) => {
  const [a, b] = (await testCluster(t, ['a', 'b'])) as [TestNode, TestNode];
  const gone = new Promise<void>((resolve) => {
    b.transport.serve((_ask, _from, signal) => {
      signal().addEventListener('abort', () => resolve());
      return new Promise(() => {});
    });
  });
  const open = assert.rejects(a.transport.ask(b.member, someAsk()), { code: 'outcome_unknown' });
  await until(() => b.transport.counters.asksServed === 1);
  await b.transport.close(50);
  await Promise.all([open, gone]);
});

test('pings measure the round trip', async (t) => {
  const [a] = (await testCluster(t, ['a', 'b'], { receiveTimeoutMs: 400 })) as [TestNode];
  await until(() => a.transport.peerStatuses()[0]!.roundTripMs !== null);
  assert.ok(a.transport.peerStatuses()[0]!.roundTripMs! > 0);
});

async function childNode(t: TestContext): Promise<{ child: ReturnType<typeof fork>; member: Member }> {
  const child = fork(fileURLToPath(new URL('./peer-process.ts', import.meta.url)), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, CLUSTER_KEY: clusterKey },
  });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const [member] = (await once(child, 'message')) as [Member];
  return { child, member };
}

/** A proxy of a node, and the member record with the proxy's address. */
async function proxyTo(t: TestContext, node: TestNode): Promise<TcpProxy & { member: Member }> {
  const proxy = await TcpProxy.before(`tcp://127.0.0.1:${node.member.port}`);
  t.after(() => proxy.close());
  return Object.assign(proxy, { member: { ...node.member, port: Number(new URL(proxy.url).port) } });
}
