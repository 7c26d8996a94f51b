/**
 * The only file that imports uWebSockets.js: it turns callbacks into plain requests, answers and WebSocket connections.
 *
 * uWS frees a response when it ends or its client disconnects, and using it afterwards throws: so all data of a request is copied before
 * its callback returns. A request answered inside the callback needs no abort handler; every other one gets it before the first await. uWS
 * itself answers a request line or header it cannot parse, over-long headers and HTTP/1.0 with 400, 431 or 505 and closes; it also closes a
 * connection when a second request arrives before the first is answered (no asynchronous pipelining). `framing.ts` refuses what uWS accepts
 * too readily.
 */

import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse, us_listen_socket } from 'uWebSockets.js';
import type { Log } from '../../log.ts';
import { TrustedProxies } from './client-address.ts';
import { about, errorResponse, refusal } from './error-response.ts';
import { Exchange, isSentInParts, sendWhole } from './exchange.ts';
import { Framing } from './framing.ts';
import { HttpRequest, type HttpResponse } from './message.ts';
import { Connection, type WebSocketHandlers, type WebSocketOptions } from './web-socket.ts';

/** Answers every request, whatever its path. Thrown errors are answered as in `errorResponse`. */
export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

export type ServerOptions = {
  handler: HttpHandler;
  log: Log;
  /** Limit of all headers of a request together; above it uWS answers 431. One value per process: that of the first server. */
  maxHeaderBytes: number;
  /** One debug line per request. Costs nothing while it is off. */
  accessLog: boolean;
  /**
   * Proxies whose `X-Forwarded-For` and PROXY preambles are trusted. Default: none. A preamble from any other address ends the connection
   * with 400.
   */
  proxies?: TrustedProxies;
  /**
   * Most open connections, WebSockets included; a further one is closed without an answer, because a process without free descriptors
   * spins. Default: no limit.
   */
  maxConnections?: number;
};

export interface HttpServer {
  /** Accepts WebSocket connections on a path. Call before `listen`. */
  webSocket<T>(path: string, handlers: WebSocketHandlers<T>, options: WebSocketOptions): void;
  /** @param port 0 takes any free port. Throws when the address is in use or not an address of this machine. */
  listen(host: string, port: number): Promise<{ port: number }>;
  /** From now on every answer asks its client to disconnect; new requests and sockets are still accepted. */
  drain(): void;
  /** Stops listening, waits until requests in flight are answered or `graceMs` have passed, then closes every connection. */
  close(graceMs: number): Promise<void>;
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT */
const exclusivePort = 1;
/** SHARED_COMPRESSOR and SHARED_DECOMPRESSOR, whose values the types lack. */
const sharedCompression = 0x101;

/** Loads uWebSockets.js, which reads its header limit from the environment once, when it is loaded. */
export async function createServer({
  handler,
  log,
  maxHeaderBytes,
  accessLog,
  proxies: trusted = new TrustedProxies(),
  maxConnections = Number.POSITIVE_INFINITY,
}: ServerOptions): Promise<HttpServer> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(maxHeaderBytes);
  const uws = await import('uWebSockets.js');
  // Otherwise every answer names the server and its version.
  (uws as unknown as { _cfg(option: string): void })._cfg('silent');
  const app = uws.App();
  /** Exchanges that have not ended. */
  let inFlight = 0;
  let listening: us_listen_socket | null = null;
  let draining = false;
  let connections = 0;
  let whenIdle: (() => void) | null = null;

  // uWS calls it during `forEach` only, and reads one request at a time.
  const framing = new Framing();

  function serve(method: string, res: UwsResponse, req: UwsRequest): void {
    const announced = announcedClient(res);
    framing.begin(method);
    req.forEach(framing.collect);
    if (announced !== '' && !trusted.trusts(remoteAddress(res))) framing.isMalformed = true;
    const { headers, isLast } = framing;
    const bodyBytes = method === 'GET' || method === 'HEAD' ? undefined : framing.bodyBytes;
    const exchange = bodyBytes !== undefined || isLast ? new Exchange(res, bodyBytes, isLast, ended) : null;
    const request = new HttpRequest(method, req.getUrl(), req.getQuery() ?? '', headers, exchange?.body ?? null, res, trusted, announced);
    if (exchange !== null) inFlight++;
    if (framing.isMalformed) return answerLater(exchange!, request, refusal(400, 'The request is malformed'));
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = handler(request);
    } catch (error) {
      response = errorResponse(error, request, log);
    }
    if (exchange === null && !(response instanceof Promise) && !isSentInParts(response)) {
      try {
        sendWhole(res, request, response, draining);
      } catch (error) {
        cut(res, request, error);
      }
      request.end();
      if (accessLog) logAnswer(request, response);
      return;
    }
    answerLater(exchange ?? register(res), request, response);
  }

  function register(res: UwsResponse): Exchange {
    inFlight++;
    return new Exchange(res, undefined, false, ended);
  }

  function answerLater(exchange: Exchange, request: HttpRequest, response: HttpResponse | Promise<HttpResponse>): void {
    exchange.request = request;
    const answer = (final: HttpResponse): void => {
      if (accessLog) logAnswer(request, final);
      try {
        exchange.respond(request, final, draining);
      } catch (error) {
        cut(exchange, request, error);
      }
    };
    // uWS continues to read the packet it has, whatever is written meanwhile. If another request follows before the answer, uWS closes the
    // connection.
    const whenRead = exchange.isLast ? (final: HttpResponse): void => void setImmediate(answer, final) : answer;
    if (!(response instanceof Promise)) return whenRead(response);
    response.then(whenRead, (error: unknown) => whenRead(errorResponse(error, request, log)));
  }

  /** An answer that cannot be written (e.g. a header that is not a string) must end this connection, not the process. */
  function cut(connection: { close(): unknown }, request: HttpRequest, error: unknown): void {
    log.error({ ...about(request), err: error }, 'answer could not be written');
    connection.close();
  }

  function ended(exchange: Exchange): void {
    inFlight--;
    exchange.request?.end();
    if (inFlight === 0) whenIdle?.();
  }

  function logAnswer(request: HttpRequest, { status }: HttpResponse): void {
    log.debug({ ...about(request), status }, 'request answered');
  }

  app.filter((res, change) => {
    connections += change;
    if (change > 0 && connections > maxConnections) res.close();
  });
  app.get('/*', (res, req) => serve('GET', res, req));
  app.post('/*', (res, req) => serve('POST', res, req));
  app.any('/*', (res, req) => serve(req.getMethod().toUpperCase(), res, req));

  return {
    webSocket<T>(path: string, handlers: WebSocketHandlers<T>, options: WebSocketOptions): void {
      app.ws<{ connection: Connection<T> }>(path, {
        // Also the limit of an inflated message.
        maxPayloadLength: options.maxReceivedBytes ?? options.maxMessageBytes,
        // No limit in uWS: `Connection.send` applies it.
        maxBackpressure: 0,
        idleTimeout: options.idleTimeoutS,
        compression: options.compression === true ? sharedCompression : 0,
        sendPingsAutomatically: true,
        upgrade(res, req, context) {
          // A draining server still accepts sockets; a closed one does not.
          if (listening === null) return void res.writeStatus('503 Service Unavailable').end('', true);
          const remote = remoteAddress(res);
          const announced = announcedClient(res);
          if (announced !== '' && !trusted.trusts(remote)) return void res.writeStatus('400 Bad Request').end('', true);
          const headers: string[] = [];
          req.forEach((name, value) => void (name === 'x-forwarded-for' && headers.push(name, value)));
          const connection = new Connection<T>(trusted.clientOf(remote, headers, announced), options);
          res.upgrade(
            { connection },
            req.getHeader('sec-websocket-key'),
            req.getHeader('sec-websocket-protocol'),
            req.getHeader('sec-websocket-extensions'),
            context,
          );
        },
        open(ws) {
          const { connection } = ws.getUserData();
          connection.attach(ws);
          handlers.open(connection);
        },
        message(ws, message, isBinary) {
          const { connection } = ws.getUserData();
          if (message.byteLength > options.maxMessageBytes)
            return handlers.tooLong === undefined ? connection.end(1009, 'The message is too long') : handlers.tooLong(connection);
          const bytes = Buffer.from(message);
          handlers.message(connection, isBinary ? Buffer.from(bytes) : bytes.toString('utf8'));
        },
        drain: (ws) => handlers.drain(ws.getUserData().connection),
        close(ws, code, reason) {
          // uWS calls the filter when a WebSocket begins, as for a request, but not when it ends.
          connections--;
          const { connection } = ws.getUserData();
          connection.detach();
          handlers.close(connection, code, Buffer.from(reason).toString('utf8'));
        },
      });
    },

    listen(host, port) {
      return new Promise((resolve, reject) => {
        const listened = (socket: us_listen_socket | false): void => {
          if (socket === false)
            return reject(new Error(`cannot listen on ${host}:${port}: the port is taken or the address is not this machine's`));
          listening = socket;
          resolve({ port: uws.us_socket_local_port(socket) });
        };
        // Without this option another process could share the port (SO_REUSEPORT); the types have no signature with a host and this option.
        const listenAt = app.listen.bind(app) as unknown as (host: string, port: number, options: number, done: typeof listened) => void;
        listenAt(host, port, exclusivePort, listened);
      });
    },

    drain() {
      draining = true;
    },

    async close(graceMs) {
      draining = true;
      if (listening !== null) uws.us_listen_socket_close(listening);
      listening = null;
      if (inFlight > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        whenIdle = resolve;
        const timer = setTimeout(resolve, graceMs);
        await promise;
        clearTimeout(timer);
      }
      app.close();
    },
  };
}

function remoteAddress(res: UwsResponse): string {
  return Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
}

/** The client address in a PROXY preamble (version 2) before the request; empty where there was none. uWS reads preambles of any sender. */
function announcedClient(res: UwsResponse): string {
  const bytes = res.getProxiedRemoteAddressAsText();
  return bytes.byteLength === 0 ? '' : Buffer.from(bytes).toString('latin1');
}
