/** Connections to MCP servers: real servers of both protocols, and hostile ones. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { McpFailed } from '../../../../src/domains/integrations/mcp-servers/protocol/failure.ts';
import { type McpSession, openSession, type SessionOptions } from '../../../../src/domains/integrations/mcp-servers/protocol/session.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { McpStandIn } from '../../../support/mcp-stand-in.ts';
import { until } from '../../../support/until.ts';

const outbound = createOutbound({ allow: ['127.0.0.0/8'] });
after(() => outbound.close());
const cancel = () => ({ action: 'cancel' as const });
const open: McpSession[] = [];

async function session(url: string, options: Partial<SessionOptions> = {}): Promise<McpSession> {
  const made = await openSession({ url, headers: {}, accountId: 'acct_1', outbound, ...options });
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

    test('a failure that a tool tells is a result, and one of the protocol is a failure', async () => {
      server.tools.push(
        { name: 'refuses', run: () => ({ isError: true, content: [{ type: 'text', text: 'no such city' }] }) },
        { name: 'breaks', run: () => Promise.reject(new Error('broken')) },
      );
      assert.deepEqual(await call(to, 'refuses'), { content: 'no such city', isError: true });
      await assert.rejects(call(to, 'breaks'), failureOf('invalid'));
    });

    test('a result that is not what the tool declares is a failure', async () => {
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

    test('a server that never answers is a failure once the time is up', async () => {
      server.tools.push({ name: 'hangs', run: () => new Promise(() => {}) });
      const quick = await session(server.url, { limits: { connectMs: 2_000, callMs: 300 } });
      await assert.rejects(call(quick, 'hangs'), failureOf('unavailable', /0\.3 s/));
    });

    test('a server whose connection breaks in the middle of a call is a failure at once', async () => {
      server.instead = (_request, response, body) => {
        if (!body.includes('tools/call')) return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n', () => response.destroy());
        return true;
      };
      await assert.rejects(call(to, 'echo'), failureOf('unavailable'));
      server.instead = null;
    });

    test('a 401, a 403, a 429 and a 500 are told apart', async () => {
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

test('a change of the list is told while the connection is open', async () => {
  const server = await new McpStandIn().start();
  let changes = 0;
  await session(server.url, { toolsChanged: () => changes++ });
  await until(() => server.requests.some(({ rpc }) => rpc.method === 'subscriptions/listen'), 'the subscription');
  server.toolsChanged();
  await until(() => changes > 0, 'the notification');
  await server.stop();
});

test('a server without a public address is not connected to', async () => {
  const strict = createOutbound({ allow: [] });
  const server = await new McpStandIn().start();
  await assert.rejects(session(server.url, { outbound: strict }), failureOf('unavailable', /not a public address/));
  assert.equal(server.requests.length, 0);
  await Promise.all([server.stop(), strict.close()]);
});
