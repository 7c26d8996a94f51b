/**
 * Takes a request through the checks of every endpoint, in the order that the contract promises: token 401, scope 403, rate 429, then the
 * body and other input (4xx), then the handler. A command that would be shed in the end is refused (503) before all checks, so that a
 * refusal costs admitted requests as little as possible. Nothing that is already available is awaited: a request with a cached token and a
 * synchronous handler is answered inside its callback.
 */
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { storageFull } from '../../storage/disk-space.ts';
import type { Tracer } from '../../tracing.ts';
import type { Principal } from '../auth/principal.ts';
import type { Limits } from '../limits/limits.ts';
import { BodyBudget } from './body-budget.ts';
import { BodyTurns } from './body-turns.ts';
import { addressGroup } from './client-address.ts';
import { compressed } from './compression.ts';
import { conditional } from './conditional.ts';
import { errorResponse, refusal } from './error-response.ts';
import { readJson } from './json-body.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { PathTable } from './path-table.ts';
import { authorize, type Call, newCall, type Prepared, prepare, validate } from './prepared-route.ts';
import { readBytes } from './raw-body.ts';
import { adviceAtNoRoute, asPage } from './refusal-page.ts';
import { RequestStats } from './request-stats.ts';
import type { AnyContext, AnyRoute, Forwarded, JsonReply, Reply } from './route.ts';
import type { HttpHandler } from './server.ts';

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

/** One path: its routes by method. */
type Resource = { byMethod: Map<string, Prepared>; allow: string };

/** For the bodies of requests without authentication and without a rate limit: the rest of the budget stays available to others. */
const unlimitedRouteBytes = 8 * 2 ** 20;
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
  const turns = new BodyTurns();
  const unlimitedRouteBodies = bodies.share(unlimitedRouteBytes);
  const table = new PathTable<Resource>();
  for (const route of routes) {
    const resource = table.at(route.path, () => ({ byMethod: new Map(), allow: '' }));
    if (resource.byMethod.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`);
    const prepared = prepare(route, stats, around !== undefined);
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
    if (prepared.needsDiskSpace && isStorageFull()) {
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
      const refused = limits.admit(principal, request, limited === true ? null : limited);
      if (!(refused instanceof Promise)) return proceed(principal, refused);
      // The address is shown with its limits where those of the caller cannot be looked up.
      request.settle();
      return refused.then((made) => proceed(principal, made));
    };
    const proceed = (principal: Principal | null, refused: AppError | null): HttpResponse | Promise<HttpResponse> => {
      // Failed authentication counts against the address; too many get 429.
      if (scope !== null && (principal !== null || refused === null)) authorize(principal, scope);
      if (refused !== null) throw refused;
      const call = newCall(prepared.route, request, variant, principal);
      if (prepared.route.forwards === true) {
        // The client may have disconnected when a forwarded request reads its address.
        request.settle();
        call.forward = (target) => forward(call, target);
        call.isStillValid = async () => (await authenticate(request)) !== null;
      }
      if (prepared.body !== null || prepared.route.readsBody) return withBody(call);
      return run(call, undefined);
    };
    const withBody = async (call: Call): Promise<HttpResponse> => {
      const held = (limited ? bodies : unlimitedRouteBodies).open();
      const account = call.principal?.accountId ?? addressGroup(request.clientAddress, 64);
      const turn = (bytes: number) => turns.enter(account, bytes);
      call.readBytes = async (maxBytes) => {
        const bytes = await readBytes(request, maxBytes, held);
        const waiting = turn(bytes.length);
        if (waiting !== null) await waiting;
        return bytes;
      };
      try {
        return await run(call, prepared.body === null ? undefined : await readJson(request, held, turn));
      } finally {
        held.release();
      }
    };
    const run = (call: Call, body: unknown): HttpResponse | Promise<HttpResponse> => {
      const reply = handle(prepared, call, parameters, body);
      const finish = (made: Reply) => represented(prepared, request, toResponse(made));
      return reply instanceof Promise ? reply.then(finish) : finish(reply);
    };
    const failed = (error: unknown): HttpResponse => {
      stats.failed(error);
      // The token or its limits could not be looked up.
      if (request.rateLimit === null) limits.peek(request);
      const response = errorResponse(error, request, log);
      const { challenge, advice } = prepared.route;
      if (advice !== undefined) return asPage(request, response, advice);
      if (response.status !== 401 || challenge === undefined) return response;
      return { ...response, headers: { ...response.headers, 'WWW-Authenticate': challenge(variant) } };
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

  function handle(prepared: Prepared, call: Call, parameters: readonly string[], body: unknown): Reply | Promise<Reply> {
    validate(prepared, call, parameters, body);
    const handler = prepared.route.handler as (context: Call) => Reply | Promise<Reply>;
    return prepared.wrapped ? around!(call, async () => handler.call(prepared.route, call)) : handler.call(prepared.route, call);
  }

  /** Serves another endpoint as a part of a request, whose caller and rights are known. Never rejects. */
  async function forward({ request: outer, variant, principal }: Call, target: Forwarded): Promise<HttpResponse> {
    const request = outer.part(target);
    const match = table.find(request.path, 0);
    const prepared = match?.value.byMethod.get(request.method);
    if (prepared === undefined) return refusal(404, 'Not Found');
    const begunAtMs = performance.now();
    stats.inFlight++;
    try {
      if (prepared.isCommand && isOverloaded()) throw tooBusy;
      if (prepared.needsDiskSpace && isStorageFull()) throw diskFull;
      const { scope } = prepared.route;
      if (scope !== null) authorize(principal, scope);
      const refused = target.counted === true ? await limits.admit(principal, request) : null;
      if (refused !== null) throw refused;
      const call = newCall(prepared.route, request, variant, principal);
      return counted(prepared, begunAtMs, toResponse(await handle(prepared, call, match!.parameters, target.body)));
    } catch (error) {
      stats.failed(error);
      return counted(prepared, begunAtMs, errorResponse(error, request, log));
    } finally {
      request.end();
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
      const made = refused === null ? asPage(request, response, adviceAtNoRoute) : errorResponse(refused, request, log);
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
}

function otherMethod(request: HttpRequest, allow: string): HttpResponse {
  if (request.method === 'OPTIONS') return { status: 204, headers: { Allow: allow }, body: null };
  return refusal(405, 'Method Not Allowed', { Allow: allow });
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
