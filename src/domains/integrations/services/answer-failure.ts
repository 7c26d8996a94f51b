/** The failure that a service's status means, with the service's own message. */
import { SecretMask } from '../../../secret-mask.ts';
import type { ServiceAnswer } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

const maxMessageChars = 500;

/** undefined: the status is no failure. */
export function failureByStatus({ status, body }: ServiceAnswer, title: string): ServiceFailure | undefined {
  if (status < 300) return undefined;
  const message = messageOf(body, title, status);
  if (status === 429) return { type: 'rate_limited', message, retryAt: null };
  if (status === 401 || status === 403) return { type: 'forbidden', message, scope: null };
  if (status === 404 || status === 410) return { type: 'not_found', message };
  if (status < 400 || status === 408 || status >= 500) return { type: 'unavailable', message };
  return { type: 'invalid', message, field: fieldOf(body) };
}

/** The text shown for a failure: tokens of ours are masked. */
export function withoutSecrets(failure: ServiceFailure, secrets: readonly (string | null)[]): ServiceFailure {
  const mask = new SecretMask(
    secrets.filter((secret) => secret !== null),
    1,
  );
  const texts = Object.entries(failure).map(([name, value]) => [name, typeof value === 'string' ? shortened(mask.text(value)) : value]);
  return Object.fromEntries(texts) as ServiceFailure;
}

function shortened(text: string): string {
  return text.length > maxMessageChars ? `${text.slice(0, maxMessageChars)}…` : text;
}

function messageOf(body: unknown, title: string, status: number): string {
  const { message, error, error_description: description } = (body ?? {}) as Record<string, unknown>;
  const nested = typeof error === 'object' && error !== null ? (error as Record<string, unknown>).message : error;
  const text = [message, description, nested].find((part) => typeof part === 'string' && part !== '');
  return text === undefined ? `${title} answered ${status}` : `${title} answered ${status}: ${text}`;
}

function fieldOf(body: unknown): string | null {
  const { errors, error } = (body ?? {}) as { errors?: unknown; error?: { param?: unknown } };
  const [first] = Array.isArray(errors) ? errors : [];
  const field = (first as { field?: unknown } | undefined)?.field ?? error?.param;
  return typeof field === 'string' ? field : null;
}
