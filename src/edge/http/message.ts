/** A request and its answer as plain values. Handlers use these and never the HTTP library. */
import type { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import type { RateLimitState } from '../limits/bucket.ts';
import { TrustedProxies } from './client-address.ts';
import { newRequestId } from './request-id.ts';

export type HttpResponse = {
  status: number;
  /** Sent unchanged: values contain no line breaks. The server itself sets `X-Request-Id`, `X-RateLimit-*`, `Date` and `Content-Length`. */
  headers: Record<string, string> | null;
  /** Values of Set-Cookie; each is sent in a separate header. */
  cookies?: readonly string[];
  /** A stream is sent with backpressure and destroyed when the client disconnects. */
  body: string | Uint8Array | Readable | null;
  /** Length of a stream, or of the body a HEAD request leaves out; without it a stream is sent in chunks. */
  bodyBytes?: number;
};

/** The bytes of a request's body as they arrive. One reader, once; bytes that arrive before it are kept (up to a limit). */
export interface RequestBody {
  /** Content-Length; null where the body is chunked. */
  readonly declaredBytes: number | null;
  /** @param withinMs a sender that needs longer for the whole body is cut off */
  read(reader: BodyReader, withinMs: number): void;
  /** Stops the sender (TCP backpressure); up to one receive buffer may still arrive. */
  pause(): void;
  resume(): void;
}

export interface BodyReader {
  /** @param bytes valid during this call only: copy what must be kept */
  data(bytes: Buffer, last: boolean): void;
  /** The client disconnected, or was slower than the server allows. No further call follows. */
  aborted(): void;
}

/** Connection data of a request, read only when needed. */
export interface AddressSource {
  getRemoteAddressAsText(): ArrayBuffer;
}

type RequestPart = { method: string; path: string; queryString?: string; idempotencyKey?: string | null };

const callersId = /^[\w-]{1,128}$/;
const noProxies = new TrustedProxies();

/** Everything is copied out of the library before the first await, so a handler may keep the request while it runs. */
export class HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** As sent: percent-encoded, without the query. */
  readonly path: string;
  /** As sent, without the question mark; empty where there is no query. */
  readonly queryString: string;
  /** Lower-case names and their values, alternating, in the order sent. */
  readonly headers: readonly string[];
  /** null where the request has none. */
  readonly body: RequestBody | null;
  /** The caller's own id where it is well-formed, otherwise a new one. */
  readonly requestId: string;
  /** Set by the router where the request is traced. */
  trace: string | null = null;
  /** The caller's rate limit, for the answer's headers; null: unknown. Set by the limiter. */
  rateLimit: RateLimitState | null = null;
  private readonly source: AddressSource;
  private readonly proxies: TrustedProxies;
  private readonly announced: string;
  private address = '';
  private client = '';
  private hasEnded = false;
  private atEnd: (() => void) | null = null;
  private aborting: AbortController | null = null;

  constructor(
    method: string,
    path: string,
    queryString: string,
    headers: readonly string[],
    body: RequestBody | null,
    source: AddressSource,
    proxies: TrustedProxies = noProxies,
    announced = '',
  ) {
    this.method = method;
    this.path = path;
    this.queryString = queryString;
    this.headers = headers;
    this.body = body;
    this.source = source;
    this.proxies = proxies;
    this.announced = announced;
    const id = this.header('x-request-id');
    this.requestId = id !== '' && callersId.test(id) ? id : newRequestId();
  }

  /** A request that another endpoint serves as a part of this one, with the same id and client. Call `settle` first, and `end` at its end. */
  part({ method, path, queryString = '', idempotencyKey = null }: RequestPart): HttpRequest {
    const headers = ['x-request-id', this.requestId];
    if (idempotencyKey !== null) headers.push('idempotency-key', idempotencyKey);
    const part = new HttpRequest(method, path, queryString, headers, null, this.source, this.proxies, this.announced);
    part.address = this.address;
    part.client = this.client;
    part.trace = this.trace;
    return part;
  }

  /** The first header of that (lower-case) name; empty where there is none. */
  header(name: string): string {
    const { headers } = this;
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!;
    return '';
  }

  /** Whether a header of that (lower-case) name was sent at all: uWebSockets.js removes non-ASCII bytes from the end of a value. */
  has(name: string): boolean {
    const { headers } = this;
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return true;
    return false;
  }

  /** Reads connection data that is not readable after the client has disconnected; for callers that need it after an await. */
  settle(): void {
    void this.remoteAddress;
  }

  /** The client's address: the other end of the connection, or the address that a trusted proxy reports. IPv4 is written as IPv4. */
  get clientAddress(): string {
    if (this.client === '') this.client = this.proxies.clientOf(this.remoteAddress, this.headers, this.announced);
    return this.client;
  }

  /**
   * Calls `work` when the request has ended, because its answer is sent or its client disconnected; at once if it has ended already. One
   * caller only.
   */
  whenEnded(work: () => void): void {
    if (this.hasEnded) return work();
    this.atEnd = work;
  }

  /** Whether its answer is sent or its client disconnected. */
  get isOver(): boolean {
    return this.hasEnded;
  }

  /** Aborted when the request has ended: for work whose result is not needed once the client has disconnected. */
  get signal(): AbortSignal {
    this.aborting ??= new AbortController();
    if (this.hasEnded) this.aborting.abort(disconnected());
    return this.aborting.signal;
  }

  /** Called by the server. */
  end(): void {
    this.hasEnded = true;
    this.aborting?.abort(disconnected());
    this.atEnd?.();
    this.atEnd = null;
  }

  /** The IP address at the other end of the connection, as text. */
  get remoteAddress(): string {
    if (this.address === '') this.address = Buffer.from(this.source.getRemoteAddressAsText()).toString('latin1');
    return this.address;
  }
}

const disconnected = () => new AppError('bad_request', 'The client has disconnected');
