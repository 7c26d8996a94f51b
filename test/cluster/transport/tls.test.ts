import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { ClusterTls } from '../../../src/cluster/transport/credentials.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { connectAll, someAsk, testCluster, testNode } from '../../support/transports.ts';

const skip = hasOpenssl() ? false : 'openssl, which makes the certificates, is not on the PATH';

test('nodes with certificates of one authority speak TLS, and their host names are not compared', { skip }, async (t) => {
  const { node } = await authority(t);
  const [a, b] = await testCluster(t, ['a', 'b'], { tls: await node('somewhere.else') });
  b!.transport.serve(() => 'over TLS');
  assert.equal(await a!.transport.ask(b!.member, someAsk()), 'over TLS');
});

test('a node without a certificate, or with one of another authority, gets no stream although it knows the key', { skip }, async (t) => {
  const [ours, theirs] = [await authority(t), await authority(t)];
  const a = await testNode(t, 'a', { tls: await ours.node('a') });
  const others = [
    await testNode(t, 'plain'),
    await testNode(t, 'stranger', { tls: await theirs.node('b') }),
    await testNode(t, 'half', { tls: { ...(await theirs.node('c')), ca: (await ours.node('d')).ca } }),
  ];
  for (const { transport } of [a, ...others]) transport.serve(() => assert.fail('served'));
  connectAll([a, ...others]);
  await Promise.all(others.flatMap((other) => [other.hears('broken', a.member), a.hears('broken', other.member)]));
  assert.equal(a.transport.counters.peersUp, 0);
});

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

/** An authority of its own, and the certificates that it signs. */
async function authority(t: TestContext): Promise<{ node(host: string): Promise<ClusterTls> }> {
  const folder = await temporaryFolder('troupe-tls-');
  t.after(() => folder.remove());
  const at = (name: string): string => join(folder.path, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const key = (name: string): string[] => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at(name)];
  openssl('req', '-x509', ...key('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', '/CN=cluster');
  return {
    async node(host) {
      openssl('req', ...key(`${host}.key`), '-out', at(`${host}.csr`), '-subj', `/CN=${host}`);
      await writeFile(at(`${host}.ext`), `subjectAltName=DNS:${host}`);
      const by = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at(`${host}.ext`)];
      openssl('x509', '-req', '-in', at(`${host}.csr`), '-out', at(`${host}.pem`), ...by);
      const [ca, cert, secret] = await Promise.all(['ca.pem', `${host}.pem`, `${host}.key`].map((name) => readFile(at(name), 'utf8')));
      return { ca: ca!, cert: cert!, key: secret! };
    },
  };
}
