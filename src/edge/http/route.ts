/**
 * One endpoint, declared once: what it takes, answers and allows. Routing, validation, authorization and the OpenAPI description all come
 * from the declaration, so they cannot disagree.
 */
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { Reservation } from '../../storage/idempotency-keys.ts';
import type { Principal } from '../auth/principal.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import type { UploadedFile } from './multipart.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call. null: anybody, no token is looked at. `any`: every session and key. `session`: a person's session only.
 * Otherwise the scope a session or key must hold, e.g. `tasks.read`; the bearer of a download link passes only where its link says so.
 */
export type Scope = null | 'any' | 'session' | `${string}.${string}`;

/** What is answered with which status; null: an empty body. */
export type Responses = { readonly [status: number]: TSchema | null };

/** `json` is typed by the schema that `responses` gives its status. */
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
  ? { [K in Name]: string } & PathParams<Rest>
  : unknown;

/** What a handler is given. Everything is validated and typed by the route's schemas. */
export type Context<Path extends string = string, P = unknown, Q = unknown, H = unknown, B = unknown, S extends Scope = Scope> = {
  readonly request: HttpRequest;
  readonly requestId: string;
  /** `A` under /v1, `B` without prefix: decides where the two variants of an answer cannot be merged. */
  readonly variant: 'A' | 'B';
  readonly principal: S extends null ? null : Principal;
  /** Percent-decoded. */
  readonly params: P extends TObject ? Static<P> : PathParams<Path>;
  readonly query: Q extends TObject ? Static<Q> : Record<never, never>;
  readonly headers: H extends TObject ? Static<H> : Record<never, never>;
  readonly body: B extends TSchema ? Static<B> : undefined;
  /** The ids a request with an Idempotency-Key works with; read them by `commandIds`. */
  readonly reservation: Reservation | null;
  /** Only with `readsBody`: the body as it was sent. Call it once. Throws `payload_too_large`, and `overloaded` while too much is held. */
  readBytes(maxBytes: number): Promise<Buffer>;
  /** Only with `body: 'multipart'`: hands the one uploaded file over; see `receiveFile`. Call it once. */
  receiveFile<T>(take: (file: UploadedFile) => Promise<T>): Promise<T>;
};

/** A context whose route is not known by type: for what wraps every handler. */
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
  /** Set by what wraps the handler. */
  reservation: Reservation | null;
  /**
   * Set by what wraps the handler where it must know the uploaded file: told the hash of its name and bytes when all have come, and before whoever
   * stores it hears so. What it rejects with fails the upload.
   */
  uploaded: ((hash: string) => Promise<void>) | null;
  receiveFile<T>(take: (file: UploadedFile) => Promise<T>): Promise<T>;
};

type Declaration = {
  method: Method;
  /** Without the /v1 prefix, parameters in braces: `/tasks/{id}`. Both prefixes are served. */
  path: string;
  summary: string;
  description?: string;
  scope: Scope;
  /** Failures beyond those that follow from the rest (401 and 403 with a scope, 404 with a parameter, 400, 409, 413, 415, 422, 429, 504), e.g. [402, 409]. */
  errors?: readonly number[];
  /** Goes beyond the interface specification: `x-extension: true` in the description. */
  extension?: boolean;
  /** The path after which the description has it, e.g. of another domain; without it: in the order of the routes. */
  describedAfter?: string;
  /** Whether `Idempotency-Key` has an effect; true for every POST outside /auth that does not say otherwise. */
  idempotent?: boolean;
  /** Whether it is taken while the disk is full; true for DELETE and for what only reads. */
  whileFull?: boolean;
  /** The handler reads the bytes of the body itself, by `readBytes`. They count among those that a node holds, until the answer is made. */
  readsBody?: boolean;
  /** false: asked as often as anybody likes, and counted against nothing. */
  limited?: boolean;
  /** Fields of its answer, at whatever depth, that are shown once: its replay holds null there after 24 hours. The answer is JSON then. */
  secretFields?: readonly string[];
  /** Content types of answers that are no JSON, by status, e.g. {200: 'application/octet-stream'}. */
  contentTypes?: { readonly [status: number]: string };
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
  // `const` keeps the literal type of the status a handler answers with.
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
     * What the handler demands of its caller beyond the scope: throws where the caller lacks it. Asked before the answer to an earlier request
     * is given again, which may have been another caller's.
     */
    authorize?(context: Context<Path, P, Q, H, B, S>): void | Promise<void>;
    handler(context: Context<Path, P, Q, H, B, S>): A | Promise<A>;
  },
): AnyRoute {
  return declaration as unknown as AnyRoute;
}

/** Names of the path's parameters, in order. */
export function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}

/** The schema of the path's parameters: the declared one, else plain strings. */
export function parameterSchema(declared: AnyRoute): TObject {
  return declared.params ?? Type.Object(Object.fromEntries(parameterNames(declared.path).map((name) => [name, Type.String()])));
}

/** Whether the wrapper for idempotency keys applies. Who signs up or in takes no notice of them (contract §1). */
export function isIdempotent({ method, path, idempotent }: AnyRoute): boolean {
  return idempotent ?? (method === 'POST' && !path.startsWith('/auth/'));
}

/** Whether its answers carry an ETag: all that a token opens for reading, files excepted, which bring their own. */
export function isTagged({ method, scope, contentTypes }: AnyRoute): boolean {
  return method === 'GET' && scope !== null && contentTypes?.[200] === undefined;
}

/** The failures a route can answer with, from what it declares. */
export function errorStatuses(declared: AnyRoute): number[] {
  const { scope, body, errors = [] } = declared;
  const statuses = new Set<number>([...errors, 429, 500, 503]);
  if (declared.method !== 'GET') statuses.add(504);
  if (isIdempotent(declared)) for (const status of [409, 422]) statuses.add(status);
  // Whoever is known may still lack a scope, hold no more than a download link, or a cookie without its CSRF token.
  if (scope !== null) for (const status of [401, 403]) statuses.add(status);
  if (parameterNames(declared.path).length > 0) statuses.add(404);
  if (body !== undefined) for (const status of [400, 413, 415, 422]) statuses.add(status);
  if (declared.query !== undefined || declared.headers !== undefined || declared.params !== undefined) statuses.add(422);
  return [...statuses].sort((a, b) => a - b);
}
