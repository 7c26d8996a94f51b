/**
 * Takes a request through the checks of every endpoint, in the order that the contract promises: token 401, scope 403, rate 429, then the
 * body and other input (4xx), then the handler. A command that would be shed in the end is refused (503) before all checks, so that a
 * refusal costs admitted requests as little as possible. Nothing that is already available is awaited: a request with a cached token and a
 * synchronous handler is answered inside its callback.
 */
import { AppError, type Issue } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { storageFull } from '../../storage/disk-room.ts';
import type { Tracer } from '../../tracing.ts';
import { hasScope, type Principal } from '../auth/principal.ts';
import type { Limits } from '../limits/limits.ts';
import { BodyBudget } from './body-budget.ts';
import { compressed } from './compression.ts';
import { conditional } from './conditional.ts';
import { errorResponse, refusal } from './error-response.ts';
import { isStorable, readJson } from './json-body.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { receiveFile, type UploadedFile } from './multipart.ts';
import { PathTable } from './path-table.ts';
import { readBytes } from './raw-body.ts';
import { RequestStats, type RouteStats } from './request-stats.ts';
import {
  type AnyContext,
  type AnyRoute,
  isIdempotent,
  isTagged,
  type JsonReply,
  parameterNames,
  parameterSchema,
  type Reply,
} from './route.ts';
import type { HttpHandler } from './server.ts';
import { type Check, compileBody, compileText, type TextCheck } from './validate.ts';

export type RouterOptions = {
  routes: readonly AnyRoute[];
  /** null: no valid token. May throw an `AppError` with a more precise reason. */
  authenticate(request: HttpRequest): Principal | null | Promise<Principal | null>;
  limits: Limits;
  /** Whether a command would be shed now. */
  isOverloaded?(): boolean;
  /** Whether the disk is full: commands are refused, except those that delete something. */
  isStorageFull?(): boolean;
  /** Wraps the handler of every route that takes idempotency keys, after validation. */
  around?(context: AnyContext, next: () => Promise<Reply>): Promise<Reply>;
  log: Log;
  /** Where answers are counted. */
  stats?: RequestStats;
  /** null: requests are not traced. */
  tracer?: Tracer | null;
};

type Prepared = {
  route: AnyRoute;
  stats: RouteStats;
  parameterNames: string[];
  params: TextCheck | null;
  query: TextCheck | null;
  headers: TextCheck | null;
  body: Check | null;
  wrapped: boolean;
  isCommand: boolean;
  needsRoom: boolean;
  isTagged: boolean;
};

/** One path: its routes by method. */
type Resource = { byMethod: Map<string, Prepared>; allow: string };

/** One request in progress; filled step by step, then used as the handler's context. */
type Call = {
  route: AnyRoute;
  request: HttpRequest;
  requestId: string;
  variant: 'A' | 'B';
  principal: Principal | null;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  headers: Record<string, unknown>;
  body: unknown;
  reservation: AnyContext['reservation'];
  uploaded: AnyContext['uploaded'];
  readBytes(maxBytes: number): Promise<Buffer>;
  receiveFile<T>(take: (file: UploadedFile) => Promise<T>): Promise<T>;
};

/** For the bodies of requests without authentication and without a rate limit: the rest of the budget stays available to others. */
const unlimitedRouteBytes = 8 * 2 ** 20;
const nothing: Record<string, unknown> = Object.freeze({});
/** Created once, so that shedding is cheap. */
const tooBusy = new AppError('overloaded', 'The service has too much to do; try again shortly', { retryAfterS: 1 });
const diskFull = storageFull();
const full = refusal(503, diskFull.message, { 'Retry-After': String(diskFull.retryAfterS) });
const shed = refusal(503, tooBusy.message, { 'Retry-After': '1' });

/** Builds the handler of a server. Throws where two routes have the same method and path. */
export function createRouter(options: RouterOptions): HttpHandler {
  const {
    routes,
    authenticate,
    limits,
    isOverloaded = () => false,
    isStorageFull = () => false,
    around,
    log,
    stats = new RequestStats(),
    tracer = null,
  } = options;
  const bodies = new BodyBudget();
  const unlimitedRouteBodies = bodies.share(unlimitedRouteBytes);
  const table = new PathTable<Resource>();
  for (const route of routes) {
    const resource = table.at(route.path, () => ({ byMethod: new Map(), allow: '' }));
    if (resource.byMethod.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`);
    const prepared = prepare(route);
    resource.byMethod.set(route.method, prepared);
    if (route.method === 'GET') resource.byMethod.set('HEAD', prepared);
    resource.allow = [...resource.byMethod.keys(), 'OPTIONS'].join(', ');
  }

  return (request) => {
    const variant = request.path.startsWith('/v1/') ? 'A' : 'B';
    const match = table.find(request.path, variant === 'A' ? 3 : 0);
    if (match === null) return answerUnrouted(request, refusal(404, 'Not Found'));
    const prepared = match.value.byMethod.get(request.method);
    if (prepared === undefined) return answerUnrouted(request, otherMethod(request, match.value.allow));
    const begunAtMs = performance.now();
    stats.inFlight++;
    if (prepared.isCommand && isOverloaded()) {
      stats.failed(tooBusy);
      limits.peek(request);
      return counted(prepared, begunAtMs, shed);
    }
    if (prepared.needsRoom && isStorageFull()) {
      stats.failed(diskFull);
      limits.peek(request);
      return counted(prepared, begunAtMs, full);
    }
    const response =
      tracer === null ? serve(request, variant, prepared, match.parameters) : traced(tracer, request, variant, prepared, match.parameters);
    if (response instanceof Promise) return response.then((made) => counted(prepared, begunAtMs, made));
    return counted(prepared, begunAtMs, response);
  };

  /** Never throws and never rejects: failures become answers. */
  function serve(
    request: HttpRequest,
    variant: 'A' | 'B',
    prepared: Prepared,
    parameters: readonly string[],
  ): HttpResponse | Promise<HttpResponse> {
    const { scope, limited = true } = prepared.route;

    /** Counts the request first, so that every answer has the rate limit headers. */
    const checkLimit = (principal: Principal | null): HttpResponse | Promise<HttpResponse> => {
      if (!limited) {
        limits.peek(request);
        return proceed(principal, null);
      }
      const refused = limits.admit(principal, request);
      return refused instanceof Promise ? refused.then((made) => proceed(principal, made)) : proceed(principal, refused);
    };
    const proceed = (principal: Principal | null, refused: AppError | null): HttpResponse | Promise<HttpResponse> => {
      // Failed authentication counts against the address; too many get 429.
      if (scope !== null && (principal !== null || refused === null)) authorize(principal, scope);
      if (refused !== null) throw refused;
      const call = newCall(prepared.route, request, variant, principal);
      if (prepared.body !== null || prepared.route.readsBody) return withBody(call);
      return run(call, undefined);
    };
    const withBody = async (call: Call): Promise<HttpResponse> => {
      const held = (limited ? bodies : unlimitedRouteBodies).open();
      call.readBytes = (maxBytes) => readBytes(request, maxBytes, held);
      try {
        return await run(call, prepared.body === null ? undefined : await readJson(request, held));
      } finally {
        held.release();
      }
    };
    const run = (call: Call, body: unknown): HttpResponse | Promise<HttpResponse> => {
      validate(prepared, call, parameters, body);
      const handler = prepared.route.handler as (context: Call) => Reply | Promise<Reply>;
      const reply = prepared.wrapped ? around!(call, async () => handler.call(prepared.route, call)) : handler.call(prepared.route, call);
      const finish = (made: Reply) => represented(prepared, request, toResponse(made));
      return reply instanceof Promise ? reply.then(finish) : finish(reply);
    };
    const failed = (error: unknown): HttpResponse => {
      stats.failed(error);
      return errorResponse(error, request, log);
    };
    /** A token refused with a specific error also counts against the address. */
    const refuseToken = async (error: unknown): Promise<HttpResponse> => {
      request.settle();
      const isToken = error instanceof AppError && error.code === 'forbidden';
      return failed((isToken && (await limits.admit(null, request))) || error);
    };

    let principal: Principal | null | Promise<Principal | null>;
    try {
      principal = scope === null ? null : authenticate(request);
    } catch (error) {
      return refuseToken(error).catch(failed);
    }
    try {
      if (principal instanceof Promise) {
        // Unauthenticated requests are limited by address.
        request.settle();
        return principal.then(async (found) => checkLimit(found), refuseToken).catch(failed);
      }
      const response = checkLimit(principal);
      return response instanceof Promise ? response.catch(failed) : response;
    } catch (error) {
      return failed(error);
    }
  }

  /** Runs the request in a span; its handler's asks become child spans. */
  function traced(
    tracer: Tracer,
    request: HttpRequest,
    variant: 'A' | 'B',
    prepared: Prepared,
    parameters: readonly string[],
  ): HttpResponse | Promise<HttpResponse> {
    const { method, path } = prepared.route;
    const attributes = { 'http.request.method': request.method, 'http.route': path, 'troupe.request_id': request.requestId };
    const span = tracer.startSpan(`${method} ${path}`, request.header('traceparent') || null, attributes, { kind: 'server' });
    request.trace = span.traceparent;
    const ended = (response: HttpResponse): HttpResponse => {
      span.set('http.response.status_code', response.status);
      span.end(response.status >= 500 ? String(response.status) : null);
      return response;
    };
    const response = tracer.within(span.traceparent, () => serve(request, variant, prepared, parameters));
    return response instanceof Promise ? response.then(ended) : ended(response);
  }

  function counted(prepared: Prepared, begunAtMs: number, response: HttpResponse): HttpResponse {
    prepared.stats.answered(response.status, begunAtMs);
    return response;
  }

  /**
   * Answers a request without a route. It counts against a valid key or session, otherwise against the address. OPTIONS gets the methods
   * without being counted.
   */
  function answerUnrouted(request: HttpRequest, response: HttpResponse): HttpResponse | Promise<HttpResponse> {
    const answered = (refused: AppError | null): HttpResponse => {
      const made = refused === null ? response : errorResponse(refused, request, log);
      stats.notRouted(made.status);
      return made;
    };
    if (response.status === 204) {
      limits.peek(request);
      return answered(null);
    }
    const count = (principal: Principal | null): HttpResponse | Promise<HttpResponse> => {
      const refused = limits.admit(principal, request);
      return refused instanceof Promise ? refused.then(answered) : answered(refused);
    };
    try {
      const principal = authenticate(request);
      if (!(principal instanceof Promise)) return count(principal);
      request.settle();
      return principal.then(count).catch(() => count(null));
    } catch {
      // A download link that does not open this path, or a cookie without the right to act.
      return count(null);
    }
  }

  function prepare(route: AnyRoute): Prepared {
    const names = parameterNames(route.path);
    return {
      route,
      stats: stats.route(route.method, route.path),
      parameterNames: names,
      params: names.length === 0 ? null : compileText('path', parameterSchema(route)),
      query: route.query === undefined ? null : compileText('query', route.query),
      headers: route.headers === undefined ? null : compileText('header', route.headers),
      body: route.body === undefined || route.body === 'multipart' ? null : compileBody(route.body),
      wrapped: around !== undefined && isIdempotent(route),
      isCommand: route.method !== 'GET',
      needsRoom: !(route.whileFull ?? (route.method === 'GET' || route.method === 'DELETE')),
      isTagged: isTagged(route),
    };
  }
}

function newCall(route: AnyRoute, request: HttpRequest, variant: 'A' | 'B', principal: Principal | null): Call {
  const call: Call = {
    route,
    request,
    requestId: request.requestId,
    variant,
    principal,
    params: nothing,
    query: nothing,
    headers: nothing,
    body: undefined,
    reservation: null,
    uploaded: null,
    readBytes: async () => {
      throw new Error(`${route.method} ${route.path} does not declare that it reads its body`);
    },
    receiveFile: (take) => receiveFile(request, take, call.uploaded),
  };
  return call;
}

function otherMethod(request: HttpRequest, allow: string): HttpResponse {
  if (request.method === 'OPTIONS') return { status: 204, headers: { Allow: allow }, body: null };
  return refusal(405, 'Method Not Allowed', { Allow: allow });
}

function authorize(principal: Principal | null, scope: string): void {
  if (principal === null) throw new AppError('unauthenticated', 'Not authenticated');
  if (scope === 'session' && principal.kind !== 'session') throw new AppError('forbidden', 'This needs a user session');
  if (scope === 'any' && principal.kind === 'link') throw new AppError('forbidden', 'A download link does not open this');
  if (scope !== 'any' && scope !== 'session' && !hasScope(principal, scope))
    throw new AppError('forbidden', `This needs the scope ${scope}`);
}

/** Fills the call with checked input, or throws all issues at once. */
function validate(prepared: Prepared, call: Call, parameters: readonly string[], body: unknown): void {
  const issues: Issue[] = [];
  if (prepared.params !== null) {
    const decoded = parameters.map(decodeSegment);
    call.params = prepared.params((name) => {
      const at = prepared.parameterNames.indexOf(name);
      return at === -1 ? [] : [decoded[at]!];
    }, issues);
  }
  if (prepared.query !== null) {
    const texts = new URLSearchParams(call.request.queryString);
    call.query = prepared.query((name) => texts.getAll(name), issues);
  }
  if (prepared.headers !== null) {
    call.headers = prepared.headers((name) => {
      const value = call.request.header(name);
      return value === '' ? [] : [value];
    }, issues);
  }
  if (prepared.body !== null) call.body = prepared.body(body, issues);
  if (issues.length > 0) throw new AppError('invalid', 'The request is not valid', { issues: issues.slice(0, 20) });
}

/** A segment that cannot be decoded or stored matches nothing, so the path has no route. */
function decodeSegment(segment: string): string {
  let text = segment;
  if (segment.includes('%')) {
    try {
      text = decodeURIComponent(segment);
    } catch (cause) {
      throw new AppError('not_found', 'Not Found', { cause });
    }
  }
  if (!isStorable(text)) throw new AppError('not_found', 'Not Found');
  return text;
}

function toResponse(reply: Reply): HttpResponse {
  return isJson(reply) ? jsonResponse(reply) : reply;
}

/** Answers to commands are sent unchanged. */
function represented(
  { isCommand, isTagged }: Prepared,
  request: HttpRequest,
  response: HttpResponse,
): HttpResponse | Promise<HttpResponse> {
  if (isCommand) return response;
  return compressed(request, isTagged ? conditional(request, response) : response);
}

function isJson(reply: Reply): reply is JsonReply {
  return !('body' in reply);
}

const jsonHeaders = { 'Content-Type': 'application/json' };

function jsonResponse({ status, json, headers, cookies }: JsonReply): HttpResponse {
  if (json === undefined) return { status, headers: headers ?? null, cookies, body: null };
  return { status, headers: headers === undefined ? jsonHeaders : { ...jsonHeaders, ...headers }, cookies, body: JSON.stringify(json) };
}
