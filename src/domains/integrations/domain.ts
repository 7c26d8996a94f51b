import { defineDomain } from '../domain.ts';
import { integrationsApi } from './api.ts';
import { integrationsEvents } from './events.ts';
import { integrationIds } from './ids.ts';
import { mcpToolSource } from './mcp-servers/source.ts';
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
  toolSource(platform, parts) {
    const sources = [serviceToolSource({ ...platform, ...parts }), mcpToolSource({ ...platform, connections: parts.mcp.connections })];
    return { toolsOf: async (owner) => (await Promise.all(sources.map((source) => source.toolsOf(owner)))).flat() };
  },
  start: startIntegrations,
});
