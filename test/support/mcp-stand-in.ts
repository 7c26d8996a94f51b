/** An MCP server of a customer, made with the official library: its tools can be changed while it runs, and it can ask for a token. */
import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createMcpHandler, inputRequired, type McpHttpHandler, Server } from '@modelcontextprotocol/server';
import type { Json } from './json.ts';

export type StandInTool = {
  name: string;
  description?: string;
  inputSchema?: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: { readOnlyHint?: boolean };
  /** Default: answers the text "<name> done" with the arguments. */
  run?(args: Json, context: Json): unknown;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export class McpStandIn {
  tools: StandInTool[] = [
    { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
  ];
  /** Every request, with its headers. */
  requests: { method: string; path: string; headers: IncomingMessage['headers']; rpc: { method?: string; params?: Json } }[] = [];
  calls: { name: string; args: unknown }[] = [];
  /** Answers in place of the server; null: the server answers. */
  instead: ((request: IncomingMessage, response: ServerResponse, body: string) => boolean) | null = null;
  url = '';
  private http!: HttpServer;
  private handler!: McpHttpHandler;

  /** @param legacy it knows only the protocol before */
  async start({ legacy = false }: { legacy?: boolean } = {}): Promise<this> {
    this.handler = createMcpHandler(() => this.server(), {});
    const onRequest: Handler = (request, response) => void this.answer(request, response, legacy).catch(() => response.destroy());
    this.http = createServer(onRequest).listen(0, '127.0.0.1');
    await once(this.http, 'listening');
    this.url = `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/mcp`;
    return this;
  }

  async stop(): Promise<void> {
    this.http.close().closeAllConnections();
    await this.handler.close();
  }

  /** A tool that asks the user before it does anything, in the way of the caller's protocol. */
  asks(name: string, params: Record<string, unknown>): void {
    const text = (answer: unknown) => ({ content: [{ type: 'text', text: `answered ${JSON.stringify(answer)}` }] });
    this.tools.push({
      name,
      run: async (_args, context) => {
        const answered = context.mcpReq.inputResponses?.question;
        if (answered !== undefined) return text(answered);
        if (context.mcpReq.envelope === undefined) return text(await context.mcpReq.elicitInput({ mode: 'form', ...params }));
        return inputRequired({
          inputRequests: { question: { method: 'elicitation/create', params: { mode: 'form', ...params } } },
        } as never);
      },
    });
  }

  toolsChanged(): void {
    this.handler.notify.toolsChanged();
  }

  private async answer(request: IncomingMessage, response: ServerResponse, legacy: boolean): Promise<void> {
    const body = await text(request);
    const { method = '', url: path = '' } = request;
    let rpc = {} as { method?: string };
    try {
      rpc = JSON.parse(body || '{}');
    } catch {}
    this.requests.push({ method, path, headers: request.headers, rpc });
    if (this.instead?.(request, response, body)) return;
    if (legacy && (rpc.method === 'server/discover' || request.headers['mcp-method'] !== undefined)) {
      response.writeHead(400).end('unknown protocol version');
      return;
    }
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    const answer = await this.handler.fetch(new Request(new URL(path, this.url), { method, headers, ...(method === 'POST' && { body }) }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) return void response.end();
    const stream = Readable.fromWeb(answer.body as never);
    response.on('close', () => stream.destroy());
    stream.on('error', () => response.destroy()).pipe(response);
  }

  private server(): Server {
    const server = new Server({ name: 'stand-in', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
    server.setRequestHandler('tools/list', () => ({
      tools: this.tools.map(({ run: _run, ...tool }) => ({ ...tool, inputSchema: tool.inputSchema ?? { type: 'object' } })) as never,
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      this.calls.push({ name: params.name, args: params.arguments });
      const tool = this.tools.find(({ name }) => name === params.name);
      const made = await tool?.run?.(params.arguments, context);
      return (made ?? { content: [{ type: 'text', text: `${params.name} done ${JSON.stringify(params.arguments)}` }] }) as never;
    });
    return server;
  }
}
