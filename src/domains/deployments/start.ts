/** Deployments on a node: their actors and routes. */
import type { AnyActor } from '../../actors/define-actor.ts';
import type { Platform, StartedDomain } from '../domain.ts';
import { deployConfigsActor } from './configs/configs.ts';
import { identify } from './configs/identify.ts';
import { deploymentActor } from './deployment/deployment.ts';
import { deploymentEffects } from './deployment/effects.ts';
import { deploymentView } from './deployment/view.ts';
import { maskOf } from './hosts/mask.ts';
import { addDeploymentMetrics } from './metrics.ts';
import type { DeploymentParts } from './open.ts';
import { oldDeploymentLogs } from './retention.ts';
import { configRoutes } from './routes/configs.ts';
import { deploymentRoutes } from './routes/deployments.ts';
import { previewRoutes } from './routes/preview.ts';
import { unneededSnapshots } from './snapshot/unneeded-snapshots.ts';

export function startDeployments(platform: Platform, deployments: DeploymentParts): StartedDomain {
  const { clock, config, publicUrl } = platform;
  const { stats, builder } = deployments;
  const parts = { ...platform, ...deployments };
  const actor = deploymentActor({
    effects: deploymentEffects({ ...parts, maskOf }),
    shown: (row) => deploymentView(row, publicUrl()),
    timeoutMs: config.deployTimeoutMs,
    probeMs: config.deployProbeMs,
    secondSearchMs: config.deployLookAgainMs,
  });
  return {
    actors: [actor, deployConfigsActor as AnyActor],
    routes: [
      ...configRoutes({ ...parts, identify: (accountId, made, credentials) => identify(parts, accountId, made, credentials) }),
      ...deploymentRoutes(parts),
      ...previewRoutes(platform),
    ],
    jobs: [unneededSnapshots(clock), oldDeploymentLogs(clock)],
    metrics: (metrics) => addDeploymentMetrics(metrics, { stats }),
    committed: (events) => stats.committed(events),
    stop: () => builder.stop(),
  };
}
