/**
 * The operator's port: metrics, status, liveness and readiness over plain HTTP, separate from the callers' port. It changes nothing and
 * contains no secrets, but is not public: loopback unless configured otherwise.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

export type AdminOptions = {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** The port was configured: if it is in use, the start fails. Otherwise that is only logged, because several nodes may run on one machine. */
  portGiven: boolean;
  metrics: Metrics;
  /** The JSON of `GET /status`. No secrets. */
  status(): unknown | Promise<unknown>;
  /** `ready`, or the reason why not. */
  readiness(): string;
  log: Log;
};

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

type Answer = { status: number; type: string; body: string };

/** Few connections are enough; the time limit covers a request and its answer together. */
const maxConnections = 32;
const exchangeTimeoutMs = 15_000;
const maxHeaderBytes = 8 * 1024;

/** Listens. Null if the default port is in use, which is logged. Throws one line for people if the configured port is unavailable. */
export async function startAdminServer(options: AdminOptions): Promise<AdminServer | null> {
  const server = createServer(
    {
      headersTimeout: 5_000,
      requestTimeout: 5_000,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: maxHeaderBytes,
    },
    (request, response) => {
      // For a client that reads its answer very slowly.
      const late = setTimeout(() => request.socket.destroy(), exchangeTimeoutMs);
      response.once('close', () => clearTimeout(late));
      void respond(options, request, response);
    },
  );
  server.maxConnections = maxConnections;
  const { host, port, portGiven, log } = options;
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && !portGiven) {
      log.warn(
        { host, port },
        'the default admin port is taken: this node runs without metrics; give it a port of its own with ADMIN_PORT',
      );
      return null;
    }
    const why = code === 'EADDRINUSE' ? 'the port is taken' : (code ?? message);
    throw new Error(`The admin port cannot listen on ${host}:${port} (${why}): check ADMIN_PORT and ADMIN_HOST`, { cause: error });
  }
  server.on('error', (err) => log.warn({ err }, 'the admin port failed'));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(options: AdminOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let answer: Answer;
  try {
    answer = await answerTo(options, request);
  } catch (err) {
    options.log.warn({ path: request.url?.slice(0, 100), err }, 'the admin port could not answer');
    answer = plain(500, 'Internal Server Error');
  }
  // A client may wait before it sends a body: the answer says that the body is not read.
  const headers = { 'Content-Type': answer.type, 'Cache-Control': 'no-store', ...(request.complete ? {} : { Connection: 'close' }) };
  response.writeHead(answer.status, headers).end(request.method === 'HEAD' ? undefined : answer.body);
}

async function answerTo({ metrics, status, readiness }: AdminOptions, { method, url = '' }: IncomingMessage): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return plain(404, 'Not Found');
  switch (url.split('?', 1)[0]) {
    case '/metrics':
      return { status: 200, type: metrics.contentType, body: await metrics.text() };
    case '/status':
      return json(200, await status());
    case '/health/live':
      return json(200, { status: 'alive' });
    case '/health/ready': {
      const found = readiness();
      return json(found === 'ready' ? 200 : 503, { status: found });
    }
    default:
      return plain(404, 'Not Found');
  }
}

function json(status: number, value: unknown): Answer {
  return { status, type: 'application/json', body: JSON.stringify(value) };
}

function plain(status: number, text: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${text}\n` };
}
