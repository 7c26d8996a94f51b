/**
 * Masks a payload for display: commands contain codes from mails, hashes of passwords, keys, texts of users. So every text is replaced by
 * its length, unless it is an id of this service; for a field with a secret name not even the length is shown.
 */
import { accountsIds } from '../domains/accounts/ids.ts';
import { billingIds } from '../domains/billing/ids.ts';
import { commerceIds } from '../domains/commerce/ids.ts';
import { identityIds } from '../domains/identity/ids.ts';
import { tasksIds } from '../domains/tasks/ids.ts';
import { webhooksIds } from '../domains/webhooks/ids.ts';
import { workspacesIds } from '../domains/workspaces/ids.ts';
import { idPrefixes } from '../ids.ts';
import { createScrubber } from '../log-secrets.ts';

/** Ids of other domains are masked like any other text. */
const prefixes = [idPrefixes, accountsIds, billingIds, commerceIds, identityIds, tasksIds, webhooksIds, workspacesIds].flatMap((of) =>
  Object.values<string>(of),
);
const ids = new RegExp(`^(?:${prefixes.join('|')})[0-9a-hjkmnp-tv-z]{26}$`);
const secretName = /passw|secret|token|hash|code|pin|cvc|cvv|pan|number|key$/i;
const plainName = /^[A-Za-z][\w.-]{0,59}$/;
const maxArrayItems = 20;
const deepest = 12;

/** The same structure; every text that is not an id is replaced. */
export function maskedPayload(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return ids.test(value) ? value : `(text of ${value.length} characters)`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest) return '(more)';
  if (Array.isArray(value)) {
    const shown = value.slice(0, maxArrayItems).map((each) => maskedPayload(each, depth + 1));
    return value.length <= maxArrayItems ? shown : [...shown, `(${value.length - maxArrayItems} more)`];
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const shown = plainName.test(name) || ids.test(name) ? name : `(name of ${name.length} characters)`;
      return [shown, secretName.test(name) && !ids.test(String(each)) ? masked(each) : maskedPayload(each, depth + 1)];
    }),
  );
}

/** An error without the parts that repeat the payload, and without the secrets that are removed from log lines. */
export function maskedError(error: string, payload: unknown, secrets: readonly string[]): string {
  const scrub = createScrubber([...secrets, ...textsOf(payload)]);
  return (JSON.parse(scrub(JSON.stringify({ error }))) as { error?: string }).error ?? '(not shown: the secret in it could not be masked)';
}

function masked(value: unknown): unknown {
  return value === null || typeof value === 'boolean' ? value : '(masked)';
}

function textsOf(value: unknown, found: string[] = []): string[] {
  if (typeof value === 'string') {
    if (!ids.test(value)) found.push(value);
  } else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) textsOf(each, found);
  return found;
}
