/**
 * Requests at a host's API.
 *
 * H1 429 is tried again after Retry-After or X-RateLimit-Reset, clamped to 1–60 s; after five attempts the failure is `rate_limited`. Meanwhile no other
 *    request of the same calls begins.
 * H2 5xx and a lost answer are tried again where a repeat does no harm: five attempts, none later than 60 s after the first failure, then `provider_down`.
 * H3 A request that must not be repeated throws `OutcomeUnknown` after 5xx or a lost answer: the caller searches for what it may have created.
 * H4 No credential is in an error.
 * H5 A page in place of the host's answer, such as a proxy sends with 200 or 404, is a lost answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../../backoff.ts';
import { type Clock, monotonicMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { answerLimits, parseWithin } from '../../../json-bounds.ts';
import type { Outbound, OutboundResponse } from '../../../providers/outbound/port.ts';
import { retryAfterMs } from '../../../retry-after.ts';
import type { HostAnswer, HostCalls, HostRequest } from './host.ts';
import { DeployFailed, type FailureCode } from './host-failure.ts';
import { bounded, type Mask, maskOf } from './mask.ts';
import { fieldsOf, listOf, textOf, textsOf } from './read-answer.ts';

/** Whether the request was carried out is not known. */
export class OutcomeUnknown extends DeployFailed {
  override name = 'OutcomeUnknown';
  constructor(message: string, options?: ErrorOptions) {
    super('provider_down', message, options);
  }
}

export type HostCallParts = {
  outbound: Pick<Outbound, 'fetch'>;
  clock: Clock;
  /** Without a slash at its end. */
  apiUrl: string;
  /** For people, e.g. `Vercel`. */
  title: string;
  accountId: string;
  /** `token` is sent as a bearer token where the request has no header `authorization` of its own. */
  credentials: Readonly<Record<string, string>>;
  /** Waits between attempts. Default: a timer. */
  pause?(ms: number, signal: AbortSignal): Promise<unknown>;
};

const attempts = 5;
const maxFailingMs = 60_000;
const minLimitMs = 1_000;
const maxLimitMs = 60_000;
const firstPauseMs = 500;
const maxPauseMs = 8_000;
const requestTimeoutMs = 30_000;
/** A slower upload is a failure. */
const minBytesPerMs = 100;
/** A list of the 20,000 hashes that a host lacks. */
const maxAnswerBytes = 4 * 2 ** 20;

type Try = { kind: 'answered'; answer: HostAnswer } | { kind: 'no_answer'; message: string; cause: unknown };

export function hostCalls(parts: HostCallParts): HostCalls {
  const { outbound, clock, apiUrl, title, accountId, credentials, pause = pauseFor } = parts;
  const mask = maskOf(credentials);
  /** By the monotonic clock. */
  let limitedUntilMs = -Infinity;

  return {
    pause,
    async request(request) {
      let limits = 0;
      let faults = 0;
      let failingSinceMs: number | null = null;
      for (;;) {
        request.signal.throwIfAborted();
        for (let leftMs = limitedUntilMs - monotonicMs(); leftMs > 0; leftMs = limitedUntilMs - monotonicMs())
          await pause(leftMs, request.signal);
        const tried = await attempt(request);
        if (tried.kind === 'answered') {
          const { answer } = tried;
          const isAnswer = isGood(answer.status) || request.accept?.includes(answer.status) === true;
          const isPage = isAnswer && request.url === undefined && answer.json === null && answer.text.trimStart().startsWith('<');
          if (isAnswer && !isPage) return answer;
          if (answer.status === 429) {
            limits += 1;
            if (limits >= attempts) throw failed('rate_limited', answer);
            await waitForLimit(limitMs(answer), request.signal);
            continue;
          }
          if (!isPage && answer.status < 500 && answer.status !== 408) throw failed(codeOf(answer.status), answer);
        }
        faults += 1;
        if (!request.repeatable) throw unknownOutcome(tried);
        failingSinceMs ??= monotonicMs();
        const waitMs = faultPauseMs(tried, faults);
        if (faults >= attempts || monotonicMs() + waitMs > failingSinceMs + maxFailingMs) throw down(tried);
        await pause(waitMs, request.signal);
      }
    },
  };

  async function waitForLimit(ms: number, signal: AbortSignal): Promise<void> {
    const untilMs = monotonicMs() + ms;
    limitedUntilMs = Math.max(limitedUntilMs, untilMs);
    await pause(ms, signal);
    if (limitedUntilMs === untilMs) limitedUntilMs = -Infinity;
  }

  async function attempt(request: HostRequest): Promise<Try> {
    const { method, body, signal, url } = request;
    const isOwn = url === undefined;
    const token = credentials.token;
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...(isOwn && token !== undefined && { authorization: `Bearer ${token}` }),
      ...lowerCased(request.headers),
    };
    const timeoutMs = requestTimeoutMs + Math.ceil((body?.length ?? 0) / minBytesPerMs);
    const sent = { method, headers, signal, account: accountId, timeoutMs, maxBytes: maxAnswerBytes, ...(body !== undefined && { body }) };
    try {
      const arrived = await (isOwn
        ? outbound.fetch(`${apiUrl}${request.path}`, { ...sent, configured: true })
        : outbound.fetch(url, { ...sent, redirects: 0 }));
      return { kind: 'answered', answer: answerOf(arrived, title) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      // The address itself is refused, so another attempt would be refused too.
      if (error.code === 'forbidden' || error.code === 'bad_request') throw plain('provider_down', error.message, error);
      return { kind: 'no_answer', message: `${title}: ${error.message}`, cause: error };
    }
  }

  function limitMs({ headers }: HostAnswer): number {
    const resetMs = Number(headers['x-ratelimit-reset']) * 1_000 - clock.nowMs();
    const namedMs = retryAfterMs(headers['retry-after'], clock.nowMs()) ?? (resetMs > 0 ? resetMs : minLimitMs);
    return Math.min(maxLimitMs, Math.max(minLimitMs, namedMs));
  }

  function faultPauseMs(tried: Try, faults: number): number {
    const namedMs = tried.kind === 'answered' ? retryAfterMs(tried.answer.headers['retry-after'], clock.nowMs()) : null;
    return Math.max(backoffMs(faults - 1, firstPauseMs, maxPauseMs), Math.min(namedMs ?? 0, maxLimitMs / attempts));
  }

  function down(tried: Try): DeployFailed {
    return tried.kind === 'answered' ? failed('provider_down', tried.answer) : plain('provider_down', tried.message, tried.cause);
  }

  function unknownOutcome(tried: Try): OutcomeUnknown {
    const message = tried.kind === 'answered' ? messageOf(tried.answer, title) : tried.message;
    return new OutcomeUnknown(shown(mask, message), tried.kind === 'answered' ? undefined : { cause: tried.cause });
  }

  function failed(code: FailureCode, answer: HostAnswer): DeployFailed {
    return plain(code, messageOf(answer, title));
  }

  function plain(code: FailureCode, message: string, cause?: unknown): DeployFailed {
    return new DeployFailed(code, shown(mask, message), cause === undefined ? undefined : { cause });
  }
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, null, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** The text of the host, if its answer has one. */
export function messageOf({ status, json, text }: HostAnswer, title: string): string {
  const reason = reasonIn(json) ?? (json === null ? plainReason(text) : undefined);
  return reason === undefined ? `${title} answered ${status}` : `${title} answered ${status}: ${reason}`;
}

function reasonIn(json: unknown): string | undefined {
  const { error, message, msg, errors } = fieldsOf(json);
  const nested = fieldsOf(error);
  const first = listOf(errors)[0];
  const texts = [nested.message, message, msg, first?.message, error, nested.code, byField(errors)].map(textOf);
  return texts.find((text) => text !== undefined);
}

/** Errors by the field that has them, e.g. {subdomain: ["must be unique"]}. */
function byField(errors: unknown): string {
  return Object.entries(fieldsOf(errors))
    .map(([field, texts]) => `${field} ${textsOf(texts).join(', ')}`)
    .join('; ');
}

/** An error page is reported by its status only. */
function plainReason(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed === '' || trimmed.startsWith('<') ? undefined : trimmed;
}

function codeOf(status: number): FailureCode {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  return status === 413 ? 'file_too_large' : 'provider_down';
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

function answerOf({ status, headers, body, truncated }: OutboundResponse, title: string): HostAnswer {
  if (truncated) throw new DeployFailed('provider_down', `${title} answered with more than ${maxAnswerBytes} bytes`);
  const text = Buffer.from(body).toString('utf8');
  return { status, headers, json: parseWithin(body, answerLimits) ?? null, text };
}

function shown(mask: Mask, message: string): string {
  return bounded(mask(message));
}

function lowerCased(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
