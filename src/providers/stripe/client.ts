/**
 * Stripe's API through Stripe's own library, which implements the encoding, the types and the signatures. Its errors can contain keys,
 * headers and whole events, so none of them leaves this file: failures carry an error code of this service and Stripe's error code.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type Stripe from 'stripe';
import { Agent, fetch, type RequestInit } from 'undici';
import { type Clock, systemClock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { retryPauseMs } from '../model/retry.ts';

export type { Stripe };

export type StripeSettings = {
  secretKey: string;
  /** Any of them may have signed an event: there are several while one replaces another. */
  webhookSecrets: readonly string[];
  /** A server with Stripe's API; null: Stripe itself. */
  apiUrl: string | null;
};

/** `idempotencyKey` makes repeated writes harmless: pass one with every write. */
export type StripeCallOptions = { idempotencyKey?: string; signal?: AbortSignal };

export interface StripeClient {
  /**
   * Runs `call`, with retries if Stripe is busy or does not answer, all within 8 s. Pass the options to the library.
   *
   * Throws `unavailable` when Stripe does not answer, is busy, or refuses the secret key: it may be retried with the same idempotency key;
   * `not_found` for an object that Stripe does not have; `conflict` for a refusal.
   */
  call<T>(call: (stripe: Stripe, options: Stripe.RequestOptions) => Promise<T>, options?: StripeCallOptions): Promise<T>;
  /**
   * A Stripe event. Throws `bad_request` unless exactly these bytes were signed with one of the secrets in the last 5 minutes, and not in
   * the future.
   */
  event(body: Uint8Array, signature: string): Promise<Stripe.Event>;
}

/** Types and meanings are those of this version, independent of the account's default version; webhook endpoints must be created with the same. */
export const stripeVersion = '2026-10-28.endive';

const maxTries = 3;
const maxConnections = 32;
const tryTimeoutMs = 4_000;
/** Shorter than the deadline of every caller. */
const withinMs = 8_000;
const signatureToleranceS = 300;
/** A node's clock may be behind Stripe's by this much. */
const clockSkewS = 60;

/** Loads the library when it is first needed. */
export function createStripeClient(settings: StripeSettings, clock: Clock = systemClock): StripeClient {
  let loading: Promise<Stripe> | null = null;
  const load = () => {
    loading ??= open(settings);
    return loading;
  };
  return {
    async call(call, { idempotencyKey, signal } = {}) {
      const stripe = await load();
      const untilMs = performance.now() + withinMs;
      for (let failedTries = 1; ; failedTries++) {
        const timeout = Math.max(1, Math.min(tryTimeoutMs, Math.round(untilMs - performance.now())));
        try {
          signal?.throwIfAborted();
          return await call(stripe, { ...(idempotencyKey !== undefined && { idempotencyKey }), timeout, maxNetworkRetries: 0 });
        } catch (error) {
          const waitMs = retryPauseMs(failedTries, undefined, Math.random);
          const isLast = failedTries === maxTries || performance.now() + waitMs >= untilMs || signal?.aborted;
          if (isLast || !isWorthAnotherTry(error)) throw described(error);
          await delay(waitMs, undefined, { signal }).catch(() => {
            throw described(error);
          });
        }
      }
    },

    async event(body, signature) {
      const { webhooks } = await load();
      const isTimely = mayHaveSigned(signature, clock.nowMs());
      for (const secret of isTimely ? settings.webhookSecrets : []) {
        let event: unknown;
        try {
          event = webhooks.constructEvent(Buffer.from(body), signature, secret, signatureToleranceS, undefined, clock.nowMs());
        } catch {
          // Another secret may match. The reason is not revealed to a sender without a valid signature.
          continue;
        }
        if (typeof event !== 'object' || event === null || Array.isArray(event))
          throw new AppError('bad_request', 'The body is not an event: it must be a JSON object');
        return event as Stripe.Event;
      }
      throw new AppError('bad_request', 'This was not signed by Stripe for this service, or not in the last 5 minutes');
    },
  };
}

/** The library checks neither that the time of a signature is a number nor that it is not in the future. */
function mayHaveSigned(signature: string, nowMs: number): boolean {
  const times = signature.split(',').filter((part) => /^\s*t\s*=/.test(part));
  const [, seconds] = (times.length === 1 && /^t=(\d{1,12})$/.exec(times[0]!)) || [];
  return seconds !== undefined && Number(seconds) <= nowMs / 1_000 + clockSkewS;
}

async function open({ secretKey, apiUrl }: StripeSettings): Promise<Stripe> {
  const { default: Library } = await import('stripe');
  const url = new URL(apiUrl ?? 'https://api.stripe.com');
  return new Library(secretKey, {
    apiVersion: stripeVersion,
    protocol: url.protocol === 'http:' ? 'http' : 'https',
    host: url.hostname,
    port: url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port),
    // The time-out of the library's other client restarts with every byte.
    httpClient: Library.createFetchHttpClient(bareFetch()),
    telemetry: false,
  });
}

/** Follows no redirect, because a redirect is not an answer of Stripe's, and opens a limited number of connections. */
function bareFetch(): typeof globalThis.fetch {
  const dispatcher = new Agent({ connections: maxConnections });
  return ((address: string, init: RequestInit) => fetch(address, { ...init, redirect: 'error', dispatcher })) as typeof globalThis.fetch;
}

/** The known fields of the library's errors, whose types are in a module that may not be loaded. */
type StripeFailure = {
  statusCode?: number;
  code?: string;
  rawType?: string;
  param?: string;
  requestId?: string;
  headers?: Record<string, string>;
};

function isWorthAnotherTry(error: unknown): boolean {
  const { statusCode, headers } = error as StripeFailure;
  const advice = headers?.['stripe-should-retry'];
  if (advice === 'true' || advice === 'false') return advice === 'true';
  return statusCode === undefined ? isNoAnswer(error) : statusCode === 409 || statusCode === 429 || statusCode >= 500;
}

/** There was no connection, or the answer was not Stripe's, e.g. a proxy's page. */
function isNoAnswer(error: unknown): boolean {
  const { type } = error as { type?: string };
  return type === 'StripeConnectionError' || type === 'StripeAPIError';
}

/** Why there was no connection, e.g. ECONNREFUSED; other fields may contain anything. */
function connectionCode(error: unknown): string | undefined {
  const { code, cause } = ((error as { detail?: unknown }).detail ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return [cause?.code, code].find((value) => typeof value === 'string') as string | undefined;
}

function described(error: unknown): unknown {
  const { statusCode, code, rawType, param, requestId } = error as StripeFailure;
  // Not a failure of Stripe: a defect, or the caller's abort.
  if (statusCode === undefined && !isNoAnswer(error)) return error;
  const what = [code ?? rawType ?? connectionCode(error), param, statusCode, requestId].filter((part) => part !== undefined).join(', ');
  if (statusCode === 401 || statusCode === 403) return new AppError('unavailable', `Stripe refused our key (${what})`, { retryAfterS: 60 });
  if (statusCode === undefined || statusCode === 409 || statusCode === 429 || statusCode >= 500)
    return new AppError('unavailable', `Stripe does not answer now (${what || 'no connection'})`, { retryAfterS: 5 });
  return new AppError(statusCode === 404 ? 'not_found' : 'conflict', `Stripe refused (${what})`);
}
