/** Which tools the granted scopes of a connection allow, and which scopes to request. */
import type { ErrorReason } from '../integration/entity.ts';
import type { Service, ServiceTool } from './service.ts';

/** @param granted null: everything */
export function isGranted({ scopes }: ServiceTool, granted: readonly string[] | null): boolean {
  return granted === null || scopes.length === 0 || scopes.some((scope) => granted.includes(scope));
}

export function grantedTools(service: Service, granted: readonly string[] | null): ServiceTool[] {
  return service.tools.filter((tool) => isGranted(tool, granted));
}

/**
 * The scopes to request.
 *
 * @param names of tools; empty: all of the service
 */
export function scopesFor({ tools }: Service, names: readonly string[]): string[] {
  const wanted = names.length === 0 ? tools : tools.filter(({ name }) => names.includes(name));
  return [...new Set(wanted.flatMap(({ scopes }) => scopes.slice(0, 1)))];
}

/** The scopes of a token answer: if absent, the requested ones; if empty, the token is not limited by scopes (GitHub's App tokens). */
export function scopesOf(answered: readonly string[] | undefined, requested: readonly string[]): string[] | null {
  if (answered === undefined) return [...requested];
  return answered.length === 0 ? null : [...answered];
}

/** For display: why a connection must be made again. */
export const reasonTexts: Readonly<Record<ErrorReason, string>> = {
  revoked: 'the service takes its access no more',
  expired: 'its access has expired',
  scope_missing: 'it lacks the permissions that its tools need',
  client_misconfigured: 'the service does not know this client; the operator must check its settings',
};
