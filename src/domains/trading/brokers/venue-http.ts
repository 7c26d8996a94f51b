/** Sends one request to a venue: once, through the guarded outbound client, bounded in time and size; reads the answer as JSON. */

import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { answerLimits, parseWithin } from '../../../json-bounds.ts';
import { NeverSent, type Outbound } from '../../../providers/outbound/port.ts';
import { minCredentialChars, SecretMask } from '../../../secret-mask.ts';

export type VenueRequest = {
  method: 'GET' | 'POST' | 'DELETE' | 'PUT';
  /** The path from the root of the address, with the query. */
  path: string;
  body?: string;
  contentType?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

/** `json` is undefined if the body is empty, truncated or not JSON. */
export type VenueResponse = { kind: 'answered'; status: number; json: unknown; text: string; retryAfterMs: number };
export type VenueReply =
  | VenueResponse
  /** Certainly nothing was sent. */
  | { kind: 'not_sent'; reason: string }
  | { kind: 'unknown'; reason: string };

export type VenueHttpOptions = {
  outbound: Outbound;
  clock: Clock;
  /** Without a slash at its end. */
  baseUrl: string;
  timeoutMs: number;
  /** The account whose connections to the venue it uses. */
  account: string;
  /** The credentials in the requests: a venue may repeat them in an answer, where they are masked before anything reads it. */
  secrets: readonly string[];
};

const maxAnswerBytes = 4 * 2 ** 20;
const defaultRetryMs = 1_000;
const maxReasonChars = 300;

export class VenueHttp {
  readonly baseUrl: string;
  private readonly options: VenueHttpOptions;
  private readonly mask: SecretMask;

  constructor(options: VenueHttpOptions) {
    this.options = options;
    this.baseUrl = options.baseUrl;
    this.mask = new SecretMask(options.secrets, minCredentialChars);
  }

  /** Never rejects, and never sends again. */
  async send({ method, path, body, contentType, headers, signal }: VenueRequest): Promise<VenueReply> {
    const { outbound, timeoutMs, account, clock } = this.options;
    try {
      const response = await outbound.fetch(`${this.baseUrl}${path}`, {
        method,
        headers: { accept: 'application/json', ...(contentType !== undefined && { 'content-type': contentType }), ...headers },
        ...(body !== undefined && { body }),
        ...(signal !== undefined && { signal }),
        account,
        timeoutMs,
        maxBytes: maxAnswerBytes,
        // The addresses are the venue's own or configured by the operator, never a caller's.
        configured: true,
      });
      const received = new TextDecoder().decode(response.body);
      const text = this.mask.text(received);
      const json = response.truncated ? undefined : parseWithin(text === received ? response.body : Buffer.from(text), answerLimits);
      return { kind: 'answered', status: response.status, json, text, retryAfterMs: retryAfterMs(response.headers, clock.nowMs()) };
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'the request was stopped';
      return { kind: error instanceof NeverSent ? 'not_sent' : 'unknown', reason };
    }
  }
}

/** A venue's text in a form that may be shown: one line, bounded. */
export function shownReason(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return line.length > maxReasonChars ? `${line.slice(0, maxReasonChars).toWellFormed()}…` : line;
}

/** Seconds or a date; `X-RateLimit-Reset` is the second at which the limit is lifted. */
function retryAfterMs(headers: Record<string, string>, nowMs: number): number {
  const after = headers['retry-after'];
  if (after !== undefined && /^\d{1,6}(\.\d{1,3})?$/.test(after)) return Number(after) * 1_000;
  const date = after === undefined ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, date - nowMs);
  const reset = headers['x-ratelimit-reset'];
  if (reset !== undefined && /^\d{10}$/.test(reset)) return Math.max(0, Number(reset) * 1_000 - nowMs);
  return defaultRetryMs;
}
