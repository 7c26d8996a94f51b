/** An MCP server as callers see it. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { ModeField } from '../../../edge/routes/mode.ts';
import { type McpServerRow, mcpReasons, mcpStatuses } from './entity.ts';
import { isReadOnly, pinStatus, shownName } from './pins.ts';

const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const ToolView = Type.Object({
  name: Type.String({ description: 'As the server calls it' }),
  tool_name: Type.String({ description: 'As agents call it' }),
  description: Type.String(),
  hash: Type.String({ description: 'Of name, description and input schema: what an approval names' }),
  status: Type.Enum(['approved', 'changed', 'new', 'removed'], { description: 'Agents use approved tools alone' }),
  read_only: Type.Boolean({ description: 'The server says that it changes nothing: its calls need no approval' }),
});

export const McpServerView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    url: Type.String({ description: 'Secrets in its query are shown as `***`' }),
    header_names: Type.Array(Type.String(), { description: 'Their values are never shown' }),
    status: Type.Enum([...mcpStatuses], { description: '`authorization_required`: a person must consent at `authorize_url`' }),
    reason: orNull(
      Type.Enum([...mcpReasons], {
        description: 'Why it is connected no more; `scope_missing`: why it refuses some calls, until a person consents again',
      }),
    ),
    authorize_url: orNull(
      Type.String({ description: 'Good for about eight minutes; `GET /integrations/mcp/{id}` gives another one then' }),
    ),
    tools: Type.Array(ToolView),
    mode: ModeField,
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'McpServer' },
);
export type McpServerView = Static<typeof McpServerView>;

/** Whether a person can consent at its authorization server now. */
export function mayConsent({ status, reason, authority }: Pick<McpServerRow, 'status' | 'reason' | 'authority'>): boolean {
  return authority !== null && (status === 'authorization_required' || reason === 'scope_missing');
}

/** In the form of a connected service, for the events that both emit. */
export function asIntegration(row: McpServerRow, publicUrl: string): object {
  const status = row.removedAt !== null ? 'disconnected' : row.status === 'connected' ? 'connected' : 'error';
  const usable = row.tools.filter((tool) => status === 'connected' && pinStatus(tool) === 'approved');
  return {
    ...{ id: row.id, service: 'mcp', name: row.name, status, reason: row.reason },
    available_tools: usable.map((tool) => shownName(row.name, tool)),
    granted_scopes: [],
    reconnect_url: status !== 'disconnected' && mayConsent(row) ? consentPage(publicUrl, row.id) : null,
    ...{ mode: row.mode, connected_at: isoTimestamp(row.createdAt) },
  };
}

/** The address at which a person consents. */
export function consentPage(publicUrl: string, id: string): string {
  return `${publicUrl}/integrations/mcp/${id}/connect`;
}

export function mcpServerView(row: McpServerRow): McpServerView {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    header_names: [...row.headerNames],
    status: row.status,
    reason: row.reason,
    authorize_url: mayConsent(row) ? row.authorizeUrl : null,
    tools: row.tools.map((tool) => ({
      name: tool.name,
      tool_name: shownName(row.name, tool),
      description: tool.description,
      hash: tool.hash,
      status: pinStatus(tool),
      read_only: isReadOnly(tool),
    })),
    mode: row.mode,
    created_at: isoTimestamp(row.createdAt),
  };
}
