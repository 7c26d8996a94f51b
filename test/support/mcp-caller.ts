/** Speaks MCP to the service by hand: one request, as the 2026-07-28 revision or those before have it on the wire. */
import type { Json } from './json.ts';

export type McpAnswer = { status: number; headers: Headers; message: Json; text: string };
export type McpCallOptions = { headers?: Record<string, string>; capabilities?: object; meta?: object; path?: string };

export const withTasks = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };

export class McpCaller {
  private readonly url: string;
  private readonly token: string;
  private id = 0;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** Any body. */
  async post(body: string, headers: Record<string, string> = {}, path = '/mcp'): Promise<McpAnswer> {
    const response = await fetch(this.url + path, { method: 'POST', headers: { ...this.headers(), ...headers }, body });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, message: messageOf(text) };
  }

  modern(method: string, params: Json = {}, options: McpCallOptions = {}): Promise<McpAnswer> {
    const { body, headers } = this.modernRequest(method, params, options);
    return this.post(body, headers, options.path);
  }

  private headers(): Record<string, string> {
    return {
      ...(this.token === '' ? {} : { authorization: `Bearer ${this.token}` }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
  }

  private modernRequest(
    method: string,
    params: Json,
    { headers, capabilities = {}, meta }: McpCallOptions,
  ): { body: string; headers: Record<string, string> } {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      ...meta,
    };
    const name = params.name ?? params.taskId;
    const named = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name === undefined ? {} : { 'mcp-name': name }) };
    const body = { jsonrpc: '2.0', id: ++this.id, method, params: { ...params, _meta } };
    return { body: JSON.stringify(body), headers: { ...named, ...headers } };
  }

  legacy(method: string, params: Json = {}, { headers, path }: McpCallOptions = {}): Promise<McpAnswer> {
    const body = { jsonrpc: '2.0', id: ++this.id, method, params };
    return this.post(JSON.stringify(body), { 'mcp-protocol-version': '2025-11-25', ...headers }, path);
  }

  /** The stream of a subscription to tasks. */
  listen(taskIds: string[]): Promise<Response> {
    const { body, headers } = this.modernRequest('subscriptions/listen', { notifications: { taskIds } }, { capabilities: withTasks });
    return fetch(`${this.url}/mcp`, { method: 'POST', headers: { ...this.headers(), ...headers }, body });
  }

  /** The result of a tool call that must not be an error of the protocol. */
  async tool(name: string, args: object = {}, options: McpCallOptions = {}): Promise<Json> {
    const { message } = await this.modern('tools/call', { name, arguments: args }, options);
    if (message?.result === undefined) throw new Error(`${name}: ${JSON.stringify(message)}`);
    return message.result;
  }
}

/** The message of a JSON body, or the last one of an event stream. */
function messageOf(text: string): Json {
  const data =
    text.startsWith('{') || text.startsWith('[')
      ? text
      : (text
          .match(/^data: (.*)$/gm)
          ?.at(-1)
          ?.slice(6) ?? 'null');
  return JSON.parse(data);
}
