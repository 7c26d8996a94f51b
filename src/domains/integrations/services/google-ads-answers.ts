/** Failures of Google Ads: a `GoogleAdsFailure` among the details of an error, or inside a 200 that did a part. */
import { googleFailure } from './google-failures.ts';
import type { ServiceAnswer } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

type AdsError = {
  errorCode?: Record<string, string>;
  message?: string;
  location?: { fieldPathElements?: { fieldName?: string }[] };
  details?: { quotaErrorDetails?: { retryDelay?: string } };
};

/** @param nowMs to name the time of a limit's end, which the answer gives as a delay */
export function adsFailure(answer: ServiceAnswer, nowMs: number): ServiceFailure | undefined {
  const { body } = answer;
  const error = body?.error ?? body?.partialFailureError;
  if (error === undefined || error === null) return googleFailure(answer);
  const [first] = adsErrors(error);
  if (first === undefined) return body.error === undefined ? invalid(String(error.message), undefined) : googleFailure(answer);
  const message = `Google Ads: ${first.message ?? error.message}`;
  const [kind, code] = Object.entries(first.errorCode ?? {})[0] ?? ['', ''];
  if (kind === 'quotaError') {
    const delayS = Number.parseFloat(first.details?.quotaErrorDetails?.retryDelay ?? '');
    return { type: 'rate_limited', message, retryAt: Number.isNaN(delayS) ? null : new Date(nowMs + delayS * 1_000).toISOString() };
  }
  if (kind === 'authorizationError' || kind === 'accessInvitationError')
    return { type: 'forbidden', message: `${message} (${code})`, scope: null };
  if (kind === 'authenticationError') return answer.status === 401 ? undefined : { type: 'forbidden', message, scope: null };
  if (kind === 'internalError') return { type: 'unavailable', message };
  if (/NOT_FOUND$/.test(code)) return { type: 'not_found', message };
  return invalid(message, first);
}

function invalid(message: string, error: AdsError | undefined): ServiceFailure {
  const path = error?.location?.fieldPathElements?.map(({ fieldName }) => fieldName).filter(Boolean);
  return { type: 'invalid', message, field: path?.length ? path.join('.') : null };
}

function adsErrors(error: { details?: unknown }): AdsError[] {
  const details = Array.isArray(error.details) ? error.details : [];
  return details.flatMap((detail) => (Array.isArray(detail?.errors) ? detail.errors : []));
}
