/** Deployments on a node: their actors and routes. */
import type { Platform, StartedDomain } from '../domain.ts';
import type { DeploymentParts } from './open.ts';

export function startDeployments(_platform: Platform, _parts: DeploymentParts): StartedDomain {
  return { actors: [], routes: [] };
}
