import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import { credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import type { Clock } from '../../../src/clock.ts';
import { type ClusterClaims, createClusterTokens } from '../../../src/cluster/transport/cluster-token.ts';
import { ClusterService, type Parcel } from '../../../src/cluster/transport/contract.ts';
import { Wire } from '../../../src/cluster/transport/wire.ts';
import { createTokens } from '../../../src/edge/auth/tokens.ts';
import { noLog } from '../../../src/log.ts';
import { clusterKey, connectAll, someAsk, type TestNode, testNode } from '../../support/transports.ts';
import { until } from '../../support/until.ts';

const unknownNode = 'unknown/1';
type Call = ConstructorParameters<typeof Wire>[0];

const clock: Clock = { nowMs: () => Date.now() };
const refused = { code: 'shard_not_owned' };

test('nodes of version N and N + 1 use the highest common protocol, whichever dials', async (t) => {
  const lines: object[] = [];
  const log = { ...noLog, info: (fields: object) => lines.push(fields), child: () => log };
  const older = await testNode(t, 'older', { protocol: { lowest: 1, highest: 2 }, log });
  const newer = await testNode(t, 'newer', { protocol: { lowest: 2, highest: 3 }, log });
  connectAll([older, newer]);
  await Promise.all([older.waitsFor('up'), newer.waitsFor('up')]);
  assert.deepEqual(
    lines.filter((line) => 'protocol' in line),
    [{ protocol: 2 }, { protocol: 2 }],
  );
});

test('nodes without a common protocol reject each other, and both log the reason', async (t) => {
  const said = new Map<string, string[]>();
  const node = (name: string, protocol: { lowest: number; highest: number }) => {
    const lines: string[] = [];
    said.set(name, lines);
    const log = { ...noLog, warn: (fields: { detail?: string }) => void lines.push(fields.detail!), child: () => log };
    return testNode(t, name, { protocol, log });
  };
  const [older, newer] = [await node('older', { lowest: 1, highest: 1 }), await node('newer', { lowest: 2, highest: 3 })];
  connectAll([older, newer]);
  await Promise.all([older.waitsFor('rejected'), newer.waitsFor('rejected')]);
  await assert.rejects(older.transport.ask(newer.member, someAsk()), refused);
  const line = `no common protocol: ${older.member.incarnation} speaks 1, ${newer.member.incarnation} speaks 2 to 3`;
  await until(() => said.get('older')!.includes(line) && said.get('newer')!.includes(line));
});

test('nodes with different values of SECRET_KEY reject each other in both directions', async (t) => {
  const [ours, theirs] = [await testNode(t, 'ours'), await testNode(t, 'theirs', { secretKey: `${clusterKey}!` })];
  for (const { transport } of [ours, theirs]) transport.serve(() => assert.fail('served'));
  connectAll([ours, theirs]);
  await Promise.all([ours.waitsFor('rejected'), theirs.waitsFor('rejected')]);
  assert.equal(ours.transport.notify(theirs.member, 'news', 1), false);
  assert.deepEqual(
    [ours, theirs].map(({ transport }) => transport.counters.peersUp),
    [0, 0],
  );
});

test('nodes whose clocks differ by more than a minute reject each other', async (t) => {
  const [now, ahead] = [await testNode(t, 'now'), await testNode(t, 'ahead', { clock: { nowMs: () => Date.now() + 180_000 } })];
  connectAll([now, ahead]);
  await Promise.all([now.waitsFor('rejected'), ahead.waitsFor('rejected')]);
});

test('if another incarnation answers, the wanted one is reported as other', async (t) => {
  const [a, b] = [await testNode(t, 'a'), await testNode(t, 'b')];
  const former = { ...b.member, incarnation: 'b/former' };
  a.transport.setMembers([former]);
  await a.waitsFor('other', former);
  const itself = { ...a.member, incarnation: 'z/lost' };
  a.transport.setMembers([itself]);
  await a.waitsFor('other', itself);
  assert.equal(b.transport.counters.peersUp, 0);
});

test('an unauthenticated peer gets only a nonce, whatever it sends', async (t) => {
  const { node, open } = await nodeAndRawClient(t);
  const batch = Buffer.from('[[1,1,10000,"counter","c1","add",null,0],[5,"news",1]]');
  for (const parcels of [
    [{ batch }],
    [{ proof: { token: 'v4.public.AAAA' } }],
    [{ hello: { ...hello(node), nonce: Buffer.alloc(3) } }],
    [{ hello: { ...hello(node), from: '' } }],
    [{}],
    [{ piece: Buffer.alloc(200_000) }],
  ] as Parcel[][]) {
    const wire = open();
    for (const parcel of parcels) wire.write(parcel);
    assert.equal(await wire.next(), null);
  }
  const wire = open();
  wire.write({ hello: hello(node) });
  assert.deepEqual(Object.keys((await wire.next())!), ['challenge']);
  wire.write({ batch });
  assert.equal((await wire.next())!.refusal!.reason, 'NOT_AUTHENTIC');
  assert.equal(await wire.next(), null);
  assert.equal(node.transport.counters.peersUp, 0);
});

test("a proof is valid only if it is signed with the cluster's key, now, for this stream, by the named sender, for this node", async (t) => {
  const { node, open } = await nodeAndRawClient(t);
  const tokens = await createClusterTokens({ secretKey: clusterKey, clock });
  const wrong: Record<string, (claims: ClusterClaims) => Promise<string>> = {
    empty: async () => '',
    nonsense: async () => 'v4.public.nonsense',
    'of another key': async (claims) => (await createClusterTokens({ secretKey: `${clusterKey}?`, clock })).sign(claims),
    'expired long ago': async (claims) =>
      (await createClusterTokens({ secretKey: clusterKey, clock: { nowMs: () => Date.now() - 200_000 } })).sign(claims),
    'from the future': async (claims) =>
      (await createClusterTokens({ secretKey: clusterKey, clock: { nowMs: () => Date.now() + 200_000 } })).sign(claims),
    'of another stream': (claims) => tokens.sign({ ...claims, nonce: randomBytes(32) }),
    'to another node': (claims) => tokens.sign({ ...claims, to: 'another/1' }),
    'of another node': (claims) => tokens.sign({ ...claims, from: 'another/1' }),
    'of another protocol': (claims) => tokens.sign({ ...claims, protocol: 2 }),
    'of the other side': (claims) => tokens.sign({ ...claims, side: 'acceptor' }),
    'for a person': async () =>
      (await createTokens({ secretKey: clusterKey, clock })).accessToken({ userId: unknownNode, accountId: 'acct_1', sessionId: 'ses_1' }),
  };
  for (const [name, sign] of Object.entries({ ...wrong, good: (claims: ClusterClaims) => tokens.sign(claims) })) {
    const wire = open();
    wire.write({ hello: hello(node) });
    const { nonce, protocol } = (await wire.next())!.challenge!;
    const claims = { from: unknownNode, to: node.member.incarnation, side: 'dialer', protocol, nonce } as const;
    wire.write({ proof: { token: await sign(claims) } });
    const answer = (await wire.next())!;
    assert.equal(answer.refusal?.reason, name === 'good' ? undefined : 'NOT_AUTHENTIC', name);
    if (name === 'good') assert.ok(answer.welcome);
  }
  assert.deepEqual(node.received, [{ from: unknownNode, what: 'up' }]);
});

test('a recorded handshake cannot be replayed', async (t) => {
  const { node, open } = await nodeAndRawClient(t);
  const tokens = await createClusterTokens({ secretKey: clusterKey, clock });
  const said = hello(node);
  const first = open();
  first.write({ hello: said });
  const { nonce, protocol } = (await first.next())!.challenge!;
  const token = await tokens.sign({ from: unknownNode, to: node.member.incarnation, side: 'dialer', protocol, nonce });
  first.write({ proof: { token } });
  assert.ok((await first.next())!.welcome);

  const second = open();
  second.write({ hello: said });
  assert.notDeepEqual((await second.next())!.challenge!.nonce, nonce);
  second.write({ proof: { token } });
  assert.equal((await second.next())!.refusal!.reason, 'NOT_AUTHENTIC');
  assert.equal(node.transport.counters.peersUp, 1);
});

test('a server that cannot prove that it has the key is rejected, and gets nothing after the proof', async (t) => {
  const sentByDialer: string[] = [];
  const server = new Server();
  server.addService(ClusterService.service, {
    connect: async (call: Call) => {
      const wire = new Wire(call, () => {});
      const { from, to } = (await wire.next())!.hello!;
      wire.write({ challenge: { protocol: 1, nonce: randomBytes(32) } });
      const proof = await wire.next();
      sentByDialer.push(...Object.keys(proof!));
      // The dialer's own token, sent back.
      assert.ok(from !== to);
      wire.write({ welcome: { token: proof!.proof!.token } });
      const next = await wire.next();
      sentByDialer.push(...Object.keys(next ?? { 'the end': 1 }));
    },
  });
  const port = await new Promise<number>((resolve) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_, taken) => resolve(taken)),
  );
  t.after(() => server.forceShutdown());
  const node = await testNode(t, 'node');
  node.transport.setMembers([{ ...node.member, incarnation: unknownNode, port }]);
  await node.waitsFor('rejected');
  await until(() => sentByDialer.length >= 2);
  assert.deepEqual(sentByDialer.slice(0, 2), ['proof', 'the end']);
});

test('handshakes that stall are ended, and their number is limited', async (t) => {
  const { node, open } = await nodeAndRawClient(t, { dialWithinMs: 3_000, maxHandshakes: 3 });
  const idle = [open(), open(), open()];
  for (const wire of idle) wire.write({ hello: hello(node) });
  for (const wire of idle) assert.ok((await wire.next())!.challenge);
  const oneMore = open();
  oneMore.write({ hello: hello(node) });
  assert.equal(await oneMore.next(), null);
  for (const wire of idle) assert.equal(await wire.next(), null);
  const later = open();
  later.write({ hello: hello(node) });
  assert.ok((await later.next())!.challenge);
});

async function nodeAndRawClient(t: TestContext, options = {}): Promise<{ node: TestNode; open: () => Wire }> {
  const node = await testNode(t, 'node', options);
  node.transport.serve(() => assert.fail('an unknown node was served'));
  node.transport.onNotification('news', () => assert.fail('an unknown node was notified'));
  const open = (): Wire => {
    const client = new ClusterService(`127.0.0.1:${node.member.port}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    });
    const wire = new Wire(client.connect!() as unknown as Call, () => client.close());
    t.after(() => wire.cut('the test is over'));
    return wire;
  };
  return { node, open };
}

function hello(node: TestNode) {
  return { lowestProtocol: 1, highestProtocol: 1, from: unknownNode, to: node.member.incarnation, nonce: randomBytes(32) };
}
