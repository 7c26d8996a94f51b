/**
 * Shared by the stand-ins of services: a real HTTP server on 127.0.0.1 that knows tokens and their scopes, can be late, lose answers
 * after acting and cut connections.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../json.ts';
import type { Scope } from '../scope.ts';

export type ServiceRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  /** As it came. */
  text: string;
  /** JSON or a form, read; null without a body. */
  body: Json;
  /** Scopes of its token; null for a token that is not known. */
  scopes: readonly string[] | null;
};
export type StandInAnswer = { status: number; json?: unknown; text?: string; headers?: Record<string, string> };
/** An answer is given in place of acting. `lost`: it acts, and the connection ends without an answer. `cut`: it does not act. `hang`: it acts and never answers. */
export type Fault = StandInAnswer | 'lost' | 'cut' | 'hang' | { lateMs: number };

export abstract class ServiceStandIn {
  readonly requests: ServiceRequest[] = [];
  /** Access tokens that it takes, with what each may do. */
  readonly tokens = new Map<string, readonly string[]>();
  /** What the next requests of a path meet, in order. */
  faults: { path: RegExp; fault: Fault }[] = [];
  /** What becomes of each answer's JSON before it is sent. */
  distort: (json: Json) => unknown = (json) => json;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  static async start<S extends Pick<ServiceStandIn, 'listen'>>(this: new () => S, t: Scope): Promise<S> {
    const standIn = new this();
    await standIn.listen(t);
    return standIn;
  }

  async listen(t: Scope): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    t.after(() => {
      this.server.closeAllConnections();
      this.server.close();
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What `S_API_URL` would be. */
  get apiUrl(): string {
    return this.url;
  }

  /** The next requests of such a path meet these. */
  meet(path: RegExp, ...faults: Fault[]): void {
    this.faults.push(...faults.map((fault) => ({ path, fault })));
  }

  requestsOf(path: RegExp): ServiceRequest[] {
    return this.requests.filter((request) => path.test(request.path));
  }

  protected abstract answer(request: ServiceRequest): StandInAnswer;

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, this.url);
    const text = Buffer.concat(chunks).toString();
    const token = /^(?:Bearer|token) (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const received: ServiceRequest = {
      method: request.method!,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      text,
      body: readBody(text, request.headers['content-type'] ?? ''),
      scopes: this.tokens.get(token) ?? null,
    };
    this.requests.push(received);
    const at = this.faults.findIndex(({ path }) => path.test(received.path));
    const fault = at < 0 ? null : this.faults.splice(at, 1)[0]!.fault;
    if (fault === 'cut') return void request.socket.destroy();
    if (fault !== null && typeof fault === 'object' && 'status' in fault) return reply(response, fault);
    const plain = this.answer(received);
    const answer = plain.json === undefined ? plain : { ...plain, json: this.distort(structuredClone(plain.json)) };
    if (fault === 'lost') return void request.socket.destroy();
    if (fault === 'hang') return;
    if (fault !== null) await delay(fault.lateMs);
    reply(response, answer);
  }
}

function readBody(text: string, type: string): Json {
  if (text === '') return null;
  return /json/.test(type) ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
}

function reply(response: ServerResponse, { status, json, text, headers }: StandInAnswer): void {
  const body = json === undefined ? (text ?? '') : JSON.stringify(json);
  response.writeHead(status, { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers }).end(body);
}
