/**
 * TCP connections by the same rules as the requests of `Outbound`: for programs with their own protocol implementations, such as a browser.
 * A name is resolved once, all its addresses are checked, and the socket connects only to checked addresses.
 */
import { connect, type Socket } from 'node:net';
import { AppError } from '../../errors.ts';
import { forbidden, isLiteral, parseUrl, pinnedLookup } from './address-check.ts';
import { createAddressPolicy } from './address-policy.ts';
import { dnsResolve, type Resolve } from './resolve.ts';

const connectTimeoutMs = 5_000;

export type Connector = {
  /**
   * Resolves with a connected socket, whose errors have no listener yet. Throws `AppError`: `bad_request` for what is no host, `forbidden` for
   * an address that is not permitted, `unavailable` where there is no connection in time.
   *
   * @param host a name or an address, IPv6 with or without brackets
   */
  connect(host: string, port: number): Promise<Socket>;
};

/** @param allow ranges permitted although private (OUTBOUND_ALLOW) */
export function createConnector(allow: string[], resolve: Resolve = dnsResolve(allow.length > 0)): Connector {
  const policy = createAddressPolicy(allow);
  const lookup = pinnedLookup(resolve, policy.permits);
  return {
    async connect(host, port) {
      const { hostname } = parseUrl(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`);
      const literal = hostname.replace(/^\[|\]$/g, '');
      // A literal address never reaches the resolver, so it is checked here.
      if (isLiteral(hostname) && !policy.permits(literal)) throw forbidden(hostname);
      return await opened(connect({ host: literal, port, lookup, allowHalfOpen: true, timeout: connectTimeoutMs }), hostname);
    },
  };
}

function opened(socket: Socket, hostname: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      socket.destroy();
      reject(error instanceof AppError ? error : new AppError('unavailable', `${hostname} could not be reached`, { cause: error }));
    };
    const late = () => fail(new AppError('unavailable', `${hostname} did not answer in time`));
    socket.once('error', fail);
    socket.once('timeout', late);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', fail);
      socket.off('timeout', late);
      resolve(socket);
    });
  });
}
