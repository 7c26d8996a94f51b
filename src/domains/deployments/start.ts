/** Deployments on a node: their actors and routes. */
import type { AnyActor } from '../../actors/define-actor.ts';
import type { Platform, StartedDomain } from '../domain.ts';
import { deployConfigsActor } from './configs/configs.ts';
import type { DeploymentParts } from './open.ts';
import { configRoutes } from './routes/configs.ts';

export function startDeployments(platform: Platform, parts: DeploymentParts): StartedDomain {
  // No host is known yet that could be asked.
  const identify = async () => null;
  return {
    actors: [deployConfigsActor as AnyActor],
    routes: configRoutes({ ...platform, ...parts, identify }),
  };
}
