/**
 * The service over HTTP. A request without an answer, or with an answer to come later, is retried if that is safe: reads always, commands
 * with their Idempotency-Key. Every failure ends as a `Failure` with one line that says what to do.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import { Failure, isBusy } from './failure.ts';
import { oneLine } from './plain-text.ts';

export type Call = {
  json?: unknown;
  /** Called for each try, because a body can be read once. */
  form?: () => FormData;
  /** Most retries of a request without an answer; 0 if the caller retries itself. */
  retries?: number;
  timeoutMs?: number;
};

export type Client = {
  readonly url: string;
  readonly token: string | null;
  /** The answer's JSON; null for an answer without a body. */
  request<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, call?: Call): Promise<T>;
  /** An answer with a body that the caller reads. */
  open(path: string): Promise<Response>;
};

export type ClientParts = {
  /** Without a trailing slash. */
  url: string;
  token: string | null;
  /** Ends every wait. */
  signal: AbortSignal;
  notice(line: string): void;
};

const requestTimeoutMs = 60_000;
const downloadTimeoutMs = 3_600_000;
/** With the pauses, about 20 seconds: longer than the replacement of a node takes. */
const maxRetries = 12;
const firstBackoffMs = 250;
const maxBackoffMs = 2_000;
/** A first try that is still running ends soon; a later conflict is a real refusal. */
const maxConflicts = 4;
const triesBeforeNotice = 3;
/** Longest total wait of one request while the service answers "later". */
const maxRetryMs = 15 * 60_000;
const maxAnswerBytes = 32 * 2 ** 20;

export function createClient({ url, token, signal, notice }: ClientParts): Client {
  /** The service has answered before, so a failure now is temporary. */
  let isKnown = false;

  async function answered(method: string, path: string, call: Call): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (token !== null) headers.Authorization = `Bearer ${token}`;
    if (method === 'POST') headers['Idempotency-Key'] = randomUUID();
    if (call.json !== undefined) headers['Content-Type'] = 'application/json';
    const retries = call.retries ?? maxRetries;
    let remainingMs = maxRetryMs;
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted();
      const last = attempt >= retries;
      const response = await once(method, path, call, headers, last);
      if (response?.ok) return response;
      let waitMs = backoffMs(attempt, firstBackoffMs, maxBackoffMs);
      if (response !== null) {
        const detail = await readDetail(response);
        const later = askedToWaitMs(response);
        const mayRepeat = later <= remainingMs && (response.status === 429 || (!last && isPassing(response.status, attempt)));
        if (!mayRepeat) throw refusal(url, response, detail);
        waitMs = Math.max(waitMs, later);
        if (response.status === 429) notice(`Too many requests: waiting ${Math.ceil(waitMs / 1000)} s, as requested by the service`);
      }
      if (response?.status !== 429 && attempt === triesBeforeNotice) notice('The service cannot answer at the moment; trying again ...');
      remainingMs -= waitMs;
      await sleep(waitMs, undefined, { signal });
    }
  }

  /** Null if there was no answer and another try is due. */
  async function once(method: string, path: string, call: Call, headers: Record<string, string>, last: boolean): Promise<Response | null> {
    const limit = AbortSignal.timeout(call.timeoutMs ?? requestTimeoutMs);
    const body = call.form?.() ?? (call.json === undefined ? undefined : JSON.stringify(call.json));
    try {
      const response = await fetch(url + path, { method, headers, body, redirect: 'manual', signal: AbortSignal.any([signal, limit]) });
      isKnown = true;
      return response;
    } catch (error) {
      signal.throwIfAborted();
      // Nothing has ever listened: the service was probably not started, and waiting does not help.
      const isUnreachable = !isKnown && ['ECONNREFUSED', 'ENOTFOUND'].includes(codeOf(error) ?? '');
      if (last || isUnreachable) throw unreachable(url, error);
      return null;
    }
  }

  return {
    url,
    token,
    async request<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, call: Call = {}) {
      const response = await answered(method, path, call);
      try {
        const text = await readBounded(response);
        return (text === '' ? null : JSON.parse(text)) as T;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SyntaxError) throw new Failure('refused', `${url} answers, but is not a Troupe service: check --url`);
        throw unreachable(url, error);
      }
    },
    open: (path) => answered('GET', path, { timeoutMs: downloadTimeoutMs }),
  };
}

/** Worth another try with the same key: a busy or leaving node, or a first try that is still running. */
function isPassing(status: number, attempt: number): boolean {
  return isBusy(status) || (status === 409 && attempt > 0 && attempt <= maxConflicts);
}

function askedToWaitMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  return response.status === 429 ? 1000 : 0;
}

async function readBounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxAnswerBytes) throw new Failure('refused', `The service's answer is larger than ${maxAnswerBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** `detail` of an error body as text; a 422 names its fields. */
async function readDetail(response: Response): Promise<string> {
  try {
    const { detail } = JSON.parse(await readBounded(response)) as { detail?: unknown };
    if (typeof detail === 'string') return oneLine(detail, 500);
    if (!Array.isArray(detail)) return '';
    return oneLine(
      detail.map((issue: { loc: unknown[]; msg: unknown }) => `${issue.loc.slice(1).join('.')}: ${issue.msg}`).join('; '),
      1_000,
    );
  } catch {
    return '';
  }
}

function refusal(url: string, response: Response, detail: string): Failure {
  const { status } = response;
  return new Failure('refused', refusalText(url, response, detail), { status });
}

function refusalText(url: string, { status, headers }: Response, detail: string): string {
  const reason = detail === '' ? `status ${status}` : detail;
  if (status === 401) return `The service does not accept the token (${reason}): pass a valid one with --token or TROUPE_TOKEN`;
  if (status === 402) return `The account's plan does not allow this (${reason}): upgrade the plan, or wait for the next billing period`;
  if (status === 403) return `The token does not allow this (${reason}): use a token with the required scope`;
  if (status === 422) return `The service refuses the request as invalid (${reason})`;
  if (status === 429) {
    const waitS = headers.get('retry-after');
    return `Too many requests (${reason}): try again ${waitS === null ? 'later' : `after ${waitS} s`}`;
  }
  if (status >= 300 && status < 400)
    return `${url} redirects to ${oneLine(headers.get('location') ?? '')}: pass the final address with --url`;
  if (status >= 500)
    return `The service failed (${reason}): try again; its log has the details under request id ${oneLine(headers.get('x-request-id') ?? 'unknown')}`;
  return `The service refused the request: ${reason}`;
}

export function unreachable(url: string, cause: unknown): Failure {
  const hint = isLoopback(url) ? 'start it with `npm start`, or pass its address with --url' : 'check --url and the network';
  const reason = cause instanceof Error && cause.cause instanceof Error ? oneLine(cause.cause.message) : 'the connection was closed';
  const why = cause instanceof Error && cause.name === 'TimeoutError' ? 'no answer in time' : (codeOf(cause) ?? reason);
  return new Failure('unreachable', `The service cannot be reached at ${url} (${why}): ${hint}`, { cause });
}

/** Whether the service is on this machine. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** The system's code of a failed connection; fetch nests it several causes deep. */
function codeOf(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_\w+|ERR_[A-Z_]+|[A-Z_]*CERT[A-Z_]*)$/.test(code)) return code;
  }
  return null;
}
