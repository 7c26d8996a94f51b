/** An MCP server of the previous protocol with sessions, made with the official library of that time. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from './json.ts';

export class LegacyMcpServer {
  url = '';
  /** Asked by each call of this tool, before it does anything. */
  private readonly questions = new Map<string, Record<string, unknown>>();
  private readonly sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: Server }>();
  private http!: HttpServer;

  async start(): Promise<this> {
    this.http = createServer((request, response) => void this.answer(request, response).catch(() => response.destroy()));
    this.http.listen(0, '127.0.0.1');
    await once(this.http, 'listening');
    this.url = `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/mcp`;
    return this;
  }

  async stop(): Promise<void> {
    this.forget();
    this.http.close().closeAllConnections();
  }

  /** As a restart does. */
  forget(): void {
    this.sessions.clear();
  }

  asks(name: string, params: Record<string, unknown>): void {
    this.questions.set(name, params);
  }

  /** Notifies every session. */
  async toolsChanged(): Promise<void> {
    for (const { server } of this.sessions.values()) await server.sendToolListChanged();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: Json = request.method === 'POST' ? await json(request) : undefined;
    const id = request.headers['mcp-session-id'] as string | undefined;
    const known = id === undefined ? undefined : this.sessions.get(id)?.transport;
    if (known !== undefined) return known.handleRequest(request, response, body);
    if (id !== undefined) return void response.writeHead(404).end();
    if (body?.method !== 'initialize') return void response.writeHead(400).end('no session');
    const server = this.server();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (made) => void this.sessions.set(made, { transport, server }),
    });
    await server.connect(transport as never);
    await transport.handleRequest(request, response, body);
  }

  private server(): Server {
    let calls = 0;
    const server = new Server({ name: 'legacy', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: ['count', ...this.questions.keys()].map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }, { sendRequest }) => {
      const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
      const params = this.questions.get(name);
      if (params === undefined) return text(String(++calls));
      const { ElicitResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
      const answer = await sendRequest({ method: 'elicitation/create', params } as never, ElicitResultSchema);
      return text(`answered ${JSON.stringify(answer)}`);
    });
    return server;
  }
}
