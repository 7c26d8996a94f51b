/**
 * Allows pages of other origins to call the service (CORS). Off unless origins are configured: then browsers refuse such pages every
 * answer. A listed origin may send cookies; with `*`, any origin, cookies are not allowed.
 */
import type { HttpResponse } from './message.ts';
import type { HttpHandler } from './server.ts';

/** Request headers that a page may send beyond those that CORS always allows. */
const allowedHeaders =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Range, If-Range, X-CSRF-Token, X-Request-Id, traceparent, tracestate, MCP-Protocol-Version, Mcp-Method, Mcp-Name';
/** Answer headers that a page may read beyond those that CORS always allows. */
const exposedHeaders = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Total-Count',
  'Retry-After',
  'Idempotency-Replayed',
  'ETag',
  'Location',
  'Allow',
  'WWW-Authenticate',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
].join(', ');
const preflightKeptS = '7200';

/** @param origins e.g. `https://app.example.com`; empty: returns the handler unchanged */
export function withCors(handler: HttpHandler, origins: readonly string[]): HttpHandler {
  if (origins.length === 0) return handler;
  const listed = new Set(origins);
  const allowsAny = listed.delete('*');
  // With `*` every caller gets the same answer, so caches need no `Vary`.
  const varies = listed.size > 0;

  return (request) => {
    const origin = request.header('origin');
    const isPreflight = request.method === 'OPTIONS' && request.has('access-control-request-method');
    const finish = (response: HttpResponse): HttpResponse => {
      const headers = { ...response.headers };
      if (varies) headers.Vary = headers.Vary === undefined ? 'Origin' : `${headers.Vary}, Origin`;
      if (listed.has(origin)) {
        headers['Access-Control-Allow-Origin'] = origin;
        headers['Access-Control-Allow-Credentials'] = 'true';
      } else if (allowsAny) {
        headers['Access-Control-Allow-Origin'] = '*';
      } else {
        return { ...response, headers };
      }
      if (isPreflight) {
        headers['Access-Control-Allow-Methods'] = headers.Allow ?? '';
        headers['Access-Control-Allow-Headers'] = allowedHeaders;
        headers['Access-Control-Max-Age'] = preflightKeptS;
      } else {
        headers['Access-Control-Expose-Headers'] = exposedHeaders;
      }
      return { ...response, headers };
    };
    const response = handler(request);
    return response instanceof Promise ? response.then(finish) : finish(response);
  };
}
