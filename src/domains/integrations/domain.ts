import { defineDomain } from '../domain.ts';
import { integrationsApi } from './api.ts';
import { integrationsEvents } from './events.ts';
import { integrationIds } from './ids.ts';
import { openIntegrations } from './open.ts';
import { integrationsSchema } from './schema.ts';
import { serviceToolSource } from './source.ts';
import { startIntegrations } from './start.ts';

export const integrations = defineDomain({
  name: 'integrations',
  ids: integrationIds,
  schema: integrationsSchema,
  events: integrationsEvents,
  api: integrationsApi,
  open: (platform) => openIntegrations(platform),
  toolSource: (platform, parts) => serviceToolSource({ ...platform, ...parts }),
  start: startIntegrations,
});
