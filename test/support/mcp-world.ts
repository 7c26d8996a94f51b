/**
 * MCP servers of accounts on one node: a real database, their actors and connections, and the source of tools for agents. Other servers
 * are stand-ins.
 */
import { systemClock } from '../../src/clock.ts';
import { authorizationActor } from '../../src/domains/integrations/authorization/authorization.ts';
import { Authorizations } from '../../src/domains/integrations/authorization/authorizations.ts';
import { connectMcpServer, type McpConnectParts, type McpRequest } from '../../src/domains/integrations/mcp-servers/connect.ts';
import { McpConnections } from '../../src/domains/integrations/mcp-servers/connections.ts';
import { mcpServerEffects } from '../../src/domains/integrations/mcp-servers/effects.ts';
import type { McpServerRow } from '../../src/domains/integrations/mcp-servers/entity.ts';
import { mcpServerActor } from '../../src/domains/integrations/mcp-servers/mcp-server.ts';
import { mcpServer } from '../../src/domains/integrations/mcp-servers/messages.ts';
import { mcpSecretBox } from '../../src/domains/integrations/mcp-servers/secrets.ts';
import { mcpToolSource } from '../../src/domains/integrations/mcp-servers/source.ts';
import { asIntegration } from '../../src/domains/integrations/mcp-servers/view.ts';
import { IntegrationStats } from '../../src/domains/integrations/metrics.ts';
import type { SourcedTool, ToolContext, ToolSource } from '../../src/domains/tasks/contract.ts';
import { newId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { inlineCompute } from '../../src/providers/compute/inline.ts';
import { createOutbound } from '../../src/providers/outbound/outbound.ts';
import { type TestRuntime, testRuntime } from './runtime.ts';

const secretKey = 'a secret key of thirty-two characters';

export class McpWorld {
  /** Ahead of the real clock. */
  aheadMs = 0;
  released: unknown[] = [];
  /** Lines of the log. */
  logged: string[] = [];
  readonly outbound = createOutbound({ allow: ['127.0.0.0/8'] });
  readonly box = mcpSecretBox(secretKey);
  readonly clock = { ...systemClock, nowMs: () => systemClock.nowMs() + this.aheadMs };
  test!: TestRuntime;
  connections!: McpConnections;
  parts!: McpConnectParts;
  source!: ToolSource;

  static async start(): Promise<McpWorld> {
    const world = new McpWorld();
    const actors = {
      ask: (...args: never[]) => (world.test.actors.ask as (...given: never[]) => unknown)(...args),
      query: (...args: never[]) => (world.test.actors.query as (...given: never[]) => unknown)(...args),
    } as unknown as TestRuntime['actors'];
    const database = { read: (query: never) => world.test.database.read(query) } as unknown as TestRuntime['database'];
    const { outbound, box, clock } = world;
    const shared = {
      actors,
      database,
      outbound,
      clock,
      box,
      log: createLog('debug', {}, { write: (line) => void world.logged.push(line) }),
    };
    world.connections = new McpConnections({
      ...shared,
      compute: inlineCompute,
      stats: new IntegrationStats(),
      limits: { connectMs: 30_000, callMs: 60_000 },
    });
    const authorizations = new Authorizations({ actors, clock: systemClock, secretKey, acceptedKeys: [] });
    world.parts = {
      ...{ actors, database, outbound, authorizations, connections: world.connections, box, registered: () => null },
      callbackUrl: () => 'http://127.0.0.1:1/integrations/callback',
      documentUrl: () => 'http://127.0.0.1:1/integrations/oauth-client.json',
    };
    world.source = mcpToolSource({ actors, database, clock, connections: world.connections, publicUrl: () => 'https://troupe.test' });
    const release = async (lost: unknown) => void world.released.push(lost);
    world.test = await testRuntime([
      mcpServerActor(mcpServerEffects({ ...shared, release }), (row) => asIntegration(row, 'https://troupe.test')),
      authorizationActor,
    ]);
    return world;
  }

  async stop(): Promise<void> {
    this.connections.close();
    await this.test.close();
    await this.outbound.close();
  }

  connect(url: string, other: Partial<McpRequest> = {}): Promise<McpServerRow> {
    const accountId = newId('acct_', null);
    const request = { accountId, mode: 'live', name: 'docs', headers: {}, redirectUri: null, commandId: undefined } as const;
    return connectMcpServer(this.parts, { ...request, url, ...other });
  }

  async row({ id }: McpServerRow): Promise<McpServerRow> {
    return (await this.test.actors.query(mcpServer, id, 'get', null))!;
  }

  tools({ accountId, mode }: Pick<McpServerRow, 'accountId' | 'mode'>, taskId = 'task_1'): Promise<SourcedTool[]> {
    return this.source.toolsOf({ accountId, mode, taskId, allowConnect: false });
  }

  async tool(row: McpServerRow, name: string): Promise<SourcedTool> {
    const found = (await this.tools(row)).find((tool) => tool.name === name);
    if (found === undefined) throw new Error(`There is no ${name}`);
    return found;
  }

  async call(row: McpServerRow, name: string, args: object = {}, approvedBasis: unknown = null): Promise<unknown> {
    const context = { signal: new AbortController().signal, approvedBasis } as unknown as ToolContext;
    return (await this.tool(row, name)).run(args, context);
  }

  events(accountId: string): { type: string; data: Record<string, unknown> }[] {
    return this.test.events
      .filter((event) => event.accountId === accountId)
      .map(({ type, data }) => ({ type, data: JSON.parse(String((data as { text?: string }).text ?? data)) }));
  }
}
