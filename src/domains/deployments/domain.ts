import { defineDomain } from '../domain.ts';
import { deploymentsApi } from './api.ts';
import { deploymentsEvents } from './events.ts';
import { deploymentIds } from './ids.ts';
import { openDeployments } from './open.ts';
import { deploymentsSchema } from './schema.ts';
import { startDeployments } from './start.ts';

export const deployments = defineDomain({
  name: 'deployments',
  ids: deploymentIds,
  schema: deploymentsSchema,
  events: deploymentsEvents,
  api: deploymentsApi,
  open: openDeployments,
  start: startDeployments,
});
