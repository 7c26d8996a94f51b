/** Failures in answers of Google's APIs: a status name, and a reason in `errors` (Gmail) or `details` (Google Ads). */
import { type Fields, fieldsOf, textOf } from './read-answer.ts';
import type { ServiceAnswer } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

const limitReasons = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded', 'dailyLimitExceeded', 'RATE_LIMIT_EXCEEDED']);
const scopeReasons = new Set(['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT']);

/** A 403 may be a limit or a refusal; the status is enough for everything else. */
export function googleFailure({ status, headers, body }: ServiceAnswer): ServiceFailure | undefined {
  const error = fieldsOf(fieldsOf(body).error);
  if (status < 400) return undefined;
  const message = textOf(error.message) ?? `Google answered with status ${status}`;
  const reasons = reasonsOf(error);
  if (reasons.some((reason) => limitReasons.has(reason)) || error.status === 'RESOURCE_EXHAUSTED')
    return { type: 'rate_limited', message, retryAt: null };
  if (reasons.some((reason) => scopeReasons.has(reason)))
    return { type: 'forbidden', message, scope: neededScope(headers['www-authenticate']) };
  return undefined;
}

function reasonsOf(error: Fields): string[] {
  const listed = [error.errors, error.details].flatMap((part) => (Array.isArray(part) ? part : []));
  return listed.map((part) => textOf(fieldsOf(part).reason)).filter((reason) => reason !== undefined);
}

/** Of `Bearer realm="…", error="insufficient_scope", scope="one two"`: one of them suffices. */
function neededScope(challenge = ''): string | null {
  return /scope="[^"]*?(https:\/\/www\.googleapis\.com\/auth\/[\w.]+)/.exec(challenge)?.[1] ?? null;
}

export const googleOAuth = {
  authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  revoke: { url: 'https://oauth2.googleapis.com/revoke' },
  // Without both a second consent brings no refresh token.
  authorizeParameters: { access_type: 'offline', prompt: 'consent' },
  clientAuthentication: 'body',
  scopeSeparator: ' ',
  scopeParameter: 'scope',
} as const;
