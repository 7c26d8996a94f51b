/** Failures of Google Ads: a `GoogleAdsFailure` among the details of an error, or inside a 200 that did a part. */
import { googleFailure } from './google-failures.ts';
import { type Fields, fieldsOf, instantOf, textOf } from './read-answer.ts';
import type { ServiceAnswer } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

/** @param nowMs to name the time of a limit's end, which the answer gives as a delay */
export function adsFailure(answer: ServiceAnswer, nowMs: number): ServiceFailure | undefined {
  const { error: whole, partialFailureError: partly } = fieldsOf(answer.body);
  if (isMissing(whole) && isMissing(partly)) return googleFailure(answer);
  const error = fieldsOf(isMissing(whole) ? partly : whole);
  const [first] = adsErrors(error);
  if (first === undefined)
    return isMissing(whole) ? invalid(`Google Ads: ${textOf(error.message) ?? 'a part failed'}`, {}) : googleFailure(answer);
  const message = `Google Ads: ${textOf(first.message) ?? textOf(error.message) ?? 'refused'}`;
  const [kind = '', value] = Object.entries(fieldsOf(first.errorCode))[0] ?? [];
  const code = textOf(value) ?? '';
  if (kind === 'quotaError') return { type: 'rate_limited', message, retryAt: retryAt(first, nowMs) };
  if (kind === 'authorizationError') return { type: 'forbidden', message: `${message} (${code})`, scope: null };
  if (kind === 'authenticationError') return answer.status === 401 ? undefined : { type: 'forbidden', message, scope: null };
  if (kind === 'internalError') return { type: 'unavailable', message };
  return /NOT_FOUND$/.test(code) ? { type: 'not_found', message } : invalid(message, first);
}

function adsErrors({ details }: Fields): Fields[] {
  const all = Array.isArray(details) ? details.map(fieldsOf) : [];
  return all.flatMap(({ errors }) => (Array.isArray(errors) ? errors.map(fieldsOf) : []));
}

function retryAt({ details }: Fields, nowMs: number): string | null {
  const delayS = Number.parseFloat(textOf(fieldsOf(fieldsOf(details).quotaErrorDetails).retryDelay) ?? '');
  return Number.isFinite(delayS) ? instantOf(nowMs + delayS * 1_000) : null;
}

function invalid(message: string, { location }: Fields): ServiceFailure {
  const { fieldPathElements: path } = fieldsOf(location);
  const names = Array.isArray(path) ? path.map((element) => textOf(fieldsOf(element).fieldName)).filter(Boolean) : [];
  return { type: 'invalid', message, field: names.length > 0 ? names.join('.') : null };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
