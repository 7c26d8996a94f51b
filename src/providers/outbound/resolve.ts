/**
 * Resolves untrusted host names. The system's look-up blocks one of the process's few threads while a name server does not answer, and
 * files and passwords need those threads too; so such names are resolved by DNS directly, on sockets, with a time limit.
 */
import { lookup, Resolver } from 'node:dns/promises';

export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>;

const queryTimeoutMs = 1_500;
const tries = 2;

/** By the system's resolver, with its files and search domains. */
export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * By DNS alone, except names without a dot, which cannot be registered publicly.
 *
 * @param isLocalAllowed the system resolves names that DNS does not have
 */
export function dnsResolve(isLocalAllowed: boolean): Resolve {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries });
  return async (hostname) => {
    if (!hostname.includes('.')) return systemResolve(hostname);
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length > 0) return found;
    if (isLocalAllowed) return systemResolve(hostname);
    throw four.status === 'rejected' ? four.reason : new Error(`${hostname} has no address`);
  };
}
