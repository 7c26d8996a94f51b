/** Integrations on a node: their actors and routes. */
import type { Platform, StartedDomain } from '../domain.ts';
import { mcpRoutes } from './mcp-endpoint/routes.ts';
import { createMcpServing } from './mcp-endpoint/serve.ts';
import { instructions, serverInfo } from './mcp-endpoint/server-info.ts';
import type { IntegrationParts } from './open.ts';

export function startIntegrations(platform: Platform, _integrations: IntegrationParts): StartedDomain {
  const { config, database, publicUrl } = platform;
  const mcp = createMcpServing({ info: serverInfo, instructions });
  return {
    actors: [],
    routes: [...mcpRoutes({ serving: mcp, database, corsOrigins: config.corsOrigins, publicUrl })],
    finish: () => mcp.close(),
  };
}
