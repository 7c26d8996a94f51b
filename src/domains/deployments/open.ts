/** What the tools and routes of deployments share on a node. */
import type { Platform } from '../domain.ts';

export type DeploymentParts = Record<never, never>;

export function openDeployments(_platform: Platform): DeploymentParts {
  return {};
}
