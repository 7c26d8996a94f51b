import { defineDomain } from '../domain.ts';
import { deploymentsApi } from './api.ts';
import { deploymentsEvents } from './events.ts';
import { deploymentIds } from './ids.ts';
import { openDeployments } from './open.ts';
import { deploymentsSchema } from './schema.ts';
import { startDeployments } from './start.ts';
import { createDeploymentTool } from './tools/create-deployment.ts';

export const deployments = defineDomain({
  name: 'deployments',
  ids: deploymentIds,
  schema: deploymentsSchema,
  events: deploymentsEvents,
  api: deploymentsApi,
  open: openDeployments,
  agentTools: (platform, parts) => [createDeploymentTool({ ...platform, ...parts })],
  start: startDeployments,
});
