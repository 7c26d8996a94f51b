/** DATABASE_URL: its TLS options have the meaning of PostgreSQL's own clients (libpq), which `pg` interprets differently. */
import { isIP } from 'node:net';

const sslModes = ['disable', 'prefer', 'require', 'no-verify', 'verify-ca', 'verify-full'];
/** Parameters that each connection sets itself. */
const ownParameters = ['application_name', 'fallback_application_name', 'statement_timeout', 'lock_timeout', 'query_timeout'];

/** What is wrong with the TLS options of an address, for people; null if they are valid. */
export function databaseTlsFault(url: string): string | null {
  const { searchParams, hostname } = new URL(url);
  const mode = searchParams.get('sslmode');
  const roots = searchParams.get('sslrootcert');
  if (mode !== null && !sslModes.includes(mode)) return `sslmode must be one of ${sslModes.join(', ')}`;
  if (roots === 'system' && (mode ?? 'verify-full') !== 'verify-full') return 'sslrootcert=system needs sslmode=verify-full';
  if (mode === 'verify-ca' && roots === null) return 'sslmode=verify-ca needs sslrootcert, a PEM file with the certificates to trust';
  // `pg` would check another name in the certificate.
  if ((mode === 'verify-full' || roots === 'system') && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)
    return 'sslmode=verify-full compares the name of the host with the certificate: give a name instead of an address, or sslmode=verify-ca with sslrootcert';
  return null;
}

/** Whether the address uses TLS without checking the server's certificate. */
export function trustsAnyServer(url: string): boolean {
  const { searchParams } = new URL(url);
  const mode = searchParams.get('sslmode') ?? '';
  return mode === 'no-verify' || (['prefer', 'require'].includes(mode) && !searchParams.has('sslrootcert'));
}

export function bindsChannel(url: string): boolean {
  return ['prefer', 'require'].includes(new URL(url).searchParams.get('channel_binding') ?? '');
}

/** The same address in the form of `pg`, without parameters that each connection sets itself. */
export function asPgReadsIt(text: string): string {
  const url = new URL(text);
  const { searchParams } = url;
  for (const name of ownParameters) searchParams.delete(name);
  if (searchParams.get('sslrootcert') === 'system') {
    // The certificates that Node trusts by default.
    searchParams.delete('sslrootcert');
    searchParams.set('sslmode', 'verify-full');
  }
  if (searchParams.has('sslmode') && searchParams.get('sslmode') !== 'no-verify') searchParams.set('uselibpqcompat', 'true');
  return url.href;
}
