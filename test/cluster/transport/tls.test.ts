import assert from 'node:assert/strict';
import test from 'node:test';
import { authority, withoutOpenssl as skip } from '../../support/certificates.ts';
import { connectAll, someAsk, testCluster, testNode } from '../../support/transports.ts';

test('nodes with certificates of one authority speak TLS, and their host names are not compared', { skip }, async (t) => {
  const { node } = await authority(t);
  const [a, b] = await testCluster(t, ['a', 'b'], { tls: await node('somewhere.else') });
  b!.transport.serve(() => 'over TLS');
  assert.equal(await a!.transport.ask(b!.member, someAsk()), 'over TLS');
});

test('a node without a certificate, or with one of another authority, gets no stream although it has the key', { skip }, async (t) => {
  const [ours, theirs] = [await authority(t), await authority(t)];
  const a = await testNode(t, 'a', { tls: await ours.node('a') });
  const others = [
    await testNode(t, 'plain'),
    await testNode(t, 'foreign', { tls: await theirs.node('b') }),
    await testNode(t, 'half', { tls: { ...(await theirs.node('c')), ca: (await ours.node('d')).ca } }),
  ];
  for (const { transport } of [a, ...others]) transport.serve(() => assert.fail('served'));
  connectAll([a, ...others]);
  await Promise.all(others.flatMap((other) => [other.waitsFor('broken', a.member), a.waitsFor('broken', other.member)]));
  assert.equal(a.transport.counters.peersUp, 0);
});
