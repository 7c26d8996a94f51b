/** The tables of integrations. */
import type { Schema } from '../../storage/schema.ts';
import { Authorization } from './authorization/entity.ts';
import { Integration } from './integration/entity.ts';
import { McpServer } from './mcp-servers/entity.ts';
import { Integrations } from './migrations/0039-integrations.ts';
import { McpServers } from './migrations/0041-mcp-servers.ts';
import { ReceivedMessageEntry } from './whatsapp/entity.ts';

export const integrationsSchema: Schema = {
  entities: [Integration, Authorization, ReceivedMessageEntry, McpServer],
  migrations: [Integrations, McpServers],
};
