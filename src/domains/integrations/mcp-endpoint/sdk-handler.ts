/**
 * The SDK's handler: it serves what `recognize` does not, such as handshakes and malformed messages, of both protocol generations. Loaded at
 * the first request that needs it.
 */

import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import type { HttpRequest, HttpResponse } from '../../../edge/http/message.ts';
import { mcpServerPackage } from '../mcp-packages.ts';
import { callTool, type Session } from './call-tool.ts';
import { keyOf } from './message.ts';
import { callResult, type Era, listCaching, type ServerInfo } from './results.ts';
import { toolList, toolNamed } from './tools.ts';

/** The message is parsed and within the bounds of JSON bodies. */
export type SdkHandler = { serve(request: HttpRequest, message: unknown, session: Session): Promise<HttpResponse> };

export type SdkHandlerOptions = { info: ServerInfo; instructions: string };

const tasksExtension = 'io.modelcontextprotocol/tasks';
/** Headers that the server itself sends. */
const ownHeaders = new Set(['connection', 'content-length']);

export async function createSdkHandler({ info, instructions }: SdkHandlerOptions): Promise<SdkHandler> {
  const { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } = await mcpServerPackage();

  const factory: McpServerFactory = ({ era, authInfo }) => {
    const { session } = authInfo!.extra as { session: Session };
    const extensions = era === 'modern' ? { extensions: { [tasksExtension]: {} } } : {};
    const server = new Server(info, { capabilities: { tools: {}, ...extensions }, instructions });
    server.setRequestHandler('tools/list', async () => {
      const tools = toolList(session.principal).tools as never[];
      return era === 'modern' ? { tools, ...listCaching } : { tools };
    });
    server.setRequestHandler('tools/call', async ({ params }) => {
      const tool = toolNamed(params.name);
      if (tool === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(params.name));
      const called = await callTool(session, tool, params.arguments ?? {}, keyOf(params) ?? session.idempotencyKey);
      return JSON.parse(callResult(called, era as Era));
    });
    return server;
  };
  const handler = createMcpHandler(factory);

  return {
    async serve(request, message, session) {
      const headers = new Headers();
      for (let i = 0; i < request.headers.length; i += 2) {
        // A value that is not a valid header text was not sent as a header.
        if (request.headers[i]!.startsWith('mcp-') || carried.has(request.headers[i]!))
          headers.append(request.headers[i]!, request.headers[i + 1]!);
      }
      const posted = new Request('http://mcp.invalid/mcp', { method: 'POST', headers });
      const authInfo = { token: '', clientId: session.principal.id, scopes: [], extra: { session } };
      return responseOf(await handler.fetch(posted, { authInfo, parsedBody: message }));
    },
  };
}

/** Request headers that the SDK reads. */
const carried = new Set(['accept', 'content-type']);

export function unknownTool(name: string): string {
  return `Unknown tool: ${name.slice(0, 200)}`;
}

function responseOf(response: Response): HttpResponse {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !ownHeaders.has(name)));
  return { status: response.status, headers, body: response.body === null ? null : Readable.fromWeb(response.body as ReadableStream) };
}
