/**
 * Shared by the stand-ins of hosts: a real HTTP server on 127.0.0.1 for the API and another for the published site. It records
 * requests, and can limit, fail before or after acting, be late, lose answers and cut connections.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../json.ts';
import type { Scope } from '../scope.ts';

export type HostRequest = {
  method: string;
  /** As it came, percent-encoded. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
  /** null for a body that is no JSON. */
  json: Json;
  /** Of the header `authorization`; empty without one. */
  token: string;
  /** What it was answered; absent where a fault answered. */
  answer?: StandInAnswer;
};
export type StandInAnswer = { status: number; json?: unknown; text?: string; headers?: Record<string, string> };
/**
 * An answer is given in place of acting. `lost`: it acts, and the connection ends without an answer. `cut`: it does not act. `hang`: it acts and never answers.
 * `actsWhen`: the connection ends without an answer, and it acts later.
 */
export type Fault =
  | StandInAnswer
  | 'lost'
  | 'cut'
  | 'hang'
  | { lateMs: number }
  | { after: StandInAnswer }
  | { actsWhen: Promise<unknown> };

/** The token that a stand-in takes from the beginning. */
export const goodToken = 'token-of-tests-that-may-deploy';

export abstract class HostStandIn {
  readonly requests: HostRequest[] = [];
  readonly tokens = new Set<string>([goodToken]);
  /** What the next requests meet, in order. */
  faults: { request: RegExp; fault: Fault }[] = [];
  /** What becomes of each answer's JSON before it is sent. */
  distort: (json: Json) => unknown = (json) => json;
  /** Called with each request before it is answered. */
  onRequest: (request: HostRequest) => void = () => {};
  /** Requests of the published site that are answered 503 before it is there. */
  siteLateBy = 0;
  readonly siteRequests: string[] = [];
  /** What is carried out later: each resolves when it is. */
  readonly late: Promise<unknown>[] = [];
  private readonly api: Server;
  private readonly site: Server;

  constructor() {
    this.api = createServer((request, response) => void this.serve(request, response).catch(() => response.destroy()));
    this.site = createServer((request, response) => this.serveSite(request, response));
  }

  static async start<S extends Pick<HostStandIn, 'listen'>>(this: new () => S, t: Scope): Promise<S> {
    const standIn = new this();
    await standIn.listen(t);
    return standIn;
  }

  async listen(t: Scope): Promise<void> {
    for (const server of [this.api, this.site]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => {
        server.closeAllConnections();
        server.close();
      });
    }
  }

  /** Scheme, address and port of the API. */
  get url(): string {
    return `http://${hostOf(this.api)}`;
  }

  /** What the host's `…_API_URL` would be. */
  get apiUrl(): string {
    return this.url;
  }

  /** Address and port of the published site. */
  get siteHost(): string {
    return hostOf(this.site);
  }

  /** The next requests whose `METHOD /path` matches meet these. */
  meet(request: RegExp, ...faults: Fault[]): void {
    this.faults.push(...faults.map((fault) => ({ request, fault })));
  }

  /** By `METHOD /path`. */
  requestsOf(request: RegExp): HostRequest[] {
    return this.requests.filter(({ method, path }) => request.test(`${method} ${path}`));
  }

  protected abstract answer(request: HostRequest): StandInAnswer | Promise<StandInAnswer>;

  /** A file of the site that is live; `path` without a slash at its beginning. */
  protected abstract fileOf(path: string): Buffer | undefined;

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [path, query] = request.url!.split('?');
    const bytes = Buffer.concat(chunks);
    const received: HostRequest = {
      method: request.method!,
      path: path!,
      query: new URLSearchParams(query),
      headers: request.headers,
      bytes,
      json: /json/.test(request.headers['content-type'] ?? '') ? jsonOf(bytes) : null,
      token: /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '',
    };
    this.requests.push(received);
    this.onRequest(received);
    const at = this.faults.findIndex((one) => one.request.test(`${received.method} ${received.path}`));
    const fault = at < 0 ? null : this.faults.splice(at, 1)[0]!.fault;
    if (fault === 'cut') return void request.socket.destroy();
    if (fault !== null && typeof fault === 'object' && 'status' in fault) return reply(response, fault);
    if (fault !== null && typeof fault === 'object' && 'actsWhen' in fault) {
      this.late.push(fault.actsWhen.then(() => this.answer(received)));
      return void request.socket.destroy();
    }
    const plain = await this.answer(received);
    const answer = plain.json === undefined ? plain : { ...plain, json: this.distort(structuredClone(plain.json) as Json) };
    received.answer = answer;
    if (fault === 'lost') return void request.socket.destroy();
    if (fault === 'hang') return;
    if (fault !== null && 'after' in fault) return reply(response, fault.after);
    if (fault !== null) await delay(fault.lateMs);
    reply(response, answer);
  }

  private serveSite(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const path = decodeURIComponent(request.url!.split('?')[0]!).slice(1);
    this.siteRequests.push(path);
    if (this.siteLateBy > 0) {
      this.siteLateBy -= 1;
      return void response.writeHead(503).end();
    }
    const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const bytes = this.fileOf(file);
    if (bytes === undefined) return void response.writeHead(404).end('Not found');
    response
      .writeHead(200, { 'content-type': file.endsWith('.html') ? 'text/html; charset=utf-8' : 'application/octet-stream' })
      .end(bytes);
  }
}

function hostOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function jsonOf(bytes: Buffer): Json {
  try {
    return JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    return null;
  }
}

function reply(response: ServerResponse, { status, json, text, headers }: StandInAnswer): void {
  const body = json === undefined ? (text ?? '') : JSON.stringify(json);
  response.writeHead(status, { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers }).end(body);
}
