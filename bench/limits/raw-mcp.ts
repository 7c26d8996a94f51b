/** The limit of MCP: the SDK's handler on `node:http` with one tool, which returns what the service's returns. */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { serveCalls } from '../support/program.ts';

serveCalls({
  listen({ result }: { result: object }) {
    const handler = createMcpHandler(() => {
      const server = new Server({ name: 'raw', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/call', async () => result as never);
      return server;
    });
    const server = createServer(async (incoming, answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const response = await handler.fetch(requestOf(incoming), { parsedBody: JSON.parse(Buffer.concat(chunks).toString()) });
      answer.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
  },
});

function requestOf(incoming: IncomingMessage): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) if (name !== 'connection') headers.set(name, String(value));
  return new Request('http://raw.invalid/mcp', { method: 'POST', headers });
}
