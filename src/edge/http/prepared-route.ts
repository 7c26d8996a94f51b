/** A route ready to be served, and the checks of one call of it: the caller's rights, then all its input. */
import { AppError, type Issue } from '../../errors.ts';
import { isStorable } from '../../storable-text.ts';
import { hasScope, type Principal } from '../auth/principal.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { receiveFile, type UploadedFile } from './multipart.ts';
import type { RequestStats, RouteStats } from './request-stats.ts';
import { type AnyContext, type AnyRoute, type Forwarded, isIdempotent, isTagged, parameterNames, parameterSchema } from './route.ts';
import { type Check, compileBody, compileText, type TextCheck } from './validate.ts';

export type Prepared = {
  route: AnyRoute;
  stats: RouteStats;
  parameterNames: string[];
  params: TextCheck | null;
  query: TextCheck | null;
  headers: TextCheck | null;
  body: Check | null;
  wrapped: boolean;
  isCommand: boolean;
  needsDiskSpace: boolean;
  isTagged: boolean;
};

/** One request in progress; filled step by step, then used as the handler's context. */
export type Call = {
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
  forward(target: Forwarded): Promise<HttpResponse>;
  isStillValid(): Promise<boolean>;
  receiveFile<T>(take: (file: UploadedFile) => Promise<T>): Promise<T>;
};

const nothing: Record<string, unknown> = Object.freeze({});

/** @param isWrapped whether handlers of routes that take idempotency keys are wrapped */
export function prepare(route: AnyRoute, stats: RequestStats, isWrapped: boolean): Prepared {
  const names = parameterNames(route.path);
  return {
    route,
    stats: stats.route(route.method, route.path),
    parameterNames: names,
    params: names.length === 0 ? null : compileText('path', parameterSchema(route)),
    query: route.query === undefined ? null : compileText('query', route.query),
    headers: route.headers === undefined ? null : compileText('header', route.headers),
    body: route.body === undefined || route.body === 'multipart' ? null : compileBody(route.body),
    wrapped: isWrapped && isIdempotent(route),
    isCommand: route.method !== 'GET',
    needsDiskSpace: !(route.servedWhenDiskFull ?? (route.method === 'GET' || route.method === 'DELETE')),
    isTagged: isTagged(route),
  };
}

export function newCall(route: AnyRoute, request: HttpRequest, variant: 'A' | 'B', principal: Principal | null): Call {
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
    forward: async () => {
      throw new Error(`${route.method} ${route.path} does not declare that it forwards`);
    },
    isStillValid: async () => {
      throw new Error(`${route.method} ${route.path} does not declare that it forwards`);
    },
    receiveFile: (take) => receiveFile(request, take, call.uploaded),
  };
  return call;
}

/** Throws where the caller may not call a route of this scope. */
export function authorize(principal: Principal | null, scope: string): void {
  if (principal === null) throw new AppError('unauthenticated', 'Not authenticated');
  if (scope === 'session' && principal.kind !== 'session') throw new AppError('forbidden', 'This needs a user session');
  if (scope === 'any' && principal.kind === 'link') throw new AppError('forbidden', 'A download link does not open this');
  if (scope !== 'any' && scope !== 'session' && !hasScope(principal, scope))
    throw new AppError('forbidden', `This needs the scope ${scope}`);
}

/** Fills the call with checked input, or throws all issues at once. */
export function validate(prepared: Prepared, call: Call, parameters: readonly string[], body: unknown): void {
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
