/** Connections to MCP servers: real servers of both protocols, and hostile ones. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { McpFailed } from '../../../../src/domains/integrations/mcp-servers/protocol/failure.ts';
import { schemaCheck } from '../../../../src/domains/integrations/mcp-servers/protocol/schema-check.ts';
import { type McpSession, openSession, type SessionOptions } from '../../../../src/domains/integrations/mcp-servers/protocol/session.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import { ComputePool } from '../../../../src/providers/compute/pool.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { McpStandIn } from '../../../support/mcp-stand-in.ts';
import { until } from '../../../support/until.ts';

const check = schemaCheck(inlineCompute);
const outbound = createOutbound({ allow: ['127.0.0.0/8'] });
after(() => outbound.close());
const cancel = () => ({ action: 'cancel' as const });
const open: McpSession[] = [];

async function session(url: string, options: Partial<SessionOptions> = {}): Promise<McpSession> {
  const made = await openSession({ url, headers: {}, accountId: 'acct_1', outbound, check, ...options });
  open.push(made);
  return made;
}

after(async () => void (await Promise.all(open.map((one) => one.close()))));

function call(
  of: McpSession,
  name: string,
  args: Record<string, unknown> = {},
  schemas: { inputSchema?: object; outputSchema?: object } = {},
) {
  const tool = { name, inputSchema: { type: 'object' }, outputSchema: null, ...schemas } as never;
  return of.call({ tool, args, signal: new AbortController().signal, answer: cancel });
}

const failureOf = (type: string, message?: RegExp) => (error: McpFailed) => {
  assert.equal(error.failure?.type, type, error.stack);
  if (message !== undefined) assert.match(error.message, message);
  return true;
};

for (const legacy of [false, true])
  describe(`with a server of the ${legacy ? 'previous' : 'newest'} protocol`, () => {
    const server = new McpStandIn();
    let to: McpSession;
    before(async () => {
      await server.start({ legacy });
      to = await session(server.url, { headers: { 'x-key': 'k1' } });
    });
    after(() => server.stop());

    test('its tools are listed and called, each request with the given headers', async () => {
      const [echo] = await to.tools();
      assert.deepEqual([echo?.name, echo?.description, echo?.readOnly], ['echo', 'Says it again.', false]);
      assert.deepEqual(await call(to, 'echo', { text: 'hi' }), { content: 'echo done {"text":"hi"}', isError: false });
      assert.ok(server.requests.every(({ headers }) => headers['x-key'] === 'k1'));
    });

    test('a failure reported by a tool is a result, and one of the protocol is a failure', async () => {
      server.tools.push(
        { name: 'refuses', run: () => ({ isError: true, content: [{ type: 'text', text: 'no such city' }] }) },
        { name: 'breaks', run: () => Promise.reject(new Error('broken')) },
      );
      assert.deepEqual(await call(to, 'refuses'), { content: 'no such city', isError: true });
      await assert.rejects(call(to, 'breaks'), failureOf('invalid'));
    });

    test('a result that does not match the declared schema is a failure', async () => {
      server.tools.push({ name: 'lies', run: () => ({ content: [], structuredContent: { count: 'many' } }) });
      const outputSchema = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] };
      await assert.rejects(call(to, 'lies', {}, { outputSchema }), failureOf('invalid', /count|schema/i));
    });

    test('arguments that the schema does not allow are refused before anything is sent', async () => {
      const before = server.calls.length;
      const inputSchema = { type: 'object', properties: { format: { type: 'string', pattern: '^(a+)+$' } }, required: ['format'] };
      await assert.rejects(call(to, 'echo', {}, { inputSchema }), failureOf('invalid', /format/));
      assert.equal(server.calls.length, before);
    });

    test('an answer over 1 MiB is a failure, and the next call works', async () => {
      server.tools.push({ name: 'big', run: () => ({ content: [{ type: 'text', text: 'x'.repeat(2 ** 21) }] }) });
      await assert.rejects(call(to, 'big'), failureOf('unavailable', /longer/));
      assert.equal((await call(to, 'echo')).isError, false);
    });

    test('an answer or a list with more values than are read is a failure, in one piece or as events, and the next call works', async () => {
      const many = Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [`k${i}`, 1]));
      server.tools.push({ name: 'many', run: () => ({ content: [], structuredContent: many }) });
      await assert.rejects(call(to, 'many'), failureOf('unavailable', /more values/));
      for (const type of ['application/json', 'text/event-stream']) {
        server.instead = (_request, response, body) => {
          if (!body.includes('tools/call')) return false;
          const answer = JSON.stringify({
            jsonrpc: '2.0',
            id: JSON.parse(body).id,
            result: { content: [], structuredContent: { a: [many] } },
          });
          response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? answer : `data: ${answer}\n\n`);
          return true;
        };
        await assert.rejects(call(to, 'echo'), failureOf('unavailable', /more values/), type);
      }
      server.instead = null;
      server.tools.pop();
      assert.equal((await call(to, 'echo')).isError, false);
    });

    // The newest protocol has no such notification.
    test('each event of an answer may have as many values as a message', { skip: !legacy && 'no logging' }, async () => {
      server.instead = (_request, response, body) => {
        if (!body.includes('tools/call')) return false;
        const half = JSON.stringify({
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level: 'info', data: Array(15_000).fill(0) },
        });
        const answer = JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: { content: [{ type: 'text', text: 'done' }] } });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${half}\r\n\r\ndata: ${half}\n\ndata: ${answer}\n\n`);
        return true;
      };
      assert.deepEqual(await call(to, 'echo'), { content: 'done', isError: false });
      server.instead = null;
    });

    test('a server that does not answer is a failure at the time limit', async () => {
      server.tools.push({ name: 'hangs', run: () => new Promise(() => {}) });
      const quick = await session(server.url, { limits: { connectMs: 10_000, callMs: 300 } });
      await assert.rejects(call(quick, 'hangs'), failureOf('unavailable', /0\.3 s/));
    });

    test('a connection that breaks during a call is a failure at once', async () => {
      server.instead = (_request, response, body) => {
        if (!body.includes('tools/call')) return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n', () => response.destroy());
        return true;
      };
      await assert.rejects(call(to, 'echo'), failureOf('unavailable'));
      server.instead = null;
    });

    test('401, 403, 429 and 500 are different failures', async () => {
      const answers = { 401: 'unauthorized', 403: 'forbidden', 429: 'rate_limited', 500: 'unavailable' };
      for (const [status, type] of Object.entries(answers)) {
        server.instead = (_request, response) => {
          response.writeHead(Number(status), {
            'www-authenticate': 'Bearer resource_metadata="https://a.example/meta"',
            'retry-after': '7',
          });
          response.end('secret words');
          return true;
        };
        await assert.rejects(call(to, 'echo'), failureOf(type));
        await assert.rejects(session(server.url), (error: McpFailed) => {
          assert.equal(error.failure?.type, type, error.stack);
          assert.doesNotMatch(error.message, /secret/);
          if (error.failure.type === 'unauthorized') assert.equal(error.failure.challenge.resourceMetadataUrl, 'https://a.example/meta');
          if (error.failure.type === 'rate_limited') assert.equal(error.failure.retryAfterMs, 7_000);
          return true;
        });
      }
      server.instead = null;
    });

    test('a redirect to another origin is not followed', async () => {
      const other = await new McpStandIn().start();
      server.instead = (_request, response) => {
        response.writeHead(307, { location: other.url }).end();
        return true;
      };
      await assert.rejects(session(server.url, { headers: { 'x-key': 'k1' } }), failureOf('unavailable'));
      assert.equal(other.requests.length, 0);
      server.instead = null;
      await other.stop();
    });
  });

test('a change of the list is notified while the connection is open', async () => {
  const server = await new McpStandIn().start();
  let changes = 0;
  await session(server.url, { toolsChanged: () => changes++ });
  await until(() => server.requests.some(({ rpc }) => rpc.method === 'subscriptions/listen'), 'the subscription');
  server.toolsChanged();
  await until(() => changes > 0, 'the notification');
  await server.stop();
});

test('a schema of a server takes no time of the node: a costly check is made in a computing process and given up', {
  timeout: 60_000,
}, async () => {
  const pool = new ComputePool({ processes: 1 });
  after(() => pool.close());
  const inPool = schemaCheck(pool);
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`d${i}`, { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]),
  );
  const branches = { properties: { x: { items: { anyOf: Array.from({ length: 3_000 }, () => ({ type: 'null' })) } } } };
  const unending = { $defs: { ...doubling, d40: { type: 'object' } }, allOf: [{ $ref: '#/$defs/d0' }] };
  assert.equal(await inPool(unending, {}, { account: 'acct_1' }), null, 'what cannot be checked is left to the server');
  for (const [schema, value] of [
    [unending, {}],
    [branches, { x: Array(20_000).fill('v') }],
  ] as const) {
    const before = process.cpuUsage();
    await inPool(schema, value, { account: 'acct_1' });
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, `${user + system} µs of the node, of a check that takes seconds`);
  }
  const referring = { $defs: { day: { type: 'string' } }, properties: { day: { $ref: '#/$defs/day' } }, required: ['day'] };
  assert.match((await inPool(referring, { day: 5 }, { account: 'acct_1' })) ?? '', /day/);
  assert.equal(await inPool(referring, { day: 'Monday' }, { account: 'acct_1' }), null);
});

test('a server without a public address is not connected to', async () => {
  const strict = createOutbound({ allow: [] });
  const server = await new McpStandIn().start();
  await assert.rejects(session(server.url, { outbound: strict }), failureOf('unavailable', /not a public address/));
  assert.equal(server.requests.length, 0);
  await Promise.all([server.stop(), strict.close()]);
});
