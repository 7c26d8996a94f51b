/** MCP servers, and their authorization servers, that are out to hold, to flood or to deceive this node. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { completeConsent, withConsentUrl } from '../../../../src/domains/integrations/mcp-servers/connect.ts';
import type { McpServerRow } from '../../../../src/domains/integrations/mcp-servers/entity.ts';
import { McpFailed } from '../../../../src/domains/integrations/mcp-servers/protocol/failure.ts';
import { type McpSession, openSession, type SessionOptions } from '../../../../src/domains/integrations/mcp-servers/protocol/session.ts';
import { toolNameOf } from '../../../../src/domains/integrations/mcp-servers/tool-names.ts';
import { ToolError } from '../../../../src/errors.ts';
import type { Json } from '../../../support/json.ts';
import { McpStandIn } from '../../../support/mcp-stand-in.ts';
import { McpWorld } from '../../../support/mcp-world.ts';
import { OAuthStandIn } from '../../../support/oauth-stand-in.ts';
import { until } from '../../../support/until.ts';

const ends: (() => unknown)[] = [];
const open: McpSession[] = [];
let world: McpWorld;
/** Of the protocol before: its requests are not ended by the library. */
let old: McpStandIn;
let server: McpStandIn;
let oauth: OAuthStandIn;

before(async () => {
  oauth = await OAuthStandIn.start({ after: (end: () => unknown) => void ends.push(end) } as never);
  [world, old, server] = await Promise.all([McpWorld.start(), new McpStandIn().start({ legacy: true }), new McpStandIn().start()]);
});
afterEach(async () => {
  for (const one of [old, server]) {
    one.instead = null;
    one.tools = new McpStandIn().tools;
    one.requests.length = 0;
  }
  await Promise.all(open.splice(0).map((one) => one.close()));
});
after(async () => {
  for (const end of ends) await end();
  await Promise.all([world.stop(), old.stop(), server.stop()]);
});

async function session(to: McpStandIn, options: Partial<SessionOptions> = {}): Promise<McpSession> {
  const { outbound } = world;
  const limits = { connectMs: 10_000, callMs: 2_000 };
  const made = await openSession({
    url: to.url,
    headers: {},
    accountId: 'acct_1',
    outbound,
    check: world.connections.check,
    limits,
    ...options,
  });
  open.push(made);
  return made;
}

function call(of: McpSession, name = 'echo', outputSchema: object | null = null): Promise<{ content: unknown }> {
  const tool = { name, inputSchema: { type: 'object' }, outputSchema } as never;
  return of.call({ tool, args: {}, signal: new AbortController().signal, answer: () => ({ action: 'cancel' }) });
}

async function failureOf(work: Promise<unknown>): Promise<McpFailed> {
  const error = await work.then(
    (result) => assert.fail(`No failure but ${JSON.stringify(result).slice(0, 200)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof McpFailed, (error as Error).stack);
  return error;
}

const jsonType = { 'content-type': 'application/json' };
const eventsType = { 'content-type': 'text/event-stream' };
const event = (message: object) => `data: ${JSON.stringify(message)}\n\n`;
const isCall = (body: string) => body.includes('"tools/call"');
const idOf = (body: string) => JSON.parse(body).id;
const resultFor = (id: unknown) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } });

for (const [form, headers, drop] of [
  ['JSON', jsonType, ' '],
  ['a stream of events', eventsType, ':\n'],
  ['a stream of events with ids', eventsType, 'id: 1\n\n'],
] as const)
  test(`an answer that never ends, as ${form}, is cut off soon after its call has ended`, async () => {
    const to = await session(old);
    let dripping: ServerResponse | undefined;
    old.instead = (_request, response, body) => {
      if (!isCall(body)) return false;
      dripping = response.writeHead(200, headers);
      const timer = setInterval(() => response.write(drop), 20);
      response.on('close', () => clearInterval(timer));
      return true;
    };
    assert.equal((await failureOf(call(to))).failure.type, 'unavailable');
    await until(() => dripping!.destroyed, 'the end of the connection');
    old.instead = null;
    assert.equal((await call(to)).content, 'echo done {}');
  });

test('a gigabyte as an answer, as one text or as events, is cut off after its first megabytes', async () => {
  for (const [headers, chunk] of [
    [jsonType, Buffer.alloc(65_536, 0x20)],
    [eventsType, Buffer.from(`data: ${'x'.repeat(65_528)}\n\n`)],
  ] as const) {
    const to = await session(server);
    let sent = 0;
    let hasEnded = false;
    server.instead = (_request, response, body) => {
      if (!isCall(body)) return false;
      response.writeHead(200, headers);
      const write = () => {
        while (!response.destroyed && sent < 2 ** 30) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
        response.end();
      };
      response.on('close', () => {
        hasEnded = true;
      });
      write();
      return true;
    };
    await failureOf(call(to));
    await until(() => hasEnded, 'the end of the connection');
    assert.ok(sent < 64 * 2 ** 20, `${sent} bytes were taken`);
    server.instead = null;
    assert.equal((await call(to)).content, 'echo done {}');
  }
});

for (const retry of ['0', '99999999999'])
  test(`a server that ends its stream again and again, and says retry ${retry}, is asked once a second at most`, async () => {
    let opened = 0;
    old.instead = ({ method }, response) => {
      if (method !== 'GET') return false;
      opened++;
      response.writeHead(200, eventsType).end(`retry: ${retry}\nid: ${opened}\n\n`);
      return true;
    };
    const begunMs = performance.now();
    await session(old);
    await until(() => opened >= 1, 'the first stream');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    // On a busy machine more time has passed.
    const seconds = (performance.now() - begunMs) / 1_000;
    assert.ok(opened <= 2 + seconds, `${opened} streams in ${seconds} s`);
  });

test('a server that asks by the thousand gets few answers at once', async () => {
  const to = await session(old, { limits: { connectMs: 10_000, callMs: 20_000 } });
  let [replies, max] = [0, 0];
  old.instead = (_request, response, body) => {
    if (isCall(body)) {
      const pings = Array.from({ length: 500 }, (_, n) => event({ jsonrpc: '2.0', id: `p${n}`, method: 'ping' }));
      response.writeHead(200, eventsType).write(pings.join(''));
      // The call is answered a second after the first reply.
      const end = () => void setTimeout(() => response.end(event(resultFor(idOf(body)))), 1_000);
      void until(() => max > 0, 'a reply').then(end, end);
      return true;
    }
    if (JSON.parse(body || '{}').result === undefined) return false;
    max = Math.max(max, ++replies);
    response.on('close', () => replies--);
    return true;
  };
  assert.equal((await call(to)).content, 'done');
  assert.ok(max >= 1 && max <= 16, `${max} answers at once`);
});

test('answers of unknown statuses are failures that leave no connection', async () => {
  const to = await session(old);
  let answered: ServerResponse | undefined;
  old.instead = (_request, response, body) => {
    if (!isCall(body)) return false;
    answered = response;
    response.writeHead(799, jsonType).write('{');
    return true;
  };
  assert.equal((await failureOf(call(to))).failure.type, 'unavailable');
  await until(() => answered!.destroyed, 'the end of the connection');
});

test('compressed answers, which were not requested, are not decompressed', async () => {
  const { brotliCompressSync, gzipSync } = await import('node:zlib');
  const to = await session(old);
  const bomb = Buffer.alloc(2 ** 26, 0x20);
  for (const [encoding, packed] of [
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb, { params: {} })],
  ] as const) {
    old.instead = (_request, response, body) => {
      if (!isCall(body)) return false;
      response.writeHead(200, { ...jsonType, 'content-encoding': encoding }).end(packed);
      return true;
    };
    assert.equal((await failureOf(call(to))).failure.type, 'invalid');
  }
});

test('results of other requests, of none and in a batch are no results; the first of two counts', async () => {
  const to = await session(old);
  const answers = (write: (response: ServerResponse, id: number) => void) => {
    old.instead = (_request, response, body) => {
      if (!isCall(body)) return false;
      write(response, idOf(body));
      return true;
    };
  };
  answers((response, id) => response.writeHead(200, jsonType).end(JSON.stringify(resultFor(id + 1_000))));
  assert.equal((await failureOf(call(to))).failure.type, 'unavailable');
  answers((response) => response.writeHead(200, jsonType).end('[]'));
  assert.equal((await failureOf(call(to))).failure.type, 'unavailable');
  answers((response) => response.writeHead(200, eventsType).end(event(resultFor('x'))));
  assert.equal((await failureOf(call(to))).failure.type, 'unavailable');
  answers((response, id) => response.writeHead(200, jsonType).end(JSON.stringify([resultFor(id), resultFor(id), resultFor(id + 1)])));
  assert.equal((await call(to)).content, 'done');
  const lie = (id: number) => ({ jsonrpc: '2.0', id, error: { code: -32_603, message: 'not done' } });
  answers((response, id) => response.writeHead(200, eventsType).end(event(resultFor(id)) + event(lie(id))));
  assert.equal((await call(to)).content, 'done');
});

test('a wait that no date can hold is a limit without an end', async () => {
  const row = await world.connect(server.url);
  for (const after of ['1e308', '99999999999999', '-1', 'soon', 'Fri, 31 Dec 275760 23:59:59 GMT']) {
    server.instead = (_request, response, body) => {
      if (!isCall(body)) return false;
      response.writeHead(429, { 'retry-after': after }).end();
      return true;
    };
    const error = await world.call(row, 'mcp_docs_echo').catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ToolError, `${after}: ${(error as Error).stack}`);
    assert.equal(error.details?.type, 'rate_limited', after);
  }
});

test('lists without end, of giant tools, or nested without end are refused, and nothing is stored', async () => {
  let schema: Json = { type: 'string' };
  for (let n = 0; n < 2_000; n++) schema = { type: 'object', properties: { a: schema } };
  server.tools = [{ name: 'deep', inputSchema: schema }];
  await assert.rejects(world.connect(server.url), { code: 'upstream_failed' });
  server.tools = Array.from({ length: 501 }, (_, n) => ({ name: `t${n}` }));
  await assert.rejects(world.connect(server.url), { code: 'upstream_failed', message: /more than 500/ });

  let pages = 0;
  const description = 'x'.repeat(100_000);
  server.instead = (_request, response, body) => {
    if (!body.includes('"tools/list"')) return false;
    const tools = [1, 2, 3, 4].map((n) => ({ name: `p${pages}_${n}`, description, inputSchema: { type: 'object' } }));
    const result = { tools, nextCursor: String(++pages), resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    response.writeHead(200, jsonType).end(JSON.stringify({ jsonrpc: '2.0', id: idOf(body), result }));
    return true;
  };
  await assert.rejects(world.connect(server.url), { code: 'upstream_failed' });
  assert.ok(pages > 1 && pages <= 20, `${pages} pages`);
});

test('a result that is nested without end is a failure, and so is one that its schema cannot be checked with in time', async () => {
  let deep: Json = 1;
  for (let n = 0; n < 3_000; n++) deep = [deep];
  server.tools.push(
    { name: 'deep', run: () => ({ content: [], structuredContent: { deep } }) },
    { name: 'wide', run: () => ({ content: [], structuredContent: { many: Array.from({ length: 15_000 }, () => 1) } }) },
  );
  const to = await session(server, { limits: { connectMs: 10_000, callMs: 20_000 } });
  const failure = await failureOf(call(to, 'deep'));
  assert.equal(failure.failure.type, 'unavailable', failure.stack);
  const before = process.cpuUsage();
  await call(to, 'wide', { type: 'object', properties: { many: { type: 'array', uniqueItems: true } } });
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 5_000_000, `${user + system} µs`);
});

test('tools of any names are offered by names that are plain, different and never those of this service', async () => {
  const hostile = [
    'a b',
    'a_b',
    'a\u0000b',
    'a\nb',
    'send_email',
    '__proto__',
    'constructor',
    'x'.repeat(300),
    '\u202eevil',
    '\ud800',
    '',
    'ÄÖ',
    '../..',
  ];
  server.tools = [...hostile, 'a b'].map((name, n) => ({ name, description: `number ${n}\u0000\ud800` }));
  const row = await world.connect(server.url, { name: 'names' });
  assert.equal((await world.row(row)).tools.length, hostile.length);
  const offered = (await world.tools(row)).map(({ name }) => name);
  assert.deepEqual([offered.length, new Set(offered).size], [hostile.length, hostile.length]);
  for (const name of offered) assert.match(name, /^mcp_names_[A-Za-z0-9_-]{0,54}$/);
  // No header can name half of a character.
  for (const name of hostile.filter((one) => one !== '' && one !== '\ud800'))
    assert.match(String(await world.call(row, toolNameOf('names', name))), /done/);
});

test('the tools of a server that reports changes endlessly are listed at most once in an interval', async () => {
  const restless = await new McpStandIn().start();
  const row = await world.connect(restless.url);
  const sent = (method: string) => restless.requests.filter(({ rpc }) => rpc.method === method).length;
  await until(() => sent('subscriptions/listen') > 0, 'the subscription');
  const before = sent('tools/list');
  const begunMs = performance.now();
  for (let n = 0; n < 8; n++) {
    restless.tools = [{ name: `renamed_${n}` }];
    restless.toolsChanged();
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  await until(() => sent('tools/list') > before, 'the list request');
  const [lists, seconds] = [sent('tools/list') - before, (performance.now() - begunMs) / 1_000];
  assert.ok(lists <= 1 + seconds / 5, `${lists} list requests in ${seconds} s`);
  await until(async () => (await world.tools(row)).length === 0, 'the changed list');
  await restless.stop();
});

/** The metadata of a server that wants a token, and of its authorization server. */
function wantsToken(change: (metadata: { resource: Json; issuer: Json }) => void = () => {}): void {
  const issuer = new URL(server.url).origin;
  server.instead = ({ url = '', headers }, response) => {
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${oauth.url}/token` };
    const methods = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] };
    const metadata = {
      resource: { resource: server.url, authorization_servers: [issuer], scopes_supported: ['tools'] } as Json,
      issuer: { issuer, ...endpoints, ...methods, client_id_metadata_document_supported: true } as Json,
    };
    change(metadata);
    if (url.startsWith('/.well-known/oauth-protected-resource')) response.writeHead(200, jsonType).end(JSON.stringify(metadata.resource));
    else if (url.startsWith('/.well-known/')) response.writeHead(200, jsonType).end(JSON.stringify(metadata.issuer));
    else if (oauth.taken.has(String(headers.authorization).replace('Bearer ', ''))) return false;
    else {
      const challenge = `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    return true;
  };
}

async function consent(row: McpServerRow): Promise<McpServerRow> {
  const asked = new URL((await withConsentUrl(world.parts, await world.row(row), Date.now())).authorizeUrl!).searchParams;
  const state = asked.get('state')!;
  const returned = (await world.parts.authorizations.returned(state))!;
  await completeConsent(world.parts, returned, { code: 'good', state, iss: null });
  return world.row(row);
}

test('metadata that arrive drop by drop, or never, end the attempt', async () => {
  world.parts.discoveryMs = 500;
  try {
    for (const isMute of [false, true]) {
      const dripping: ServerResponse[] = [];
      server.instead = ({ url = '' }, response) => {
        if (!url.startsWith('/.well-known/')) {
          response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
          return true;
        }
        dripping.push(response);
        if (isMute) return true;
        response.writeHead(200, jsonType);
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
        return true;
      };
      await assert.rejects(world.connect(server.url), { code: 'upstream_failed' });
      await until(() => dripping.every((one) => one.destroyed), 'the end of the connections');
    }
  } finally {
    delete world.parts.discoveryMs;
  }
});

test('metadata that name another issuer, another resource, private places or addresses of no web are refused', async () => {
  for (const [what, change] of [
    ['another issuer', ({ issuer }) => (issuer.issuer = 'https://issuer.example')],
    ['another resource', ({ resource }) => (resource.resource = 'https://resource.example/mcp')],
    ['a private authorization server', ({ resource }) => (resource.authorization_servers = ['http://10.0.0.1/'])],
    ['a script', ({ issuer }) => (issuer.authorization_endpoint = 'javascript:alert(1)')],
    ['an unencrypted token endpoint', ({ issuer }) => (issuer.token_endpoint = 'http://tokens.example/token')],
    ['a giant address', ({ issuer }) => (issuer.authorization_endpoint = `https://a.example/${'x'.repeat(100_000)}`)],
    ['no metadata', ({ issuer }) => delete issuer.token_endpoint],
  ] as [string, (metadata: { resource: Json; issuer: Json }) => void][]) {
    wantsToken(change);
    await assert.rejects(world.connect(server.url), { code: 'upstream_failed' }, what);
  }
});

test('scopes by the thousand, and such that no scope can be, are not passed on', async () => {
  wantsToken(({ resource }) => {
    resource.scopes_supported = ['tools', 'a\u0000b', 'x"y', 'z'.repeat(5_000), ...Array.from({ length: 5_000 }, (_, n) => `scope-${n}`)];
  });
  const row = await world.connect(server.url);
  const scopes = new URL(row.authorizeUrl!).searchParams.get('scope')!.split(' ');
  assert.deepEqual([scopes[0], scopes[1], scopes.length], ['tools', 'scope-0', 50]);
});

test('a token answer that lies about its life connects all the same, and one without a token that can be sent is refused', async () => {
  const taken = 'access-of-hostile';
  const good = { access_token: taken, token_type: 'Bearer', refresh_token: 'refresh-1', expires_in: 3_600 };
  for (const [more, hasEnd, renewable] of [
    [{ expires_in: -1 }, false, true],
    [{ expires_in: 0 }, false, true],
    [{ expires_in: 1e308 }, true, true],
    [{ expires_in: 1e15 }, true, true],
    [{ expires_in: '3600' }, true, true],
    [{ refresh_token: '' }, true, false],
    [{ refresh_token: undefined }, true, false],
    [{ token_type: 'bearer' }, true, true],
  ] as const) {
    wantsToken();
    const row = await world.connect(server.url);
    oauth.taken.add(taken);
    oauth.tokenFaults = [{ json: { ...good, ...more } }];
    const connected = await consent(row);
    assert.deepEqual(
      [connected.status, connected.expiresAt !== null, connected.renewable],
      ['connected', hasEnd, renewable],
      JSON.stringify(more),
    );
    oauth.taken.delete(taken);
  }
  for (const fault of [
    { json: { ...good, access_token: 'two\r\nlines' } },
    { json: { ...good, access_token: 'ключ' } },
    { json: { ...good, access_token: '' } },
    { json: { ...good, access_token: 'x'.repeat(100_000) } },
    { json: { ...good, token_type: 'DPoP' } },
    { json: { ...good, token_type: undefined } },
    { json: { error: 'invalid_grant' } },
    { json: ['Bearer', taken] },
    { text: '<html>' },
    { json: { ...good, more: 'x'.repeat(2 ** 20) } },
    { json: { ...good, more: Array(30_000).fill(0) } },
    { status: 302, headers: { location: 'http://10.0.0.1/token' } },
    { status: 302, headers: { location: '/token' } },
  ]) {
    wantsToken();
    const row = await world.connect(server.url);
    oauth.tokenFaults = Array.from({ length: 8 }, () => fault);
    await assert.rejects(consent(row), { code: 'upstream_failed' }, JSON.stringify(fault).slice(0, 200));
    assert.equal((await world.row(row)).status, 'authorization_required');
    oauth.tokenFaults = [];
  }
});

test('a token that has ended and cannot be renewed is not sent', async () => {
  wantsToken();
  const row = await world.connect(server.url);
  [oauth.withRefresh, oauth.expiresIn] = [false, 1];
  try {
    await consent(row);
  } finally {
    [oauth.withRefresh, oauth.expiresIn] = [true, 3_600];
  }
  const { expiresAt } = await world.row(row);
  await until(() => Date.now() > expiresAt!, 'the end of the token');
  const planned = await world.tool(row, 'mcp_docs_echo');
  const sent = server.requests.length;
  const context = { signal: new AbortController().signal, approvedBasis: null } as never;
  const error = await planned.run({}, context).catch((thrown: unknown) => thrown);
  assert.equal((error as ToolError).details?.type, 'forbidden', (error as Error).stack);
  assert.equal(server.requests.length, sent);
  assert.deepEqual([(await world.row(row)).status, (await world.row(row)).reason], ['authorization_required', 'expired']);
});

test('an answer to a question that is longer than can be shown is not offered for approval', async () => {
  const properties = { note: { type: 'string', default: 'x'.repeat(20_000) } };
  server.asks('drop', { message: 'Drop the table?', requestedSchema: { type: 'object', properties, required: ['note'] } });
  const row = await world.connect(server.url);
  await assert.rejects(world.call(row, 'mcp_docs_drop'), { name: 'ToolError', message: /longer than can be shown/ });
});
