/**
 * Floods `/mcp` from a thread of its own, so that its work delays no measurement: several connections, each of which sends one request
 * after the other, of every kind in turn.
 */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export type McpFlooding = { url: string; token: string; taskId: string; ms: number; connections: number };
/** Answers by kind of request and status; 0: no answer. */
export type McpFlooded = Record<string, Record<number, number>>;

const { url, token, taskId, ms, connections } = workerData as McpFlooding;
const version = '2026-07-28';
const own = 'io.modelcontextprotocol/';
/** A client reads a subscription for so long, then disconnects. */
const listenMs = 100;

type Sent = { body: string; headers: Record<string, string> };

const legacy = (method: string, params: object): Sent => ({
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  headers: { 'mcp-protocol-version': '2025-11-25' },
});

function modern(method: string, params: Record<string, unknown>): Sent {
  const extensions = { [`${own}tasks`]: {} };
  const _meta = {
    [`${own}protocolVersion`]: version,
    [`${own}clientCapabilities`]: { extensions },
    [`${own}clientInfo`]: { name: 'flood', version: '1' },
  };
  const name = params.name ?? params.taskId;
  const named: Record<string, string> = name === undefined ? {} : { 'mcp-name': String(name) };
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    headers: { 'mcp-protocol-version': version, 'mcp-method': method, ...named },
  };
}

const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'flood', version: '1' } };
const call = { name: 'get_task', arguments: { task_id: taskId } };
/** Nearly as many values as a body may have. */
const many = Array.from({ length: 9_900 }, () => ({}));
const nested = JSON.parse(`${'{"a":'.repeat(55)}1${'}'.repeat(55)}`);
const batch = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: call }));

const kinds: Record<string, Sent> = {
  initialize: legacy('initialize', hello),
  'server/discover': modern('server/discover', {}),
  'tools/list': modern('tools/list', {}),
  'tools/list, legacy': legacy('tools/list', {}),
  'tools/call': modern('tools/call', call),
  'tools/call, legacy': legacy('tools/call', call),
  'tools/call, many values': modern('tools/call', { name: 'create_task', arguments: { prompt: many } }),
  'tools/call, many fields': modern('tools/call', {
    name: 'create_task',
    arguments: Object.fromEntries(many.map((_, i) => [`field ${i}`, 1])),
  }),
  'tools/call through the SDK, many values': legacy('tools/call', { ...call, arguments: { many }, _meta: { progressToken: {} } }),
  'initialize, many values': legacy('initialize', { ...hello, capabilities: { experimental: { many } } }),
  'initialize, many capabilities': legacy('initialize', {
    ...hello,
    capabilities: { experimental: Object.fromEntries(many.map((_, i) => [`c${i}`, {}])) },
  }),
  'initialize, a MiB': legacy('initialize', { ...hello, clientInfo: { name: 'x'.repeat(1_000_000), version: '1' } }),
  'initialize, nested': legacy('initialize', { ...hello, capabilities: { experimental: nested } }),
  'a list of calls': { body: JSON.stringify(batch), headers: { 'mcp-protocol-version': '2025-03-26' } },
  'a list of nothing': { body: JSON.stringify(many), headers: { 'mcp-protocol-version': '2025-03-26' } },
  'no message': { body: '{"jsonrpc":"2.0"}', headers: {} },
  'subscriptions/listen': modern('subscriptions/listen', { notifications: { taskIds: [taskId] } }),
  'subscriptions/listen, foreign tasks': modern('subscriptions/listen', {
    notifications: { taskIds: Array.from({ length: 50 }, (_, i) => `task_${i}`) },
  }),
  'subscriptions/listen, many tasks': modern('subscriptions/listen', {
    notifications: { taskIds: Array.from({ length: 15_000 }, (_, i) => `task_${i}`) },
  }),
};

const agent = new Agent({ keepAlive: true, maxSockets: connections });
const answers: McpFlooded = {};
const names = Object.keys(kinds);
const endMs = performance.now() + ms;
await Promise.all(Array.from({ length: connections }, (_, lane) => sendAll(lane)));
agent.destroy();
parentPort!.postMessage(answers);

async function sendAll(lane: number): Promise<void> {
  for (let n = lane; performance.now() < endMs; n++) {
    const name = names[n % names.length]!;
    const status = await send(kinds[name]!);
    const byStatus = (answers[name] ??= {});
    byStatus[status] = (byStatus[status] ?? 0) + 1;
  }
}

function send({ body, headers }: Sent): Promise<number> {
  return new Promise((resolve) => {
    const all = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(body.length),
      accept: 'application/json, text/event-stream',
      ...headers,
    };
    const asked = request(`${url}/mcp`, { method: 'POST', agent, headers: all }, (answer) => {
      const cut = setTimeout(() => asked.destroy(), listenMs);
      answer.resume().once('close', () => {
        clearTimeout(cut);
        resolve(answer.statusCode!);
      });
      answer.once('error', () => {});
    });
    asked.once('error', () => resolve(0));
    asked.end(body);
  });
}
