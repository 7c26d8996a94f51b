/** The parts that tools and routes of integrations share on a node. */
import type { Platform } from '../domain.ts';
import { Authorizations } from './authorization/authorizations.ts';
import { type TokenBox, tokenBox } from './integration/tokens.ts';
import { type McpParts, openMcpServers } from './mcp-servers/open.ts';
import { IntegrationStats } from './metrics.ts';
import { ServiceClients } from './oauth/service-client.ts';
import { openServiceCalls, type ServiceCalls } from './services/calls.ts';
import { services } from './services/catalogue.ts';
import type { Service } from './services/service.ts';
import { receivedBy } from './whatsapp/received.ts';

export type IntegrationParts = {
  clients: ServiceClients;
  calls: ServiceCalls;
  box: TokenBox;
  authorizations: Authorizations;
  stats: IntegrationStats;
  mcp: McpParts;
};

/** @param known the services that accounts can connect */
export function openIntegrations(platform: Platform, known: readonly Service[] = services): IntegrationParts {
  const { database, secretKey, acceptedKeys, config } = platform;
  const clients = new ServiceClients(known, config.services);
  const stats = new IntegrationStats();
  const box = tokenBox(secretKey, acceptedKeys);
  const received = (id: string, query: { from: string | null; limit: number }) => receivedBy(database, id, query);
  const calls = openServiceCalls({ ...platform, outbound: platform.connected, clients, box, stats, received });
  return { clients, calls, box, authorizations: new Authorizations(platform), stats, mcp: openMcpServers(platform, stats) };
}
