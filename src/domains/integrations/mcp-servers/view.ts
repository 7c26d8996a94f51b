/** An MCP server as callers see it. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { ModeField } from '../../../edge/routes/mode.ts';
import { type McpServerRow, mcpReasons, mcpStatuses } from './entity.ts';
import { isReadOnly, pinStatus, toolNameOf } from './pins.ts';

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
    url: Type.String(),
    header_names: Type.Array(Type.String(), { description: 'Their values are never shown' }),
    status: Type.Enum([...mcpStatuses], { description: '`authorization_required`: a person must consent at `authorize_url`' }),
    reason: orNull(Type.Enum([...mcpReasons], { description: 'Why it is connected no more' })),
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

export function mcpServerView(row: McpServerRow): McpServerView {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    header_names: [...row.headerNames],
    status: row.status,
    reason: row.reason,
    authorize_url: row.status === 'authorization_required' ? row.authorizeUrl : null,
    tools: row.tools.map((tool) => ({
      name: tool.name,
      tool_name: toolNameOf(row.name, tool.name),
      description: tool.description,
      hash: tool.hash,
      status: pinStatus(tool),
      read_only: isReadOnly(tool),
    })),
    mode: row.mode,
    created_at: isoTimestamp(row.createdAt),
  };
}
