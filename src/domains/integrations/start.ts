/** Integrations on a node: their actors and routes. */
import type { Platform, StartedDomain } from '../domain.ts';
import type { IntegrationParts } from './open.ts';

export function startIntegrations(_platform: Platform, _integrations: IntegrationParts): StartedDomain {
  return { actors: [], routes: [] };
}
