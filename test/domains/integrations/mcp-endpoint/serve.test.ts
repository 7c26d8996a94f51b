/** How a node serves MCP messages: directly where the SDK would answer the same, within bounds, and at no cost before the first. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import type { Session } from '../../../../src/domains/integrations/mcp-endpoint/call-tool.ts';
import { recognize } from '../../../../src/domains/integrations/mcp-endpoint/message.ts';
import { isAllowedOrigin } from '../../../../src/domains/integrations/mcp-endpoint/origin.ts';
import { createSdkHandler } from '../../../../src/domains/integrations/mcp-endpoint/sdk-handler.ts';
import { createMcpServing } from '../../../../src/domains/integrations/mcp-endpoint/serve.ts';
import { instructions, serverInfo } from '../../../../src/domains/integrations/mcp-endpoint/server-info.ts';
import { HttpRequest, type HttpResponse } from '../../../../src/edge/http/message.ts';
import type { Forwarded } from '../../../../src/edge/http/route.ts';
import type { Json } from '../../../support/json.ts';

const feed = { open: () => assert.fail('no stream is opened'), read: () => assert.fail('no events are read') };
const options = { info: serverInfo, instructions, feed, newestSeq: async () => 0 };
const nowhere = { getRemoteAddressAsText: () => new ArrayBuffer(0) };

function sessionOf(forward: (target: Forwarded) => Promise<HttpResponse>, accountId = 'acct_1'): Session {
  const principal = { accountId, userId: 'usr_1', kind: 'session', scopes: 'all', mode: 'live', id: 'ses_1' } as const;
  return { principal, idempotencyKey: null, forward, isStillValid: async () => true, agentOfApproval: async () => null, calls: 0 };
}

/** Repeats the request in its answer; some requests are refused, and some answer with an array. */
async function echo({ method, path, queryString, body }: Forwarded): Promise<HttpResponse> {
  const said = { method, path, queryString: queryString ?? null, body: body ?? null };
  if (path.includes('deliverables')) return { status: 200, headers: null, body: JSON.stringify([said]) };
  const refused = path === '/tasks' && method === 'POST';
  return { status: refused ? 422 : 200, headers: null, body: JSON.stringify(refused ? { detail: [said] } : said) };
}

function requestOf(headers: Record<string, string>): HttpRequest {
  return new HttpRequest('POST', '/mcp', '', Object.entries({ 'content-type': 'application/json', ...headers }).flat(), null, nowhere);
}

async function messageOf({ status, body }: HttpResponse): Promise<{ status: number; message: Json }> {
  const said = body === null ? '' : typeof body === 'string' ? body : await text(body as NodeJS.ReadableStream);
  const data = said.startsWith('event:') ? /^data: (.*)$/m.exec(said)![1]! : said;
  return { status, message: data === '' ? null : JSON.parse(data) };
}

const names = ['create_task', 'get_task', 'list_tasks', 'list_deliverables', 'decide_approval', 'nope'];
const junk = fc.oneof(fc.constantFrom(null, '', 0, 1.5, true, [], {}, 'x'), fc.string(), fc.integer());
/** Mostly well-formed: of messages with several faults only the first is seen. */
const mostly = (good: fc.Arbitrary<unknown>, bad: fc.Arbitrary<unknown> = junk) =>
  fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: bad });
const argumentsOf = mostly(fc.record({ task_id: fc.string(), prompt: fc.string(), limit: junk }, { requiredKeys: [] }));
const meta = fc.record(
  {
    'io.modelcontextprotocol/protocolVersion': mostly(fc.constant('2026-07-28')),
    'io.modelcontextprotocol/clientCapabilities': mostly(fc.constantFrom({}, { elicitation: {} }, { extensions: { a: {} } })),
    'io.modelcontextprotocol/clientInfo': mostly(fc.constant({ name: 'c', version: '1' })),
    progressToken: mostly(fc.oneof(fc.string(), fc.integer())),
    other: junk,
  },
  { requiredKeys: ['io.modelcontextprotocol/protocolVersion', 'io.modelcontextprotocol/clientCapabilities'] },
);
const legacyMeta = fc.record({ progressToken: mostly(fc.integer()), other: junk }, { requiredKeys: [] });
const exchange = fc.record({
  isModern: fc.boolean(),
  id: mostly(fc.oneof(fc.integer(), fc.string())),
  method: mostly(fc.constantFrom('tools/list', 'tools/call', 'tools/call', 'tools/call'), fc.constantFrom('ping', 'tasks/get')),
  name: mostly(fc.constantFrom(...names)),
  args: fc.option(argumentsOf, { nil: undefined }),
  modernMeta: meta,
  legacyMeta: fc.option(legacyMeta, { nil: undefined }),
  cursor: mostly(fc.constant(undefined)),
  version: mostly(fc.constant(undefined), fc.constantFrom('2026-07-28', '2025-11-25', '1999-01-01')),
  named: mostly(fc.constant(true), fc.constant(false)),
  accept: mostly(fc.constant('application/json, text/event-stream'), fc.constantFrom('application/json', '*/*')),
});

test('a message that is answered directly has the answer that the SDK gives', async () => {
  const serving = createMcpServing(options);
  const sdk = await createSdkHandler(options);
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(exchange, async ({ isModern, id, method, name, args, cursor, version, named, accept, ...metas }) => {
      const meta = isModern ? metas.modernMeta : metas.legacyMeta;
      const versionHeader = version ?? (isModern ? '2026-07-28' : '2025-06-18');
      const params = method === 'tools/call' ? { name, arguments: args, _meta: meta } : { cursor, _meta: meta };
      const message = JSON.parse(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      const headers = {
        accept: String(accept),
        'mcp-protocol-version': String(versionHeader),
        ...(isModern && named === true && { 'mcp-method': String(method), 'mcp-name': String(name) }),
      };
      const request = requestOf(headers);
      if (recognize(request, message) === null) return;
      compared++;
      const direct = await messageOf(await serving.serve(request, Buffer.from(JSON.stringify(message)), sessionOf(echo)));
      const bySdk = await messageOf(await sdk.serve(request, message, sessionOf(echo)));
      assert.deepEqual(direct, bySdk);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(compared > 300, `${compared} messages were answered directly`);
});

test('calls in progress are limited, and one account leaves slots for others', async () => {
  const serving = createMcpServing(options);
  const { promise, resolve } = Promise.withResolvers<HttpResponse>();
  const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tasks"}}');
  const call = (accountId: string, forward = () => promise) =>
    serving.serve(requestOf({ accept: 'application/json, text/event-stream' }), body, sessionOf(forward, accountId));
  const held = Array.from({ length: 640 }, () => call('acct_busy'));
  await assert.rejects(call('acct_busy'), { code: 'overloaded' });
  const other = await messageOf(await call('acct_calm', () => echo({ method: 'GET', path: '/tasks' })));
  assert.equal(other.message.result.structuredContent.path, '/tasks');
  resolve({ status: 200, headers: null, body: '{}' });
  await Promise.all(held);
});

test('the SDK is not loaded before a message needs it', async () => {
  // A process that answers a call directly, then one by the SDK, and prints the loaded packages each time.
  const program = `
    const { createMcpServing } = await import('./src/domains/integrations/mcp-endpoint/serve.ts');
    const { HttpRequest } = await import('./src/edge/http/message.ts');
    const { createRequire, registerHooks } = await import('node:module');
    let loaded = 0;
    registerHooks({ load(url, context, next) { if (url.includes('@modelcontextprotocol')) loaded++; return next(url, context); } });
    const serving = createMcpServing({ info: { name: 'x', title: 'x', version: '1' }, instructions: '' });
    const headers = ['accept', 'application/json, text/event-stream', 'content-type', 'application/json'];
    const request = new HttpRequest('POST', '/mcp', '', headers, null, { getRemoteAddressAsText: () => new ArrayBuffer(0) });
    const session = { principal: { accountId: 'a', scopes: 'all' }, calls: 0 };
    for (const method of ['tools/list', 'ping']) {
      await serving.serve(request, Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method })), session);
      console.log(method, loaded > 0);
    }`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    '--input-type=module-typescript',
    '-e',
    program,
  ]);
  assert.equal(stdout, 'tools/list false\nping true\n');
});

test('allowed origins are the service’s own, those of this machine for a local service, and listed ones', () => {
  const own = 'https://troupe.example';
  const local = 'http://127.0.0.1:8080';
  const cases: [string, string, string[], boolean][] = [
    ['', own, [], true],
    ['https://troupe.example', own, [], true],
    ['https://troupe.example:8443', own, [], false],
    ['http://troupe.example', own, [], false],
    ['https://evil.example', own, [], false],
    ['http://localhost:8080', own, [], false],
    ['http://localhost:8080', local, [], true],
    ['http://[::1]:8080', local, [], true],
    ['http://localhost:3000', local, [], false],
    ['http://localhost.evil.example:8080', local, [], false],
    ['https://app.example', own, ['https://app.example'], true],
    ['https://evil.example', own, ['*'], true],
    ['null', own, [], false],
  ];
  for (const [origin, publicUrl, allowed, expected] of cases) assert.equal(isAllowedOrigin(origin, publicUrl, allowed), expected, origin);
});
