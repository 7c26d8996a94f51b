/** Many calls of MCP servers at once on one node. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { McpWorld } from '../../../support/mcp-world.ts';
import { until } from '../../../support/until.ts';

const many = 500;
const accounts = 32;
const maxBytes = 100 * 10 ** 6;
const answer = 'x'.repeat(20_000);
const json = { 'content-type': 'application/json' };

test(`${many} calls of ${accounts} accounts are in flight in less than 100 MB; 64 of them are sent at once`, async (t) => {
  const held: (() => void)[] = [];
  let isHolding = true;
  // By hand, of the protocol before: the library's own server would be measured too.
  const results: Record<string, object> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'held', version: '1' } },
    'tools/list': { tools: [{ name: 'hold', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: answer }] },
  };
  const server = createServer(async (request, response: ServerResponse) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(await text(request));
    if (id === undefined) return void response.writeHead(202).end();
    const result = results[method];
    const error = { code: -32_601, message: 'Method not found' };
    const send = () => response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }));
    if (method === 'tools/call' && isHolding) held.push(send);
    else send();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const world = await McpWorld.start();
  t.after(() => world.stop());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const rows = [];
  for (let i = 0; i < accounts; i++) rows.push(await world.connect(url));
  const tools = await Promise.all(rows.map((row) => world.tool(row, 'mcp_docs_hold')));
  const context = { signal: new AbortController().signal, approvedBasis: null } as never;
  const beforeBytes = process.memoryUsage().rss;
  const calls = Promise.all(Array.from({ length: many }, (_, i) => tools[i % accounts]!.run({}, context)));
  calls.catch(() => {});
  await until(() => held.length === 64);
  const waitingBytes = process.memoryUsage().rss - beforeBytes;
  assert.deepEqual([held.length, world.connections.size.calls], [64, 64]);
  isHolding = false;
  for (const send of held) send();
  const answers = await calls;
  const answeredBytes = process.memoryUsage().rss - beforeBytes;
  assert.ok(answers.every((one) => one === answer));
  t.diagnostic(`${Math.round(waitingBytes / 1e6)} MB while waiting, ${Math.round(answeredBytes / 1e6)} MB with all answers`);
  assert.ok(Math.max(waitingBytes, answeredBytes) < maxBytes, `${waitingBytes} and ${answeredBytes} bytes`);
});
