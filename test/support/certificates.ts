/** Certificates for tests of TLS, made by openssl. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type Certificate = { ca: string; cert: string; key: string };
/** `caFile`, `certFile`, `keyFile`: the same as files that any user may read. */
export type Authority = {
  caFile: string;
  node(host: string): Promise<Certificate & { certFile: string; keyFile: string }>;
};

/** The reason to skip a test that needs certificates; false where they can be made. */
export const withoutOpenssl: string | false = hasOpenssl() ? false : 'openssl, which makes the certificates, is not on the PATH';

/** An authority of its own, and the certificates that it signs. */
export async function authority(t: Scope): Promise<Authority> {
  const folder = await temporaryFolder('troupe-tls-');
  t.after(() => folder.remove());
  const at = (name: string): string => join(folder.path, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const key = (name: string): string[] => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at(name)];
  openssl('req', '-x509', ...key('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', '/CN=cluster');
  return {
    caFile: at('ca.pem'),
    async node(host) {
      openssl('req', ...key(`${host}.key`), '-out', at(`${host}.csr`), '-subj', `/CN=${host}`);
      await writeFile(at(`${host}.ext`), `subjectAltName=DNS:${host}`);
      const by = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at(`${host}.ext`)];
      openssl('x509', '-req', '-in', at(`${host}.csr`), '-out', at(`${host}.pem`), ...by);
      const [ca, cert, secret] = await Promise.all(['ca.pem', `${host}.pem`, `${host}.key`].map((name) => readFile(at(name), 'utf8')));
      await writeFile(at(`${host}.open.key`), secret!, { mode: 0o644 });
      return { ca: ca!, cert: cert!, key: secret!, certFile: at(`${host}.pem`), keyFile: at(`${host}.open.key`) };
    },
  };
}

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
