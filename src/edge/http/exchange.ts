/**
 * Sends answers: at once inside the request's callback, or later through an `Exchange`, which outlives the callback and notices when the
 * client disconnects.
 */
import { Readable } from 'node:stream';
import { type BodySocket, IncomingBody } from './incoming-body.ts';
import type { AddressSource, HttpRequest, HttpResponse } from './message.ts';
import { OutgoingStream } from './outgoing-stream.ts';
import { statusLine } from './status.ts';

/** The part of a uWS response that is used. It throws when it is used after its end or after an abort. */
export interface ResponseSocket extends BodySocket, AddressSource {
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  write(chunk: Uint8Array): boolean;
  end(body?: string | Uint8Array, closeConnection?: boolean): unknown;
  endWithoutBody(reportedContentLength?: number, closeConnection?: boolean): unknown;
  tryEnd(chunk: Uint8Array, totalBytes: number): [boolean, boolean];
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): unknown;
  onAborted(handler: () => void): unknown;
  cork(work: () => void): unknown;
}

/** On every answer: browsers must not guess that uploaded or user-written content is a page or a script. */
const contentTypeOptions = 'X-Content-Type-Options';
/** Largest unread rest of a refused body that is still received and discarded, so that its sender can read the answer. */
const discardedBytesMax = 64 * 2 ** 20;

/** Writes a whole answer; its body is not a stream. Call it corked: inside the request's callback or in `cork`. */
export function sendWhole(socket: ResponseSocket, request: HttpRequest, response: HttpResponse, close: boolean): void {
  writeHead(socket, request, response);
  const body = response.body as string | Uint8Array | null;
  if (body !== null && request.method !== 'HEAD') {
    socket.end(body, close);
    return;
  }
  const length = bodyLength(response);
  if (length === 0) {
    socket.endWithoutBody(0, close);
    return;
  }
  // With a length argument, uWS waits for that many bytes. Without arguments uWS does not close the connection, so a header asks the client to
  // close.
  if (length !== undefined) socket.writeHeader('Content-Length', String(length));
  if (close) socket.writeHeader('Connection', 'close');
  socket.endWithoutBody();
}

/**
 * Whether an answer counts as in flight until the kernel has taken all of it: uWS keeps what a slow reader has not taken in a buffer of its
 * own, which is lost when the server closes. The kernel's buffer takes a smaller one at once.
 */
export function isSentInParts({ body }: HttpResponse): boolean {
  return body instanceof Readable || (body !== null && body.length > wholeBodyMax);
}

const wholeBodyMax = 64 * 1024;

function writeHead(socket: ResponseSocket, request: HttpRequest, { status, headers, cookies }: HttpResponse): void {
  if (status !== 200) socket.writeStatus(statusLine(status));
  socket.writeHeader('X-Request-Id', request.requestId);
  const { rateLimit } = request;
  if (rateLimit !== null) {
    socket.writeHeader('X-RateLimit-Limit', String(rateLimit.limit));
    socket.writeHeader('X-RateLimit-Remaining', String(rateLimit.remaining));
    socket.writeHeader('X-RateLimit-Reset', String(rateLimit.resetS));
  }
  if (headers === null || headers[contentTypeOptions] === undefined) socket.writeHeader(contentTypeOptions, 'nosniff');
  if (headers !== null) for (const name in headers) socket.writeHeader(name, headers[name]!);
  if (cookies !== undefined) for (const cookie of cookies) socket.writeHeader('Set-Cookie', cookie);
}

function bodyLength({ body, bodyBytes, status }: HttpResponse): number | undefined {
  if (bodyBytes !== undefined) return bodyBytes;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.length;
  return body === null && status !== 204 && status !== 304 ? 0 : undefined;
}

export class Exchange {
  readonly body: IncomingBody | null;
  /** Set when the request must be notified of the end of the exchange. */
  request: HttpRequest | null = null;
  /** The connection ends with this answer; later requests on it are not served. */
  readonly isLast: boolean;
  private readonly socket: ResponseSocket;
  private readonly ended: (exchange: Exchange) => void;
  private closed = false;
  private outgoing: OutgoingStream | null = null;

  /**
   * @param bodyBytes as in `Framing`
   * @param ended called once, when the answer is sent or the client has disconnected
   */
  constructor(socket: ResponseSocket, bodyBytes: number | null | undefined, isLast: boolean, ended: (exchange: Exchange) => void) {
    this.socket = socket;
    this.isLast = isLast;
    this.ended = ended;
    socket.onAborted(() => this.abort());
    this.body = bodyBytes === undefined ? null : new IncomingBody(socket, bodyBytes);
  }

  /** Sends the answer. If the client has disconnected, a stream in the answer is destroyed. */
  respond(request: HttpRequest, response: HttpResponse, closeAfter: boolean): void {
    const { body } = response;
    if (this.closed) {
      if (body instanceof Readable) body.destroy();
      return;
    }
    const close = closeAfter || this.isLast || this.leavesTooMuchUnread();
    this.body?.finish();
    if (isSentInParts(response) && request.method !== 'HEAD') return this.sendInParts(request, response, close);
    if (body instanceof Readable) body.destroy();
    this.socket.cork(() => sendWhole(this.socket, request, response, close));
    this.finish();
  }

  /** Cuts the connection. */
  close(): void {
    if (!this.closed) this.socket.close();
  }

  private sendInParts(request: HttpRequest, response: HttpResponse, close: boolean): void {
    const { body } = response;
    const bodyBytes = bodyLength(response);
    this.socket.cork(() => {
      writeHead(this.socket, request, response);
      // A body of known length ends with its last byte, which cannot also close the connection: a header asks the client to close.
      if (close && bodyBytes !== undefined) this.socket.writeHeader('Connection', 'close');
    });
    const source = body instanceof Readable ? body : Readable.from([Buffer.from(body as string | Uint8Array)]);
    this.outgoing = new OutgoingStream(this.socket, source, bodyBytes, close, () => this.finish());
  }

  private leavesTooMuchUnread(): boolean {
    if (this.body === null || this.body.complete) return false;
    return this.body.declaredBytes === null || this.body.declaredBytes > discardedBytesMax;
  }

  private finish(): void {
    if (this.closed) return;
    this.closed = true;
    this.ended(this);
  }

  private abort(): void {
    if (this.closed) return;
    this.closed = true;
    this.body?.abort();
    this.outgoing?.abort();
    this.ended(this);
  }
}
