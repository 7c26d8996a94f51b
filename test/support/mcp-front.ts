/**
 * A proxy of the service for the conformance suites: adds the missing token, and maps calls of the suite's tools to the service's tools.
 */
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Json } from './json.ts';

/** The call of ours that takes the place of a tool's; undefined: the call goes on as it is. */
export type Substitute = (tool: string, args: Json) => { name: string; arguments: object } | undefined;
export type McpFront = { url: string; to(serviceUrl: string, token: string): void; close(): void };

export async function mcpFront(substitute: Substitute): Promise<McpFront> {
  let target = { url: '', token: '' };
  const server = createServer(async (incoming, answer) => {
    const sent = await buffer(incoming);
    const { hostname, port } = new URL(target.url);
    const { body, headers } = translated(sent, incoming.headers, substitute);
    const own = { authorization: `Bearer ${target.token}`, ...(body.length === 0 ? {} : { 'content-length': body.length }) };
    const options = { hostname, port, method: incoming.method, path: incoming.url, headers: { ...headers, ...own } };
    const outgoing = httpRequest(options, (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      response.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    outgoing.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    to: (url, token) => void (target = { url, token }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function translated(sent: Buffer, headers: IncomingHttpHeaders, substitute: Substitute): { body: Buffer; headers: IncomingHttpHeaders } {
  const { 'content-length': _, ...kept } = headers;
  const asIs = { body: sent, headers: kept };
  let message: Json;
  try {
    message = JSON.parse(sent.toString());
  } catch {
    return asIs;
  }
  const { method, params } = message ?? {};
  if (method === 'tasks/update') {
    // The suites confirm; an approval is approved.
    for (const { content } of Object.values<Json>(params?.inputResponses ?? {})) if (content?.confirm === true) content.approved = true;
  } else {
    const ours = method === 'tools/call' ? substitute(params?.name, params?.arguments ?? {}) : undefined;
    if (ours === undefined) return asIs;
    if (kept['mcp-name'] === params.name) kept['mcp-name'] = ours.name;
    Object.assign(params, ours);
  }
  return { body: Buffer.from(JSON.stringify(message)), headers: kept };
}
