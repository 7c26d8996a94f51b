/**
 * The tools of the services that an account has connected. For a service that is not connected, its tools if tasks may request the
 * connection.
 */
import type { Mode } from '../../mode.ts';
import type { Database } from '../../storage/database.ts';
import { ConnectionLost, NeedsConnection, type SourcedTool, type ToolContext, type ToolSource } from '../tasks/contract.ts';
import type { IntegrationRow } from './integration/entity.ts';
import { connectUrl } from './integration/view.ts';
import type { ServiceClient, ServiceClients } from './oauth/service-client.ts';
import { Disconnected, type ServiceCalls } from './services/calls.ts';
import { grantedTools } from './services/granted.ts';
import type { Service, ServiceTool } from './services/service.ts';

export type SourceParts = {
  database: Pick<Database, 'read'>;
  clients: ServiceClients;
  calls: ServiceCalls;
  publicUrl(): string;
};

/** Includes the waits for limits, and further tries. */
const timeoutMs = 240_000;

type Connected = Pick<IntegrationRow, 'id' | 'service' | 'status' | 'grantedScopes' | 'redirectUri'>;

export function serviceToolSource({ database, clients, calls, publicUrl }: SourceParts): ToolSource {
  return {
    async toolsOf({ accountId, mode, allowConnect }) {
      const connected = new Map((await connectionsOf(database, accountId, mode)).map((row) => [row.service, row]));
      return clients.all.flatMap((known) => {
        const row = connected.get(known.service.name);
        const isUsable = row !== undefined && (row.status === 'connected' || !allowConnect);
        if (isUsable)
          return grantedTools(known.service, row.grantedScopes).map((tool) => connectedTool(tool, known.service, row.id, calls));
        if (!allowConnect || !isConfigured(known)) return [];
        const url = connectUrl(publicUrl(), known.service.name, row?.redirectUri ?? null);
        return known.service.tools.map((tool) => missingTool(tool, known.service, url));
      });
    },
  };
}

function isConfigured({ client, service }: ServiceClient): boolean {
  return client !== null && service.oauth !== null;
}

function connectedTool(tool: ServiceTool, service: Service, connection: string, calls: ServiceCalls): SourcedTool {
  const open = ({ callId, isRepeat, signal }: ToolContext) => calls.open({ integrationId: connection, callId, isRepeat, signal });
  const { preview } = tool;
  return {
    ...offered(tool, service),
    connection,
    async run(args, context) {
      try {
        return await tool.run(args, await open(context));
      } catch (error) {
        throw error instanceof Disconnected ? new ConnectionLost(error.message, { cause: error }) : error;
      }
    },
    ...(preview !== undefined && {
      preview: async (args: unknown, context: ToolContext) => ({ text: await preview(args, await open(context)), basis: null }),
    }),
  };
}

function missingTool(tool: ServiceTool, service: Service, url: string): SourcedTool {
  return {
    ...offered(tool, service),
    connection: null,
    async run() {
      throw new NeedsConnection({ service: service.name, tool: tool.name, connectUrl: url });
    },
  };
}

function offered(tool: ServiceTool, { name: service }: Service) {
  const { name, description, parameters, writes, highConsequence, repeatable, untrusted } = tool;
  return {
    ...{ name, description, parameters, highConsequence, repeatable, untrusted, timeoutMs, service },
    agentTypes: 'all',
    need: { scope: writes ? 'integrations.write' : 'integrations.read' },
  } as const;
}

async function connectionsOf(database: Pick<Database, 'read'>, accountId: string, mode: Mode): Promise<Connected[]> {
  const { rows } = await database.read({
    name: 'integrations_of_account',
    text: `select id, service, status, granted_scopes, redirect_uri from integration where account_id = $1 and mode = $2 and status <> 'disconnected'`,
    values: [accountId, mode],
  });
  return rows.map(({ id, service, status, granted_scopes: grantedScopes, redirect_uri: redirectUri }) => {
    return { id, service, status, grantedScopes, redirectUri };
  });
}
