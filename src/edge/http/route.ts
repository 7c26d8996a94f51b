/**
 * One endpoint, declared once: its input, answers and permissions. Routing, validation, authorization and the OpenAPI description all use
 * the declaration, so they cannot disagree.
 */
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { Reservation } from '../../storage/idempotency-keys.ts';
import type { Principal } from '../auth/principal.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import type { UploadedFile } from './multipart.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call. null: anybody; no token is read. `any`: every session and key. `session`: a person's session only. Otherwise the scope that
 * a session or key must hold, e.g. `tasks.read`; a download link needs the scope in its token.
 */
export type Scope = null | 'any' | 'session' | `${string}.${string}`;

/** The schema of each status; null: an empty body. */
export type Responses = { readonly [status: number]: TSchema | null };

/** The type of `json` comes from the schema of its status in `responses`. */
export type JsonReply<Status = number, Value = unknown> = {
  status: Status;
  json: Value;
  headers?: Record<string, string>;
  /** Values of Set-Cookie. */
  cookies?: readonly string[];
};
export type Reply = JsonReply | HttpResponse;

type ReplyOf<R extends Responses> =
  | {
      [S in keyof R & number]: R[S] extends TSchema
        ? JsonReply<S, Static<R[S]>>
        : { status: S; json?: undefined; headers?: Record<string, string>; cookies?: readonly string[] };
    }[keyof R & number]
  | HttpResponse;

type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name extends `${infer Whole}*` ? Whole : Name]: string } & PathParams<Rest>
  : unknown;

/** The input of a handler. Everything is validated and typed by the route's schemas. */
export type Context<Path extends string = string, P = unknown, Q = unknown, H = unknown, B = unknown, S extends Scope = Scope> = {
  readonly request: HttpRequest;
  readonly requestId: string;
  /** `A` under /v1, `B` without prefix: selects the form of an answer where the two cannot be merged. */
  readonly variant: 'A' | 'B';
  readonly principal: S extends null ? null : Principal;
  /** Percent-decoded. */
  readonly params: P extends TObject ? Static<P> : PathParams<Path>;
  readonly query: Q extends TObject ? Static<Q> : Record<never, never>;
  readonly headers: H extends TObject ? Static<H> : Record<never, never>;
  readonly body: B extends TSchema ? Static<B> : undefined;
  /** The ids of a request with an Idempotency-Key; read them with `commandIds`. */
  readonly reservation: Reservation | null;
  /**
   * Only with `readsBody`: the exact bytes of the body. Call it once. Throws `payload_too_large`, and `overloaded` while too many bytes are
   * held.
   */
  readBytes(maxBytes: number): Promise<Buffer>;
  /**
   * Only with `forwards`: has another endpoint serve a part of this request, for the same caller, with the same checks, and in the same
   * counts. The answer is never compressed. Does not reject.
   */
  forward(target: Forwarded): Promise<HttpResponse>;
  /** Only with `forwards`: whether the caller's token is valid now, for answers that last. Rejects where that cannot be checked. */
  isStillValid(): Promise<boolean>;
  /** Only with `body: 'multipart'`: passes on the one uploaded file; see `receiveFile`. Call it once. */
  receiveFile<T>(take: (file: UploadedFile) => Promise<T>): Promise<T>;
};

/** A request to another endpoint of this service, made by a handler. */
export type Forwarded = {
  method: Method;
  /** Encoded, without the /v1 prefix and without the query. */
  path: string;
  /** Encoded. */
  queryString?: string;
  /** Parsed: text that cannot be stored was refused already. */
  body?: unknown;
  /** null: none. */
  idempotencyKey?: string | null;
  /** Counts against the caller's limits, as a request of its own. */
  counted?: boolean;
};

/** A context whose route has no known type: for code that wraps every handler. */
export type AnyContext = {
  readonly route: AnyRoute;
  readonly request: HttpRequest;
  readonly requestId: string;
  readonly variant: 'A' | 'B';
  readonly principal: Principal | null;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
  readonly body: unknown;
  /** Set by the wrapper of the handler. */
  reservation: Reservation | null;
  /**
   * Set by the wrapper of the handler where it needs the uploaded file: called with the hash of its name, path and bytes when all have arrived,
   * before the storing code sees the end. If it rejects, the upload fails with the same error.
   */
  uploaded: ((hash: string) => Promise<void>) | null;
  receiveFile<T>(take: (file: UploadedFile) => Promise<T>): Promise<T>;
};

/** Counted under this name, by address. */
export type OwnQuota = {
  readonly name: string;
  /** How many times the quota of an address. */
  readonly times: number;
};

type Declaration = {
  method: Method;
  /**
   * Without the /v1 prefix, parameters in braces: `/tasks/{id}`. The last may stand for the rest of the path with its slashes, which may be empty:
   * `/files/{path*}`. Both prefixes are served.
   */
  path: string;
  summary: string;
  description?: string;
  scope: Scope;
  /**
   * Failures beyond those that follow from the other fields (401 and 403 with a scope, 404 with a parameter, 400, 409, 413, 415, 422, 429,
   * 504), e.g. [402, 409].
   */
  errors?: readonly number[];
  /** Goes beyond the interface specification: `x-extension: true` in the description. */
  extension?: boolean;
  /** The path after which the description lists it, e.g. of another domain; default: the order of the routes. */
  describedAfter?: string;
  /** Whether `Idempotency-Key` has an effect. Default: true for every POST outside /auth. */
  idempotent?: boolean;
  /** Whether it is accepted while the disk is full. Default: true for DELETE and for reads. */
  servedWhenDiskFull?: boolean;
  /** The handler reads the bytes of the body with `readBytes`. They count in the node's body budget until the answer is made. */
  readsBody?: boolean;
  /** The handler has other endpoints serve parts of the request, with `forward`. */
  forwards?: boolean;
  /**
   * For an endpoint that people open by a link: a sentence about what to do when it refuses. A browser then gets a page with it, where a
   * program gets JSON.
   */
  advice?: string;
  /** The value of `WWW-Authenticate` in a 401. Default: `Bearer`. */
  challenge?(variant: 'A' | 'B'): string;
  /** false: the endpoint has no rate limit. A quota: callers without a token have one of their own here, apart from that of their address. */
  limited?: boolean | OwnQuota;
  /** Fields of the answer, at any depth, that are shown once: a replay has null there after 24 hours. The answer must be JSON. */
  secretFields?: readonly string[];
  /** Content types of answers that are not JSON or have no schema, by status, e.g. {200: 'application/octet-stream'}. */
  contentTypes?: { readonly [status: number]: string | readonly string[] };
};

export type AnyRoute = Declaration & {
  params?: TObject;
  query?: TObject;
  headers?: TObject;
  body?: TSchema | 'multipart';
  responses: Responses;
  authorize?(context: never): void | Promise<void>;
  handler(context: never): Reply | Promise<Reply>;
};

/** Declares an endpoint; the handler's context and answer are typed by the schemas. */
export function route<
  const Path extends string,
  const R extends Responses,
  const S extends Scope,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  H extends TObject | undefined = undefined,
  B extends TSchema | 'multipart' | undefined = undefined,
  // `const` keeps the literal type of the status that a handler returns.
  const A extends ReplyOf<R> = ReplyOf<R>,
>(
  declaration: Declaration & {
    path: Path;
    scope: S;
    params?: P;
    query?: Q;
    /** Lower-case names. */
    headers?: H;
    body?: B;
    responses: R;
    /**
     * Requirements on the caller beyond the scope: throws where the caller lacks one. Also checked before a stored answer is replayed,
     * because another caller may have received it first.
     */
    authorize?(context: Context<Path, P, Q, H, B, S>): void | Promise<void>;
    handler(context: Context<Path, P, Q, H, B, S>): A | Promise<A>;
  },
): AnyRoute {
  return declaration as unknown as AnyRoute;
}

/** Names of the path's parameters, in order. */
export function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\*?\}/g)].map((match) => match[1]!);
}

/** The schema of the path's parameters: the declared one, otherwise plain strings. */
export function parameterSchema(declared: AnyRoute): TObject {
  return declared.params ?? Type.Object(Object.fromEntries(parameterNames(declared.path).map((name) => [name, Type.String()])));
}

/** Whether the wrapper for idempotency keys applies. Sign-up and sign-in ignore the keys (contract §1). */
export function isIdempotent({ method, path, idempotent }: AnyRoute): boolean {
  return idempotent ?? (method === 'POST' && !path.startsWith('/auth/'));
}

/** Whether its answers get an ETag: all that a token opens for reading, except files, which have their own. */
export function isTagged({ method, scope, contentTypes }: AnyRoute): boolean {
  return method === 'GET' && scope !== null && contentTypes?.[200] === undefined;
}

/** The failure statuses of a route, derived from its declaration. */
export function errorStatuses(declared: AnyRoute): number[] {
  const { scope, body, errors = [] } = declared;
  const statuses = new Set<number>([...errors, 429, 500, 503]);
  if (declared.method !== 'GET') statuses.add(504);
  if (isIdempotent(declared)) for (const status of [409, 422]) statuses.add(status);
  // A known caller may lack a scope, have only a download link, or send a cookie without its CSRF token.
  if (scope !== null) for (const status of [401, 403]) statuses.add(status);
  if (parameterNames(declared.path).length > 0) statuses.add(404);
  if (body !== undefined) for (const status of [400, 413, 415, 422]) statuses.add(status);
  if (declared.query !== undefined || declared.headers !== undefined || declared.params !== undefined) statuses.add(422);
  return [...statuses].sort((a, b) => a - b);
}
