/**
 * One try at a model endpoint over HTTP, as the `fetch` of the SDK. It guarantees what the SDK does not: a first byte in time, no long
 * pause after it, no long time without content, a limited number of bytes, no redirects, and a failure text instead of an exception that contains the request. `failure`
 * keeps the cause, because the SDK wraps thrown errors.
 */
import { setImmediate as otherWork } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { JsonBounds } from '../../json-bounds.ts';
import { retryAfterMs } from './retry.ts';
import { failureOfComplaint, type SettingNames, scrub, TryFailure } from './try-failure.ts';

export type EndpointOptions = {
  firstByteTimeoutMs: number;
  idleTimeoutMs: number;
  contentTimeoutMs: number;
  /** Characters of the answer so far. */
  contentChars(): number;
  /** The current limit of the answer's bytes. */
  maxBytes(): number;
  names: SettingNames;
  /** Masked wherever the endpoint repeats them. */
  secrets: readonly string[];
  /** Name of the requested model, for messages. */
  model: string;
  clock: Clock;
  wholeAnswer?: WholeAnswer;
};

export type EndpointTry = {
  fetch: typeof fetch;
  /** Why the try failed, when it failed at the level of HTTP. */
  failure: TryFailure | undefined;
  /** Whether the SDK sent the request. */
  sent: boolean;
  /** Whether the endpoint began to answer with 200: after that it may charge for the try. */
  answered: boolean;
};

/** Converts an answer that is one JSON document, although a stream was requested, to the events of a stream; undefined if that is impossible. */
export type WholeAnswer = (body: unknown) => string | undefined;

const maxErrorBytes = 64 * 1024;
/** About thirty events. */
const pieceBytes = 4 * 1024;
/** Limit of JSON that is parsed at once. Written as escapes, a character of the answer takes six bytes. */
const maxReadBytes = 2 * 2 ** 20;
const readLimits = { maxDepth: Infinity, maxValues: 20_000 };

/** @param signal ends the request, with its reason as the error; abort it when the try is over, so that no timer remains */
export function openEndpoint(signal: AbortSignal, options: EndpointOptions): EndpointTry {
  const { firstByteTimeoutMs, idleTimeoutMs, contentTimeoutMs, contentChars, maxBytes, names, secrets, model, clock, wholeAnswer } =
    options;
  const late = new AbortController();
  const ends = AbortSignal.any([signal, late.signal]);
  const attempt: EndpointTry = { fetch: request as typeof fetch, failure: undefined, sent: false, answered: false };
  const abort = (failure: TryFailure): void => late.abort(failure);

  async function request(url: string, init: RequestInit): Promise<Response> {
    attempt.sent = true;
    const firstByte = setTimeout(
      abort,
      firstByteTimeoutMs,
      new TryFailure(`The model endpoint did not begin to answer within ${inSeconds(firstByteTimeoutMs)}.`, 'backoff'),
    );
    signal.addEventListener('abort', () => clearTimeout(firstByte), { once: true });
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: ends });
      if (!response.ok) {
        clearTimeout(firstByte);
        throw await complaintOf(response);
      }
      const type = response.headers.get('content-type') ?? '';
      if (/text\/html/i.test(type)) throw notAModel();
      const isWhole = wholeAnswer !== undefined && /application\/json/i.test(type);
      const body = bounded(response.body, isWhole, () => clearTimeout(firstByte));
      attempt.answered = true;
      if (!isWhole) return new Response(body, { status: 200, headers: { 'content-type': type } });
      const events = wholeAnswer(parsed(await new Response(body).text()));
      if (events === undefined) throw new TryFailure('The model endpoint sent something that cannot be read.', 'backoff');
      return new Response(events, { status: 200, headers: { 'content-type': 'text/event-stream' } });
    } catch (error) {
      clearTimeout(firstByte);
      throw failed(error);
    }
  }

  /** A stream is read only while a reader waits for it, so a pause is the endpoint's, never this service's. */
  function bounded(source: ReadableStream<Uint8Array> | null, isWhole: boolean, onFirstByte: () => void): ReadableStream<Uint8Array> {
    const reader = (source ?? new Response('').body!).getReader();
    const lines = new ReadBound(isWhole);
    let bytes = 0;
    let chars = 0;
    let emptyMs = 0;
    let rest: Uint8Array | null = null;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (rest !== null) {
            // The SDK handles a piece in one turn of the event loop; other work runs in between.
            await otherWork();
            const piece: Uint8Array = rest.subarray(0, pieceBytes);
            rest = rest.length > pieceBytes ? rest.subarray(pieceBytes) : null;
            return controller.enqueue(piece);
          }
          const idle = new TryFailure(
            `The model endpoint fell silent for ${inSeconds(idleTimeoutMs)} in the middle of its answer.`,
            'backoff',
          );
          const timer = bytes === 0 ? undefined : setTimeout(abort, idleTimeoutMs, idle);
          const askedAt = performance.now();
          try {
            const { done, value } = await reader.read();
            onFirstByte();
            if (done) return controller.close();
            // Before the first byte another limit holds. A document is converted only when it is whole, so its bytes count, except blanks.
            const hasContent = isWhole ? value.some((byte: number) => byte > 0x20) : contentChars() > chars;
            emptyMs = bytes === 0 || hasContent ? 0 : emptyMs + performance.now() - askedAt;
            chars = contentChars();
            if (emptyMs > contentTimeoutMs) throw withoutContent();
            bytes += value.byteLength;
            if (bytes > maxBytes()) throw new TryFailure('The model went on without end and was cut off.', 'never');
            if (!lines.take(value)) throw new TryFailure('The model went on without end and was cut off.', 'never');
            controller.enqueue(value.subarray(0, pieceBytes));
            if (value.length > pieceBytes) rest = value.subarray(pieceBytes);
          } catch (error) {
            onFirstByte();
            const failure = failed(error);
            abort(failure instanceof TryFailure ? failure : new TryFailure('The answer was given up.', 'never'));
            controller.error(failure);
          } finally {
            clearTimeout(timer);
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  async function complaintOf(response: Response): Promise<TryFailure> {
    // The status is enough if the rest of the page does not arrive in time.
    const timer = setTimeout(abort, idleTimeoutMs, new TryFailure('The error page of the model endpoint did not end.', 'backoff'));
    const text = await beginningOf(response)
      .catch(() => '')
      .finally(() => clearTimeout(timer));
    const body = parsed(text) as { error?: { message?: unknown; code?: unknown; type?: unknown } | string; message?: unknown } | undefined;
    const error = typeof body?.error === 'object' ? body.error : undefined;
    return failureOfComplaint(
      {
        status: response.status,
        detail: scrub(error?.message ?? (typeof body?.error === 'string' ? body.error : body?.message), secrets),
        code: [error?.code, error?.type].filter((part) => typeof part === 'string').join(' '),
        retryAfterMs: retryAfterMs(response.headers, clock.nowMs()),
      },
      names,
      model,
    );
  }

  function withoutContent(): TryFailure {
    return new TryFailure(
      `The model endpoint sent no part of its answer for ${inSeconds(contentTimeoutMs)}, only comments, empty events or blanks.`,
      'backoff',
    );
  }

  function notAModel(): TryFailure {
    return new TryFailure(
      `A web page answered where the model endpoint should be; the operator must check ${names.address ?? 'the network'}.`,
      'never',
    );
  }

  /** The failure to show for a thrown error; an abort by the caller stays unchanged. */
  function failed(error: unknown): unknown {
    if (signal.aborted) return signal.reason;
    const reason = late.signal.aborted && !(error instanceof TryFailure) ? late.signal.reason : error;
    attempt.failure ??= reason instanceof TryFailure ? reason : connectionFailure(reason, names);
    return attempt.failure;
  }

  return attempt;
}

/** Limits the JSON that is parsed at once: one event of a stream, which is one line, or the whole document. */
class ReadBound {
  private readonly isWhole: boolean;
  private bytes = 0;
  private json = new JsonBounds(readLimits);

  constructor(isWhole: boolean) {
    this.isWhole = isWhole;
  }

  /** False once it is too long, or contains too many values. */
  take(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.length; ) {
      const lineEnd = this.isWhole ? -1 : chunk.indexOf(0x0a, at);
      const end = lineEnd === -1 ? chunk.length : lineEnd;
      this.bytes += end - at;
      if (this.bytes > maxReadBytes || !this.json.take(chunk.subarray(at, end))) return false;
      if (lineEnd !== -1) {
        this.bytes = 0;
        this.json = new JsonBounds(readLimits);
      }
      at = end + 1;
    }
    return true;
  }
}

/** At most the first 64 KiB: enough for any error text, and a limit for an endless page. */
async function beginningOf(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.byteLength;
    if (bytes >= maxErrorBytes) break;
  }
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Only the code of a network error is shown: its message can contain the address and, for an invalid header, the key itself. */
function connectionFailure(error: unknown, names: SettingNames): TryFailure {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  const code = typeof cause?.code === 'string' ? cause.code.slice(0, 40) : undefined;
  if (code === undefined && error instanceof TypeError && !/^(fetch failed|terminated)$/.test(error.message))
    return new TryFailure(
      `The request to the model could not be made; the operator must check ${[names.address, names.key].filter(Boolean).join(' and ')}.`,
      'never',
    );
  return new TryFailure(`The connection to the model endpoint failed${code === undefined ? '' : ` (${code})`}.`, 'backoff');
}

/** For a request that was never sent: a key that is not valid in a header, an invalid address. */
export function requestNotMade(names: SettingNames): TryFailure {
  return new TryFailure(
    `The request to the model could not be made; the operator must check ${[names.address, names.key].filter(Boolean).join(' and ')}.`,
    'never',
  );
}

function inSeconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1000))} s`;
}
