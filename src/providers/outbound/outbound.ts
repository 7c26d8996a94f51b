/**
 * The guarded HTTP client for every request on behalf of a user or an agent. A name is resolved once, all its addresses are checked, and
 * the socket connects to the checked addresses, so a name that resolves differently after the check (DNS rebinding) has no effect.
 * Redirects are followed here, and each is checked. Time, header size, body size (after decompression) and redirects are limited.
 */
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { AppError } from '../../errors.ts';
import { forbidden, isLiteral, parseUrl, pinnedLookup } from './address-check.ts';
import { createAddressPolicy } from './address-policy.ts';
import { Deadline } from './deadline.ts';
import { openSocket } from './open-socket.ts';
import { OriginLimits } from './origin-limits.ts';
import { NeverSent, type Outbound } from './port.ts';
import { boundedBody, readBody } from './read-body.ts';
import { dnsResolve, type Resolve, systemResolve } from './resolve.ts';

export type { Outbound, OutboundRequest, OutboundResponse } from './port.ts';

export type OutboundOptions = {
  /** Ranges permitted although private (OUTBOUND_ALLOW). */
  allow: string[];
  resolve?: Resolve;
  /** Connections to one origin, half of them for one account; others wait. null: the caller limits them. Default 16. */
  connections?: number | null;
};

const maxHeaderBytes = 16 * 1024;
const connectTimeoutMs = 5000;
const socketLimits = { connectTimeoutMs, maxHeaderBytes, maxMessageBytes: 2 ** 20 };
/** Headers that are also sent to another origin after a redirect; any other could be a credential. */
const harmlessHeaders = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

export function createOutbound({ allow, resolve, connections = 16 }: OutboundOptions): Outbound {
  const policy = createAddressPolicy(allow);
  const guardedLookup = pinnedLookup(resolve ?? dnsResolve(allow.length > 0), policy.permits);
  const trustingLookup = pinnedLookup(resolve ?? systemResolve, () => true);
  const guarded = agent(guardedLookup, connections);
  const trusting = agent(trustingLookup, connections);
  // Streams stay open: they must not take the connections that short requests share.
  const streaming = agent(guardedLookup, null);

  const limits = connections === null ? null : new OriginLimits(connections);

  // A literal address never reaches the resolver, so it is checked here.
  function checkAddress({ hostname }: URL): void {
    if (isLiteral(hostname) && !policy.permits(hostname.replace(/^\[|\]$/g, ''))) throw forbidden(hostname);
  }

  return {
    check(address) {
      const url = parseUrl(address);
      checkAddress(url);
      const meant = localNames.find(([pattern]) => pattern.test(url.hostname));
      if (meant !== undefined && !policy.permits(meant[1])) throw forbidden(url.hostname);
    },
    async fetch(address, request = {}) {
      const { timeoutMs = 15_000, maxBytes = 2 ** 20, configured = false, raw = false } = request;
      const redirects = configured ? 0 : (request.redirects ?? 5);
      let hop: Hop = { url: parseUrl(address), method: request.method ?? 'GET', headers: lowerCased(request.headers), body: request.body };
      let leave: (() => void) | null = null;
      let isSent = false;
      const onSend = () => {
        isSent = true;
      };
      const deadline = new Deadline(timeoutMs, request.signal);
      const { signal } = deadline;
      try {
        for (let left = redirects; ; left--) {
          if (!configured) checkAddress(hop.url);
          leave = (await limits?.enter(hop.url.origin, request.account ?? '', signal)) ?? null;
          const response = await send(configured ? trusting : guarded, hop, signal, onSend);
          const next = redirects === 0 ? null : redirectTarget(response, hop);
          if (!next) {
            const body = await readBody(response.body, raw ? undefined : response.headers['content-encoding'], maxBytes, signal);
            return { status: response.statusCode, headers: flatten(response.headers), url: hop.url.href, ...body };
          }
          response.body.on('error', () => {}).destroy();
          leave?.();
          if (left === 0) throw new AppError('unavailable', `${hop.url.host} redirects too often`);
          hop = next;
        }
      } catch (error) {
        const reported = failure(error, hop.url.host, timeoutMs, deadline, request.signal);
        throw !isSent && reported instanceof AppError && reported !== request.signal?.reason ? new NeverSent(reported) : reported;
      } finally {
        leave?.();
        deadline.clear();
      }
    },
    async stream(address, request = {}) {
      const { timeoutMs = 15_000, maxBytes = 2 ** 20, method = 'GET', body } = request;
      const hop: Hop = { url: parseUrl(address), method, headers: { 'accept-encoding': 'identity', ...lowerCased(request.headers) }, body };
      const deadline = new Deadline(timeoutMs, request.signal);
      try {
        checkAddress(hop.url);
        const response = await send(streaming, hop, deadline.signal);
        const bounded = boundedBody(response.body, maxBytes, request.signal);
        return { status: response.statusCode, headers: flatten(response.headers), body: bounded };
      } catch (error) {
        throw failure(error, hop.url.host, timeoutMs, deadline, request.signal);
      } finally {
        deadline.clear();
      }
    },
    webSocket(address, listener, { configured = false } = {}) {
      const url = parseUrl(address.replace(/^ws(s?):/i, 'http$1:'));
      if (!configured) checkAddress(url);
      return openSocket(url, configured ? trustingLookup : guardedLookup, socketLimits, listener);
    },
    async close() {
      await Promise.all([guarded.destroy(), trusting.destroy(), streaming.destroy()]);
    },
  };
}

function failure(error: unknown, host: string, timeoutMs: number, deadline: Deadline, asker: AbortSignal | undefined): unknown {
  if (asker?.aborted) return asker.reason;
  if (error instanceof AppError) return error;
  if (deadline.isOver) return new AppError('unavailable', `${host} did not answer within ${timeoutMs / 1000} s`, { cause: error });
  return new AppError('unavailable', `${host} could not be reached: ${reason(error)}`, { cause: error });
}

/** Names with an address that is known without DNS. */
const localNames: [RegExp, string][] = [
  [/^(.+\.)?localhost\.?$/, '127.0.0.1'],
  [/^metadata(\.google\.internal)?\.?$/, '169.254.169.254'],
];

type Hop = { url: URL; method: string; headers: Record<string, string>; body: string | Uint8Array | undefined };

/** Calls `opaque.onSend` of a request right before its first byte is written to a connection. */
const noteSending: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { opaque } = options as Dispatcher.RequestOptions<{ onSend?(): void } | null>;
  const { onRequestStart } = handler;
  if (opaque?.onSend !== undefined)
    handler.onRequestStart = (controller, context) => {
      onRequestStart?.call(handler, controller, context);
      // One that was given up while it waited for the connection is not written.
      if (!controller.aborted) opaque.onSend!();
    };
  return dispatch(options, handler);
};

function agent(lookup: LookupFunction, connections: number | null): Dispatcher {
  const connecting = new Agent({
    connect: { lookup, timeout: connectTimeoutMs },
    connections: connections ?? undefined,
    // With HTTP/2 all requests to an origin would wait for the first connection, which may hang.
    allowH2: false,
    keepAliveTimeout: 4000,
    maxHeaderSize: maxHeaderBytes,
    // The deadline of the whole request replaces these.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return connecting.compose(noteSending);
}

function send(dispatcher: Dispatcher, hop: Hop, signal: AbortSignal, onSend?: () => void) {
  const headers = { 'user-agent': 'Troupe/0.1', 'accept-encoding': 'gzip, deflate, br', ...hop.headers };
  return dispatcher.request({
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method as Dispatcher.HttpMethod,
    headers,
    body: hop.body ?? null,
    signal,
    opaque: { onSend },
  });
}

/** The next request after a redirect, as in browsers: 303, and 301/302 after POST, become GET; another origin gets harmless headers only. */
function redirectTarget(response: { statusCode: number; headers: Record<string, string | string[] | undefined> }, hop: Hop): Hop | null {
  const { statusCode: status } = response;
  const location = [response.headers.location].flat()[0];
  if (![301, 302, 303, 307, 308].includes(status) || !location) return null;
  const url = parseUrl(location, hop.url);
  const becomesGet = (status === 303 && hop.method !== 'HEAD') || (status <= 302 && hop.method === 'POST');
  const kept = Object.entries(hop.headers).filter(([name]) => {
    if (becomesGet && name.startsWith('content-')) return false;
    return url.origin === hop.url.origin || harmlessHeaders.has(name);
  });
  return { url, method: becomesGet ? 'GET' : hop.method, headers: Object.fromEntries(kept), body: becomesGet ? undefined : hop.body };
}

function lowerCased(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]));
}

/** A text for the error code: messages of the network stack contain addresses, which may be confidential. */
function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const messages: Record<string, string> = {
    ECONNREFUSED: 'the connection was refused',
    ECONNRESET: 'the connection was cut',
    UND_ERR_SOCKET: 'the connection was cut',
    UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
    UND_ERR_HEADERS_OVERFLOW: 'its headers are too large',
    HPE_HEADER_OVERFLOW: 'its headers are too large',
    Z_DATA_ERROR: 'its compressed body is damaged',
    Z_BUF_ERROR: 'its compressed body is incomplete',
  };
  return messages[code] ?? (code ? `error ${code}` : 'the request failed');
}
