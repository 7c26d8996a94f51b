/** The parts that tools and routes of MCP servers share on a node. */
import type { Platform, StartedDomain } from '../../domain.ts';
import { failAgentsRelyingOn } from '../../tasks/contract.ts';
import type { Authorizations } from '../authorization/authorizations.ts';
import type { AuthorizationRow } from '../authorization/entity.ts';
import type { IntegrationStats } from '../metrics.ts';
import { completeConsent, type McpConnectParts } from './connect.ts';
import { McpConnections } from './connections.ts';
import { mcpServerEffects } from './effects.ts';
import { mcpServerActor } from './mcp-server.ts';
import { mcpServer } from './messages.ts';
import { registeredClients } from './registered-clients.ts';
import { clientDocumentPath, mcpServerRoutes } from './routes.ts';
import { type McpSecretBox, mcpSecretBox } from './secrets.ts';
import { asIntegration } from './view.ts';

export type McpParts = { box: McpSecretBox; connections: McpConnections };

export function openMcpServers(platform: Platform, stats: IntegrationStats): McpParts {
  const box = mcpSecretBox(platform.secretKey, platform.acceptedKeys);
  return { box, connections: new McpConnections({ ...platform, box, stats }) };
}

export type StartedMcpServers = Required<Pick<StartedDomain, 'actors' | 'routes'>> & {
  /** The handler of consents, by the prefix of their target. */
  consent: {
    complete(row: AuthorizationRow, returned: { code: string; state: string; iss: string | null }): Promise<string>;
    nameOf(row: AuthorizationRow): Promise<string>;
  };
  stop(): void;
};

export function startMcpServers(platform: Platform, { box, connections }: McpParts, authorizations: Authorizations): StartedMcpServers {
  const { actors, config, database, outbound, log, publicUrl } = platform;
  const parts: McpConnectParts = {
    ...{ actors, database, outbound, authorizations, connections, box },
    callbackUrl: () => `${publicUrl()}/integrations/callback`,
    registered: registeredClients(config.mcpClients),
    documentUrl: () => `${publicUrl()}${clientDocumentPath}`,
  };
  const release = (lost: { accountId: string; connection: string; message: string }) => failAgentsRelyingOn(actors, database, lost);
  return {
    actors: [mcpServerActor(mcpServerEffects({ actors, outbound, log, box, release }), (row) => asIntegration(row, publicUrl()))],
    routes: mcpServerRoutes({ ...parts, ...platform }),
    consent: {
      complete: (row, returned) => completeConsent(parts, row, returned),
      nameOf: async ({ target }) => `the MCP server ${(await actors.query(mcpServer, target, 'get', null))?.name ?? ''}`.trimEnd(),
    },
    stop: () => connections.close(),
  };
}
