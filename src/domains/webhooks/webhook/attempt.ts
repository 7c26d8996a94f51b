/** One try to deliver one event: a signed POST, with limits for time and the size of the answer. */
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Outbound, OutboundResponse } from '../../../providers/outbound/port.ts';
import { signatureHeaders } from './signature.ts';

export type Receiver = { url: string; keys: readonly Buffer[] };

export type Outcome = {
  /** `gone`: the receiver answered that it wants no more events. */
  kind: 'delivered' | 'failed' | 'gone';
  responseStatus: number | null;
  responseBody: string | null;
  /** As a text, if there was no answer or it was not 2xx. */
  error: string | null;
  durationMs: number;
  /** The pause that the receiver requests. */
  retryAfterMs: number;
};

const keptBytes = 1_024;

/** Never rejects. */
export async function attempt(
  outbound: Outbound,
  receiver: Receiver,
  eventId: string,
  body: string,
  clock: Clock,
  timeoutMs: number,
): Promise<Outcome> {
  const beganMs = performance.now();
  const headers = signatureHeaders(receiver.keys, eventId, Math.floor(clock.nowMs() / 1_000), body);
  const elapsedMs = () => Math.round(performance.now() - beganMs);
  try {
    const response = await outbound.fetch(receiver.url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body,
      timeoutMs,
      maxBytes: keptBytes,
      redirects: 0,
      raw: true,
    });
    return { ...outcomeOf(response), durationMs: elapsedMs() };
  } catch (error) {
    const message = error instanceof AppError ? error.message : 'The request failed';
    return { kind: 'failed', responseStatus: null, responseBody: null, error: message, durationMs: elapsedMs(), retryAfterMs: 0 };
  }
}

function outcomeOf({ status, headers, body }: OutboundResponse): Omit<Outcome, 'durationMs'> {
  const answer = { responseStatus: status, responseBody: shown(body), retryAfterMs: 0 };
  if (status >= 200 && status < 300) return { ...answer, kind: 'delivered', error: null };
  if (status === 410) return { ...answer, kind: 'gone', error: 'It answered 410 (Gone)' };
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  const seconds = /^\d{1,9}$/.test(headers['retry-after'] ?? '') ? Number(headers['retry-after']) : 0;
  return { ...answer, kind: 'failed', error: `It answered ${status}${redirect}`, retryAfterMs: seconds * 1_000 };
}

/** As a text that PostgreSQL can store. */
function shown(body: Uint8Array): string {
  return new TextDecoder().decode(body).replaceAll('\0', '\ufffd');
}
