/** What tools and routes of integrations share on a node. */
import type { Platform } from '../domain.ts';

export type IntegrationParts = Record<never, never>;

export function openIntegrations(_platform: Platform): IntegrationParts {
  return {};
}
