/** Checks the address of a request: its form, a literal address in it, and every address to which its name resolves at the time of the connection. */
import type { LookupFunction } from 'node:net';
import { AppError } from '../../errors.ts';
import type { Resolve } from './resolve.ts';

/** The one look-up of a connection: all addresses of the name must be permitted, and only those are connected to. */
export function pinnedLookup(resolve: Resolve, permits: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0];
        if (!first) return callback(new AppError('unavailable', `${hostname} has no address`), '', 0);
        if (!addresses.every(({ address }) => permits(address))) return callback(forbidden(hostname), '', 0);
        if (options.all) return callback(null, addresses, 0);
        callback(null, first.address, first.family);
      },
      (error: unknown) => callback(new AppError('unavailable', `${hostname} is not a known host name`, { cause: error }), '', 0),
    );
  };
}

export function parseUrl(address: string, base?: URL): URL {
  const url = URL.canParse(address, base?.href) ? new URL(address, base?.href) : null;
  if (!url) throw new AppError('bad_request', 'The address is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new AppError('bad_request', 'Only http and https addresses can be fetched');
  if (url.username || url.password) throw new AppError('bad_request', 'An address with a user name or password in it is not fetched');
  return url;
}

/** URL parsing has already turned decimal, octal and hexadecimal spellings into dotted decimal. */
export function isLiteral(hostname: string): boolean {
  return hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
}

export function forbidden(host: string): AppError {
  return new AppError('forbidden', `${host} is not a public address; it may not be reached from here`);
}
