/** Reads HTTP answers of all venues: the status first, then the shape. */
import type { Static, TSchema } from 'typebox';
import Value from 'typebox/value';
import { nanoOfText, nanoText } from '../decimal.ts';
import type { PostAnswer } from '../orders/outbound.ts';
import type { Answer, CancelAnswer, PlaceAnswer } from './port.ts';
import { shownReason, type VenueReply, type VenueResponse } from './venue-http.ts';

/**
 * The answer to a query, in the venue's shape. An answer of another shape counts as unknown as a whole, because a part of it would look complete.
 *
 * @param credentialStatuses the statuses with which the venue refuses the credentials
 */
export function readAnswer<S extends TSchema>(
  reply: VenueReply,
  schema: S,
  credentialStatuses: readonly number[] = [401, 403],
): Answer<Static<S>> {
  const failure = readFailure(reply, credentialStatuses);
  if (failure !== null) return failure;
  const { json, status } = reply as VenueResponse;
  if (status >= 200 && status < 300 && Value.Check(schema, json)) return { kind: 'known', value: json };
  return { kind: 'unknown', reason: `the broker answered ${status} in a form that is not known` };
}

/** The common failures of every answer; null: the venue answered the request, or refused it. */
export function readFailure(
  reply: VenueReply,
  credentialStatuses: readonly number[] = [401, 403],
): Exclude<Answer<never>, { kind: 'known' }> | null {
  if (reply.kind !== 'answered') return { kind: 'unknown', reason: reply.reason };
  if (credentialStatuses.includes(reply.status)) return { kind: 'credentials', reason: refusalText(reply) };
  if (reply.status === 429) return { kind: 'retry_after', waitMs: reply.retryAfterMs };
  if (reply.status >= 500 || reply.status < 200) return { kind: 'unknown', reason: `the broker answered ${reply.status}` };
  return null;
}

/** The result of a post: a known refusal, or unknown. null: a 2xx that the adapter must read. */
export function readPlaceFailure(reply: VenueReply, credentialStatuses: readonly number[]): PlaceAnswer | null {
  if (reply.kind === 'not_sent') return { kind: 'not_sent', reason: reply.reason };
  const failure = readFailure(reply, credentialStatuses);
  if (failure !== null) return failure;
  const answered = reply as VenueResponse;
  if (answered.status >= 400) return { kind: 'refused', reason: refusalText(answered) };
  if (answered.status >= 300) return { kind: 'unknown', reason: `the broker answered ${answered.status}` };
  return null;
}

/** The result of a post, for `orders/outbound.ts`: refused credentials also refuse the order, and the connection is notified separately. */
export function postAnswerOf(answer: PlaceAnswer): PostAnswer {
  switch (answer.kind) {
    case 'accepted':
      return { kind: 'accepted' };
    case 'credentials':
      return { kind: 'refused', reason: answer.reason };
    default:
      return answer;
  }
}

/** The result of a cancel. `gone`: the statuses that say that the order cannot be cancelled. */
export function readCancel(reply: VenueReply, gone: readonly number[], credentialStatuses: readonly number[] = [401, 403]): CancelAnswer {
  const failure = readFailure(reply, credentialStatuses);
  if (failure !== null) return failure;
  const answered = reply as VenueResponse;
  if (answered.status < 300) return { kind: 'requested' };
  if (gone.includes(answered.status)) return { kind: 'refused', reason: refusalText(answered) };
  return { kind: 'unknown', reason: `the broker answered ${answered.status}` };
}

/** The venue's own reason: `message`, `error`, `errors.error`, `fault.faultstring`, or the body if it is a text. */
export function refusalText({ json, text, status }: VenueResponse): string {
  const reason = reasonIn(json) ?? (json === undefined ? text : null);
  const shown = reason === null ? '' : shownReason(reason);
  return shown === '' ? `the broker answered ${status}` : shown;
}

function reasonIn(json: unknown): string | null {
  if (typeof json === 'string') return json;
  if (Array.isArray(json))
    return (
      json
        .map(reasonIn)
        .filter((reason) => reason !== null)
        .join('; ') || null
    );
  if (typeof json !== 'object' || json === null) return null;
  const { message, error, errors, fault, faultstring, error_details: details } = json as Record<string, unknown>;
  for (const part of [message, error, errors, fault, faultstring, details]) {
    const reason = part === undefined ? null : reasonIn(part);
    if (reason !== null && reason !== '') return reason;
  }
  return null;
}

/** Converts a venue's decimal, text or number: rounded towards 0 to nine places. null for anything else. */
export function decimalIn(value: string | number | null | undefined): string | null {
  if (value === null || value === undefined || value === '') return null;
  const text = typeof value === 'number' ? plainText(value) : value.trim().replace(/^\+/, '');
  const cut = /^(-?\d{1,24}\.\d{9})\d{1,31}$/.exec(text);
  const nano = nanoOfText(cut?.[1] ?? text);
  return nano === null ? null : nanoText(nano);
}

/** As `decimalIn`; 0 if missing or invalid. */
export function decimalOrZero(value: string | number | null | undefined): string {
  return decimalIn(value) ?? '0';
}

/** A moment in any form of ISO 8601, also with nanoseconds; the fallback if invalid. */
export function momentIn(value: string | null | undefined, fallbackMs: number): number {
  const ms = typeof value === 'string' ? Date.parse(value.replace(/(\.\d{3})\d+/, '$1')) : Number.NaN;
  return Number.isNaN(ms) ? fallbackMs : ms;
}

function plainText(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(9) : text;
}
