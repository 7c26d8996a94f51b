/** The tools of the MCP servers that an account has connected, for agents. */
import { LRUCache } from 'lru-cache';
import Type, { type TObject } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import { isoTimestamp } from '../../../clock.ts';
import { ToolError } from '../../../errors.ts';
import type { Mode } from '../../../mode.ts';
import type { Database } from '../../../storage/database.ts';
import {
  AskAgain,
  type CheckedArguments,
  ConnectionLost,
  type SourcedTool,
  type ToolContext,
  type ToolSource,
} from '../../tasks/contract.ts';
import { type McpConnections, mcpCallMs } from './connections.ts';
import type { McpServerRow } from './entity.ts';
import { mcpServer } from './messages.ts';
import { isWithinBudget, type OfferedTool, searchTools, withinBudget } from './offers.ts';
import { isReadOnly, type PinnedTool, pinStatus, shownName } from './pins.ts';
import { McpFailed } from './protocol/failure.ts';
import { Questions } from './questions.ts';
import { freeToolName } from './tool-names.ts';
import { consentPage } from './view.ts';

export type McpSourceParts = {
  actors: Pick<ActorSystem, 'query'>;
  database: Pick<Database, 'read'>;
  clock: Clock;
  connections: McpConnections;
  publicUrl(): string;
};

/** An older list is read again before an agent uses it. */
const listKeptMs = 30_000;
/** Results of searches are kept for this many tasks; a task without results searches again. */
const rememberedTasks = 5_000;
/** The connection of `search_tools`: it belongs to no server, so that removing a server does not end agents that have searched. */
const searchConnection = 'mcp';

type Offer = OfferedTool & { row: McpServerRow };

export function mcpToolSource({ actors, database, clock, connections, publicUrl }: McpSourceParts): ToolSource {
  const found = new LRUCache<string, string[]>({ max: rememberedTasks });

  async function offersOf(accountId: string, mode: Mode): Promise<Offer[]> {
    const ids = await serversOf(database, accountId, mode);
    const rows = await Promise.all(
      ids.map(async (id) => {
        const row = await actors.query(mcpServer, id, 'get', null);
        return row === null ? [] : [await connections.fresh(row, listKeptMs).catch(() => row)];
      }),
    );
    const names = new Set<string>();
    return rows.flat().flatMap((row) =>
      row.tools.flatMap((tool) => {
        if (pinStatus(tool) !== 'approved') return [];
        const shown = shownName(row.name, tool);
        // Until the list of the later server is read again.
        const toolName = names.has(shown) ? freeToolName(row.name, tool.name, (name) => names.has(name)) : shown;
        names.add(toolName);
        return [{ row, tool, toolName, server: row.name }];
      }),
    );
  }

  return {
    async toolsOf({ accountId, mode, taskId }) {
      const offers = await offersOf(accountId, mode);
      if (isWithinBudget(offers)) return offers.map((offer) => sourcedTool(offer));
      const chosen = new Set(withinBudget(offers, found.get(taskId) ?? []));
      const tools = offers.map((offer) => ({ ...sourcedTool(offer), ...(chosen.has(offer) ? {} : { hidden: true }) }));
      return [searchTool(offers, taskId), ...tools];
    },
  };

  function searchTool(offers: readonly Offer[], taskId: string): SourcedTool {
    return {
      name: 'search_tools',
      description: `Finds tools by what they do, among the ${offers.length} tools of connected servers that are not listed here. Call it with a few words before you conclude that a tool is missing. The tools it returns can be called from your next step on.`,
      parameters: Type.Object({
        query: Type.String({ minLength: 1, maxLength: 500, description: 'A few words, such as "create calendar event"' }),
      }),
      agentTypes: 'all',
      need: { scope: 'integrations.read' },
      highConsequence: false,
      repeatable: true,
      untrusted: true,
      timeoutMs: 10_000,
      connection: searchConnection,
      service: 'mcp',
      async run({ query }: { query: string }) {
        const tools = searchTools(offers, query);
        const names = tools.map(({ name }) => name);
        found.set(taskId, [...new Set([...names, ...(found.get(taskId) ?? [])])].slice(0, 100));
        return { tools };
      },
    };
  }

  function sourcedTool({ row, tool, toolName }: Offer): SourcedTool {
    const readOnly = isReadOnly(tool);
    return {
      name: toolName,
      description: tool.description === '' ? `${tool.name} of the MCP server ${row.name}` : tool.description,
      parameters: tool.inputSchema as unknown as TObject,
      agentTypes: 'all',
      need: { scope: readOnly ? 'integrations.read' : 'integrations.write' },
      highConsequence: !readOnly,
      repeatable: readOnly,
      untrusted: true,
      timeoutMs: mcpCallMs,
      connection: row.id,
      service: row.name,
      measuredAs: 'mcp',
      check: (sent, signal) =>
        checked(toolName, sent, (args) => connections.check(tool.inputSchema, args, { account: row.accountId, ...(signal && { signal }) })),
      run: (args, context) => run(row, tool, args, context),
    };
  }

  async function run(offered: McpServerRow, tool: PinnedTool, args: Record<string, unknown>, context: ToolContext): Promise<unknown> {
    const row = await actors.query(mcpServer, offered.id, 'get', null);
    if (row === null) throw new ConnectionLost(`The MCP server ${offered.name} was disconnected`);
    const now = row.tools.find(({ name }) => name === tool.name);
    if (now === undefined || pinStatus(now) !== 'approved' || now.hash !== tool.hash)
      throw toolError('forbidden', `${tool.name} was changed by its server, and is off until a person approves it`);
    const questions = new Questions(context.approvedBasis);
    let result: Awaited<ReturnType<McpConnections['call']>>;
    try {
      const answer = questions.answer.bind(questions);
      result = await connections.call(row, { tool: now, args, signal: context.signal, answer });
    } catch (error) {
      if (!(error instanceof McpFailed)) throw error;
      throw asToolError(error, row, clock, publicUrl());
    }
    if (questions.open.length > 0) {
      const missing = questions.unanswerable();
      if (missing !== null) throw toolError('invalid', `The server requests input that an approval cannot give: ${missing}`);
      throw new AskAgain(questions.preview(row.name));
    }
    if (result.isError) throw toolError('invalid', String(result.content).slice(0, 8_000) || 'The tool failed');
    return result.content;
  }
}

async function checked(name: string, sent: unknown, check: (args: object) => Promise<string | null>): Promise<CheckedArguments> {
  const given = sent === undefined || sent === null || sent === '' ? {} : sent;
  if (typeof given !== 'object' || Array.isArray(given)) return { ok: false, message: `Wrong arguments for ${name}: not a JSON object.` };
  const problem = await check(given);
  return problem === null
    ? { ok: true, args: given as Record<string, unknown> }
    : { ok: false, message: `Wrong arguments for ${name}: ${problem}.` };
}

function asToolError(error: McpFailed, { id, name, authority }: McpServerRow, clock: Clock, publicUrl: string): ToolError {
  const { failure, message } = error;
  const text = `The MCP server ${name}: ${message}`;
  switch (failure.type) {
    case 'unauthorized': {
      const way = authority === null ? 'Its headers must be renewed' : `A person must connect it again: ${consentPage(publicUrl, id)}`;
      return toolError('forbidden', `${text}. ${way}`);
    }
    case 'forbidden': {
      const { scope } = failure;
      if (scope === null) return toolError('forbidden', text);
      const way = authority === null ? 'Its headers must be renewed' : `A person must allow it: ${consentPage(publicUrl, id)}`;
      return toolError('forbidden', `${text}: it needs ${scope}. ${way}`, { scope });
    }
    case 'rate_limited': {
      const retryAt = failure.retryAfterMs === null ? undefined : isoTimestamp(clock.nowMs() + failure.retryAfterMs);
      return toolError('rate_limited', text, retryAt === undefined ? {} : { retry_at: retryAt });
    }
    case 'unavailable':
      return toolError('unavailable', failure.sent ? `${text}. It is not known whether the call took effect` : text);
    default:
      return toolError(failure.type, text);
  }
}

function toolError(type: string, message: string, more: Record<string, string> = {}): ToolError {
  return new ToolError(message, { details: { type, ...more } });
}

async function serversOf(database: Pick<Database, 'read'>, accountId: string, mode: Mode): Promise<string[]> {
  const { rows } = await database.read({
    name: 'mcp_servers_of_account',
    text: `select id from mcp_server where account_id = $1 and mode = $2 and removed_at is null and status = 'connected' order by created_at, id`,
    values: [accountId, mode],
  });
  return rows.map(({ id }) => id);
}
