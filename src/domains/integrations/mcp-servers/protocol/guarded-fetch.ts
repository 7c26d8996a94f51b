/**
 * `fetch` for the MCP client, over the guarded outbound client: checked addresses, bounded times and sizes. It also records details that
 * the library does not return.
 */
import { Readable } from 'node:stream';
import { AppError } from '../../../../errors.ts';
import { JsonBounds } from '../../../../json-bounds.ts';
import type { Outbound } from '../../../../providers/outbound/port.ts';

export type GuardedFetchParts = {
  outbound: Outbound;
  accountId: string;
  /** From the request to the headers of the answer. */
  timeoutMs: number;
  /** From the request to the last byte; only streams of notifications stay open longer. Default: `timeoutMs`. */
  wholeMs?: number;
  /** Of one answer; streams of notifications, which stay open, end there and are opened again. */
  maxBytes: number;
  /** Whether the messages are MCP: then an answer may be a stream of events. */
  isMcp?: boolean;
  /** Aborts all requests. */
  signal?: AbortSignal;
  /** Sees the status and headers of each answer. */
  answered?(status: number, headers: Readonly<Record<string, string>>): void;
};

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The code of the error at the end of a stream without a response. */
export const brokenStream = -32_099;

/** Of one message: a parser cannot pause, and many small values cost it more than their bytes. */
const messageLimits = { maxDepth: 64, maxValues: 20_000 };
const withoutBody = new Set([101, 204, 205, 304]);
/** Replies to the server's requests that are sent at once: a server could send thousands of requests, and each reply needs a connection. */
const maxReplies = 16;

/** The known facts of a message that is sent. */
type Sent = { id?: string | number; method?: string };

/** Redirects are returned as answers: the library decides whether they are followed, and only within the origin. */
export function guardedFetch(parts: GuardedFetchParts): Fetch {
  const { outbound, accountId, timeoutMs, wholeMs = timeoutMs, maxBytes, isMcp = false, answered } = parts;
  let replies = 0;

  return async (url, init = {}) => {
    const text = bodyText(init.body);
    const sent = isMcp && text !== undefined ? (JSON.parse(text) as Sent) : {};
    const isReply = sent.id !== undefined && sent.method === undefined;
    if (isReply && replies >= maxReplies) throw new AppError('unavailable', 'The server sends too many requests at once');
    if (isReply) replies++;
    const replied = () => {
      if (isReply) replies--;
    };
    const begunMs = performance.now();
    const { status, headers, body } = await outbound
      .stream(String(url), {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers).entries()),
        body: text,
        signal: either(init.signal, parts.signal),
        account: accountId,
        timeoutMs,
        maxBytes,
      })
      .catch((error: unknown) => {
        replied();
        throw error;
      });
    body.once('close', replied);
    answered?.(status, headers);
    if (status > 599) {
      body.destroy();
      throw new AppError('unavailable', `The server answers with status ${status}`);
    }
    const isEmpty = withoutBody.has(status);
    if (isEmpty) body.destroy();
    const isStream = isMcp && headers['content-type']?.startsWith('text/event-stream') === true;
    const requestId = isStream && sent.method !== 'subscriptions/listen' ? sent.id : undefined;
    if (!isStream || requestId !== undefined) endAfter(body, wholeMs - (performance.now() - begunMs), wholeMs);
    const bounded = Readable.from(withinBounds(body, isStream), { objectMode: false });
    const shown = requestId === undefined ? bounded : Readable.from(endedByError(bounded, requestId), { objectMode: false });
    return new Response(isEmpty ? null : (Readable.toWeb(shown) as ReadableStream), { status, headers: headerPairs(headers) });
  };
}

/** Fails at a message with too many values. In a stream of events the limits count for each event; an empty line ends an event. */
async function* withinBounds(body: Readable, isStream: boolean): AsyncGenerator<Uint8Array> {
  let bounds = new JsonBounds(messageLimits);
  let atLineStart = false;
  const take = (bytes: Uint8Array) => {
    if (!bounds.take(bytes)) throw new AppError('payload_too_large', 'The server answers with more values than are read');
  };
  for await (const chunk of body as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = isStream ? chunk.indexOf(newLine) : -1; end !== -1; end = chunk.indexOf(newLine, from)) {
      const line = chunk.subarray(from, end + 1);
      const isEmpty = atLineStart && (line.length === 1 || (line.length === 2 && line[0] === carriageReturn));
      if (isEmpty) bounds = new JsonBounds(messageLimits);
      else take(line);
      atLineStart = true;
      from = end + 1;
    }
    if (from < chunk.length) {
      const rest = chunk.subarray(from);
      take(rest);
      atLineStart &&= rest.length === 1 && rest[0] === carriageReturn;
    }
    yield chunk;
  }
}
const [newLine, carriageReturn] = [0x0a, 0x0d];

/** A server that sends a few bytes at a time could otherwise keep the connection open for days. */
function endAfter(body: Readable, leftMs: number, wholeMs: number): void {
  const late = () => body.destroy(new AppError('unavailable', `The answer was not complete within ${wholeMs / 1_000} s`));
  const timer = setTimeout(late, Math.max(0, leftMs));
  body.once('close', () => clearTimeout(timer));
}

/**
 * A stream of events that ends or breaks without the response leaves the library waiting until its time is up. So an error for the request is added at
 * its end: after a response it is for no request, and ignored. A stream with event ids is continued by the library.
 */
async function* endedByError(body: Readable, requestId: string | number): AsyncGenerator<Uint8Array> {
  let hasEventIds = false;
  let message = 'The server ended its answer too early';
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      hasEventIds ||= /(^|\n)id:/.test(chunk.toString('latin1'));
      yield chunk;
    }
  } catch (error) {
    if (hasEventIds) throw error;
    if (error instanceof AppError) message = error.message;
  }
  if (hasEventIds) return;
  const error = { jsonrpc: '2.0', id: requestId, error: { code: brokenStream, message } };
  yield Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(error)}\n\n`);
}

function either(one: AbortSignal | null | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  const signals = [one, other].filter((signal) => signal !== null && signal !== undefined);
  return signals.length > 1 ? AbortSignal.any(signals) : signals[0];
}

function bodyText(body: RequestInit['body']): string | undefined {
  return body === undefined || body === null ? undefined : String(body);
}

/** Values that `Headers` refuses are left out: they come from another server. */
function headerPairs(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).filter(([name, value]) => {
    try {
      new Headers([[name, value]]);
      return true;
    } catch {
      return false;
    }
  });
}
