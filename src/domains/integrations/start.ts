/** Integrations on a node: their actors and routes. */
import { AccountFeed } from '../../edge/stream/account-feed.ts';
import { newestSeq } from '../../edge/stream/newest-event.ts';
import type { Platform, StartedDomain } from '../domain.ts';
import { ownerOf } from '../identity/contract.ts';
import { connectionMade, failAgentsRelyingOn } from '../tasks/contract.ts';
import { authorizationActor } from './authorization/authorization.ts';
import { integrationIds } from './ids.ts';
import { integrationEffects } from './integration/effects.ts';
import { integrationActor } from './integration/integration.ts';
import { hasTools, integrationView } from './integration/view.ts';
import { mcpRoutes } from './mcp-endpoint/routes.ts';
import { createMcpServing } from './mcp-endpoint/serve.ts';
import { instructions, serverInfo } from './mcp-endpoint/server-info.ts';
import { startMcpServers } from './mcp-servers/open.ts';
import { addIntegrationMetrics } from './metrics.ts';
import type { IntegrationParts } from './open.ts';
import { pastAuthorizations, pastReceivedMessages } from './retention.ts';
import { consentRoutes } from './routes/consent.ts';
import { integrationRoutes } from './routes/integrations.ts';
import { whatsappInboundRoutes } from './routes/whatsapp-inbound.ts';

export function startIntegrations(platform: Platform, integrations: IntegrationParts): StartedDomain {
  const { actors, database, clock, config, hub, log, publicUrl } = platform;
  const { clients, stats, authorizations } = integrations;
  const mcpServers = startMcpServers(platform, integrations.mcp, authorizations);
  const targets = new Map([[integrationIds.mcpServer, mcpServers.consent]]);
  const accountName = async (accountId: string) => (await ownerOf({ actors, database }, accountId))?.email ?? null;
  const callbackUrl = () => `${publicUrl()}/integrations/callback`;
  const parts = { ...platform, ...integrations, callbackUrl, targets, accountName };
  const effects = integrationEffects({
    ...parts,
    agents: {
      release: (lost) => failAgentsRelyingOn(actors, database, lost),
      announce: (made) => connectionMade(actors, database, made),
    },
  });
  const titleOf = (service: string) => clients.find(service)?.service.title ?? service;
  const mcp = createMcpServing({
    info: serverInfo,
    instructions,
    feed: new AccountFeed({ hub, database, log }),
    newestSeq: (accountId) => newestSeq(database, accountId),
  });
  return {
    actors: [
      integrationActor({
        ...{ effects, titleOf },
        shown: (row) => integrationView(row, clients, publicUrl()),
        hasTools: (row) => hasTools(row, clients),
      }),
      authorizationActor,
      ...mcpServers.actors,
    ],
    routes: [
      ...mcpServers.routes,
      ...integrationRoutes(parts),
      ...consentRoutes(parts),
      ...whatsappInboundRoutes(parts),
      ...mcpRoutes({ serving: mcp, database, corsOrigins: config.corsOrigins, publicUrl }),
    ],
    jobs: [pastAuthorizations(clock), pastReceivedMessages(clock)],
    metrics: (metrics) => addIntegrationMetrics(metrics, { stats }),
    committed: (events) => stats.committed(events),
    finish: async () => mcp.leave(),
    stop: () => mcpServers.stop(),
  };
}
