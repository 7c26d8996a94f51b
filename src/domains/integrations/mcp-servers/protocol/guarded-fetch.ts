/** `fetch` for the MCP client, over the guarded outbound: checked addresses, bounded times and sizes, and what the library does not pass on is noted. */
import { Readable } from 'node:stream';
import { AppError } from '../../../../errors.ts';
import type { Outbound } from '../../../../providers/outbound/port.ts';

export type GuardedFetchParts = {
  outbound: Outbound;
  accountId: string;
  /** From the request to the headers of the answer. */
  timeoutMs: number;
  /** Of one answer; streams of notifications, which stay open, end there and are opened again. */
  maxBytes: number;
  /** Sees the status and headers of each answer. */
  answered?(status: number, headers: Readonly<Record<string, string>>): void;
};

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The code of the error at the end of a stream without a response. */
export const brokenStream = -32_099;

const withoutBody = new Set([101, 204, 205, 304]);

/** Redirects are answers: whether they are followed is decided by the library, within the origin alone. */
export function guardedFetch({ outbound, accountId, timeoutMs, maxBytes, answered }: GuardedFetchParts): Fetch {
  return async (url, init = {}) => {
    const { status, headers, body } = await outbound.stream(String(url), {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers).entries()),
      body: bodyText(init.body),
      signal: init.signal ?? undefined,
      account: accountId,
      timeoutMs,
      maxBytes,
    });
    answered?.(status, headers);
    const isEmpty = withoutBody.has(status);
    if (isEmpty) body.destroy();
    const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
    const requestId = isStream ? requestIdIn(bodyText(init.body)) : undefined;
    const shown = requestId === undefined ? body : Readable.from(endedByError(body, requestId), { objectMode: false });
    return new Response(isEmpty ? null : (Readable.toWeb(shown) as ReadableStream), { status, headers: headerPairs(headers) });
  };
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

/** Of a request with one answer; a subscription has none. */
function requestIdIn(text: string | undefined): string | number | undefined {
  if (text === undefined) return undefined;
  const { id, method } = JSON.parse(text);
  return method === 'subscriptions/listen' ? undefined : id;
}

function bodyText(body: RequestInit['body']): string | undefined {
  return body === undefined || body === null ? undefined : String(body);
}

/** Header values that `Headers` refuses are left out: they are another server's. */
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
