import { defineDomain } from '../domain.ts';
import { commerceApi } from './api.ts';
import { commerceEvents } from './events.ts';
import { commerceIds } from './ids.ts';
import { commerceSchema } from './schema.ts';
import { startCommerce } from './start.ts';
import { commerceTools } from './tools/commerce-tools.ts';

export const commerce = defineDomain({
  name: 'commerce',
  ids: commerceIds,
  schema: commerceSchema,
  events: commerceEvents,
  api: commerceApi,
  agentTools: commerceTools,
  start: startCommerce,
});
