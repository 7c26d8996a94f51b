/** An MCP server that repeats the credentials that it is sent, in each field that it controls: they reach no agent, person, event or log. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import type { McpServerRow } from '../../../../src/domains/integrations/mcp-servers/entity.ts';
import type { PinnedTool } from '../../../../src/domains/integrations/mcp-servers/pins.ts';
import { mcpServerView } from '../../../../src/domains/integrations/mcp-servers/view.ts';
import type { Json } from '../../../support/json.ts';
import { McpStandIn } from '../../../support/mcp-stand-in.ts';
import { McpWorld } from '../../../support/mcp-world.ts';
import { until } from '../../../support/until.ts';

const pat = 'pat-of-a-person';
const short = 'key-of-a-person';
const rest = 'that-goes-on';
const login = 'a person:pass-of-a/person:1';
const password = login.slice('a person:'.length);
const basic = Buffer.from(login).toString('base64');
const inQuery = 'query/of+a person';
const pin = 20_261_124_193;
const headers = { 'X-PAT': pat, 'X-Key': short, 'X-Api-Key': `${short}-${rest}`, Authorization: `Basic ${basic}`, 'X-Token': String(pin) };
const secrets = [pat, short, rest, basic, login, password, String(pin), inQuery, encodeURIComponent(inQuery), encodeURIComponent(password)];
const echo = [...Object.values(headers), ...secrets.filter((secret) => secret !== rest)].join(' ');

const json = { 'content-type': 'application/json' };
const open: Json = { type: 'object' };
const plain = { name: 'tell', description: 'Tells.', inputSchema: open, annotations: { readOnlyHint: true } };
let world: McpWorld;
/** Of the protocol before: its answers are written by hand here. */
let server: McpStandIn;

before(async () => {
  [world, server] = await Promise.all([McpWorld.start(), new McpStandIn().start({ legacy: true })]);
});
after(() => Promise.all([world.stop(), server.stop()]));

type Answer = (response: ServerResponse, id: unknown) => unknown;
const result =
  (value: Json, more: Record<string, string> = {}): Answer =>
  (response, id) =>
    response.writeHead(200, { ...json, ...more }).end(JSON.stringify({ jsonrpc: '2.0', id, result: value }));
const failure =
  (error: Json): Answer =>
  (response, id) =>
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
const status =
  (code: number, more: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, more).end(echo);
const events =
  (...messages: Json[]): Answer =>
  (response, id) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      messages.map((message) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message, ...(message.result && { id }) })}\n\n`).join(''),
    );
  };

/** Answers requests of these methods by hand, and others as a server without faults. */
function answering(answers: Record<string, Answer>): void {
  const all: Record<string, Answer> = { 'tools/list': result({ tools: [plain] }), ...answers };
  server.instead = ({ url = '' }, response, body) => {
    const { id = null, method } = JSON.parse(body.startsWith('{') ? body : '{}');
    const path = url.startsWith('/mcp') ? '' : Object.keys(all).find((one) => one.startsWith('/') && url.startsWith(one));
    const answer = path === '' ? (all[method] ?? all['*']) : all[path ?? ''];
    if (answer === undefined) return false;
    answer(response, id);
    return true;
  };
}

const connect = (name: string) =>
  world.connect(`${server.url}?api_key=${encodeURIComponent(inQuery)}`, { name, headers }).then(
    (row) => row,
    (error: unknown) => error as Error,
  );

/** All that is known of an error, with its causes. */
const whole = (value: unknown) => inspect(value, { depth: null, maxStringLength: null, maxArrayLength: null, breakLength: Infinity });
function assertClean(where: string, value: unknown): void {
  for (const text of [whole(value), JSON.stringify(value) ?? ''])
    for (const secret of secrets) assert.ok(!text.includes(secret), `${where} has ${secret}: ${text.slice(0, 1_000)}`);
}
function assertNothingSeen(row: McpServerRow | null): void {
  assertClean('the log', world.logged);
  assertClean('the events', world.test.events);
  if (row !== null) assertClean('the list', [mcpServerView(row), { ...row, secrets: '' }]);
}

const text = (value: string) => ({ type: 'text', text: value });
const challenge = (more: string) => ({ 'www-authenticate': `Bearer error="insufficient_scope", ${more}` });
const cut = (at: number) => `${'x'.repeat(at - pat.length + 3)}${pat}`;
const firstPart = pat.slice(0, -4);
const schema = { type: 'object', additionalProperties: { type: 'string' } };

const calls: Record<string, Answer> = {
  'a text': result({ content: [text(echo)] }),
  'several texts': result({ content: [text(pat), text(echo)] }),
  'structured content': result({ content: [], structuredContent: { [echo]: [echo, { [pat]: echo }], pin } }),
  'a link': result({ content: [{ type: 'resource_link', name: echo, title: echo, description: echo, uri: `https://a.example/?${echo}` }] }),
  'a resource': result({ content: [{ type: 'resource', resource: { uri: `https://a.example/${echo}`, text: echo } }] }),
  'a binary resource': result({ content: [{ type: 'resource', resource: { uri: `https://a.example/${echo}`, blob: 'AAAA' } }] }),
  'an image': result({ content: [{ type: 'image', data: 'AAAA', mimeType: `image/${echo}` }] }),
  'hints and metadata': result({ content: [{ ...text('.'), annotations: { title: echo }, _meta: { echo } }], _meta: { [pat]: echo } }),
  'an error of the tool': result({ isError: true, content: [text(echo)] }),
  'an error of the tool that is cut': result({ isError: true, content: [text(cut(8_000))] }),
  'an error of the protocol': failure({ code: -32_603, message: echo, data: { echo } }),
  'an error of the protocol that is cut': failure({ code: -32_603, message: cut(2_000) }),
  'an unknown tool': failure({ code: -32_601, message: echo }),
  'an error with the code of a broken stream': failure({ code: -32_099, message: cut(2_000) }),
  'a demand for another address': failure({ code: -32_042, message: echo, data: { elicitations: [{ url: echo, message: echo }] } }),
  'a name in a result that its schema does not allow': result({ content: [], structuredContent: { [cut(1_000)]: 5 } }),
  'no JSON': (response) => response.writeHead(200, json).end(echo),
  'another type': status(200, { 'content-type': `text/${pat}` }),
  'another encoding': status(200, { ...json, 'content-encoding': `${'x'.repeat(60 - 6)}${pat}` }),
  'a message of its log': events(
    { method: 'notifications/message', params: { level: 'error', data: echo } },
    { result: { content: [text(echo)] } },
  ),
  'an unknown message': events({ method: echo, params: { echo } }, { result: { content: [text(echo)] } }),
  'an answer to another request': events({ id: echo, error: { code: 1, message: echo } }),
  'a header of an answer': result({ content: [text('.')] }, { 'mcp-session-id': pat, 'x-echo': echo }),
  401: status(401, { 'www-authenticate': `Bearer scope="${pat}", resource_metadata="https://a.example/${pat}"` }),
  403: status(403),
  '403 with a scope': status(403, challenge(`scope="${pat}", error_description="${echo}"`)),
  '403 with an address': status(403, challenge(`resource_metadata="https://a.example/${pat}"`)),
  404: status(404),
  429: status(429, { 'retry-after': echo }),
  500: status(500),
};

test('no answer to a call gives credentials to an agent', async () => {
  answering({ 'tools/list': result({ tools: [{ ...plain, outputSchema: schema }] }) });
  const row = (await connect('calls')) as McpServerRow;
  assert.equal(row.status, 'connected', whole(row));
  for (const [field, answer] of Object.entries(calls)) {
    answering({ 'tools/call': answer });
    const outcome = await world.call(row, 'mcp_calls_tell').catch((error: unknown) => error);
    assertClean(field, outcome);
    assert.ok(!whole(outcome).includes(firstPart), `${field} has the first part of a secret`);
    assertNothingSeen(await world.row(row));
  }
  answering({});
});

test('no question during a call gives credentials to the person who decides', async (t) => {
  const asking = await new McpStandIn().start();
  t.after(() => asking.stop());
  const asked: Record<string, Json> = {
    message: { message: echo, requestedSchema: { type: 'object', properties: { sure: { type: 'boolean', description: 'Sure?' } } } },
    default: { message: 'Sure?', requestedSchema: { type: 'object', properties: { sure: { type: 'string', default: pat } } } },
    field: { message: 'Sure?', requestedSchema: { type: 'object', properties: { [pat]: { type: 'boolean' } }, required: [pat] } },
  };
  for (const [name, question] of Object.entries(asked)) asking.asks(name, question);
  const row = await world.connect(`${asking.url}?api_key=${encodeURIComponent(inQuery)}`, { name: 'asks', headers });
  for (const name of Object.keys(asked)) {
    const outcome = await world.call(row, `mcp_asks_${name}`).catch((error: unknown) => error);
    if (name === 'message') assert.match(whole(outcome), /The MCP server asks asks:\\n\[masked\] \[masked\]/);
    assertClean(name, outcome);
  }
});

const definitions: Record<string, Json> = {
  name: { name: `${pat}_find` },
  'a name in the schema': { inputSchema: { type: 'object', properties: { [pat]: { type: 'string' } } } },
  'a description in the schema': { inputSchema: { type: 'object', properties: { a: { description: echo } } } },
  'an allowed value': { inputSchema: { type: 'object', properties: { a: { enum: ['b', pat] } } } },
  'a default value': { inputSchema: { type: 'object', properties: { a: { default: pin } } } },
  'the schema of results': { outputSchema: { type: 'object', properties: { [pat]: {} } } },
};

test('a server with credentials in the name or schema of a tool is refused with the reason, when connected and later', async () => {
  for (const [field, change] of Object.entries(definitions)) {
    answering({ 'tools/list': result({ tools: [{ ...plain, ...change }] }) });
    const refused = (await connect('definitions')) as Error & { code?: string };
    assert.equal(refused.code, 'upstream_failed', `${field}: ${whole(refused)}`);
    assert.match(refused.message, /name or a schema of the tool "(\[masked\]_find|tell)" contains a credential .+ use another credential/);
    assertClean(field, refused);
  }
  answering({});
  const row = (await connect('later')) as McpServerRow;
  answering({ 'tools/list': result({ tools: [plain, { ...plain, ...definitions.name }] }) });
  world.aheadMs += 60_000;
  const shown = (await world.tools(row)).map(({ name }) => name);
  assert.deepEqual(shown, ['mcp_later_tell'], 'the tools that a person has approved stay');
  assert.match(world.logged.join(''), /contains a credential/);
  assertNothingSeen(await world.row(row));
});

test('credentials in the description of a tool are masked, and any change of the description needs approval', async () => {
  const listing = (description: string) => answering({ 'tools/list': result({ tools: [{ ...plain, description, title: echo }] }) });
  listing(echo);
  const row = (await connect('described')) as McpServerRow;
  const [{ hash, description }] = row.tools as [PinnedTool];
  assert.match(description, /^(\[masked\] ?)+$/);
  assertNothingSeen(row);
  const [tool] = await world.tools(row);
  assertClean('the definition for the model', { ...tool });
  // Masked, both descriptions are the same.
  listing(echo.replaceAll(pat, short));
  world.aheadMs += 60_000;
  assert.deepEqual(await world.tools(row), []);
  const [changed] = (await world.row(row)).tools;
  assert.equal(changed!.description, description);
  assert.notEqual(changed!.hash, hash);
  await until(() => world.events(row.accountId).some(({ type }) => type === 'integration.tools_changed'), 'the event');
  assertNothingSeen(await world.row(row));
});

test('a word that is a credential by chance changes no hash, and no answer where the header is not secret', async () => {
  const listed = { 'tools/list': result({ tools: [{ ...plain, name: 'calendar_find', description: 'Finds in the calendar.' }] }) };
  answering(listed);
  const [bare, authored] = await Promise.all([
    world.connect(server.url, { name: 'bare' }),
    world.connect(server.url, { name: 'authored', headers: { 'X-Author': 'calendar' } }),
  ]);
  const secret = await world.connect(server.url, { name: 'described', headers: { 'X-Key': 'Finds in' } });
  assert.deepEqual(
    [authored, secret].map(({ tools }) => tools[0]!.hash),
    [bare.tools[0]!.hash, bare.tools[0]!.hash],
  );
  assert.equal(authored.tools[0]!.description, 'Finds in the calendar.');
  answering({ ...listed, 'tools/call': result({ content: [text('calendar_find is done')] }) });
  assert.equal(await world.call(authored, 'mcp_authored_calendar_find'), 'calendar_find is done');
});

test('no metadata of a connection give credentials to a person', async () => {
  const issuer = new URL(server.url).origin;
  const protectedBy = (more: string): Answer => status(401, { 'www-authenticate': `Bearer ${more}` });
  const resource = (change: Json = {}) => ({ resource: server.url, authorization_servers: [issuer], ...change });
  const authority = (change: Json = {}) => ({
    ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, response_types_supported: ['code'] },
    ...{ code_challenge_methods_supported: ['S256'], client_id_metadata_document_supported: true, ...change },
  });
  const plainJson =
    (value: Json): Answer =>
    (response) =>
      response.writeHead(200, json).end(JSON.stringify(value));
  const metadata = (ofResource: Json = {}, ofAuthority: Json = {}, header = 'realm="a"') => ({
    '*': protectedBy(header),
    '/.well-known/oauth-protected-resource': plainJson(resource(ofResource)),
    '/.well-known/': plainJson(authority(ofAuthority)),
  });
  const registering = { client_id_metadata_document_supported: false, registration_endpoint: `${issuer}/register` };
  const attempts: Record<string, Record<string, Answer>> = {
    'the name of the server': {
      initialize: result({
        protocolVersion: '2025-06-18',
        capabilities: {},
        serverInfo: { name: echo, version: echo },
        instructions: echo,
      }),
    },
    'the version of the protocol': {
      initialize: result({ protocolVersion: echo, capabilities: {}, serverInfo: { name: 'a', version: '1' } }),
    },
    'an error of the first request': { initialize: failure({ code: -32_602, message: echo }) },
    'a session': {
      initialize: result(
        { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } },
        { 'mcp-session-id': pat },
      ),
    },
    'a redirect': { '*': status(307, { location: `http://${pat}.example/${pat}` }) },
    'a scope of the challenge': metadata({}, {}, `scope="${pat}"`),
    'an address of the challenge': metadata({}, {}, `resource_metadata="http://${pat}.example/${pat}"`),
    'no host': metadata({ authorization_servers: [`https://${pat}.invalid/`] }),
    scopes: metadata({ scopes_supported: [pat] }),
    'a page for consent': metadata({}, { authorization_endpoint: `${issuer}/authorize?${pat}` }),
    'an endpoint': metadata({}, { token_endpoint: `${issuer}/token/${pat}` }),
    'an error of metadata': { ...metadata(), '/.well-known/': status(500) },
    'a registration': { ...metadata({}, registering), '/register': plainJson({ client_id: pat, redirect_uris: ['https://a.example'] }) },
    'an error of the registration': {
      ...metadata({}, registering),
      '/register': (response) =>
        response.writeHead(400, json).end(JSON.stringify({ error: 'invalid_client_metadata', error_description: echo })),
    },
  };
  for (const [field, answers] of Object.entries(attempts)) {
    answering(answers);
    const outcome = await connect(`attempt_${Object.keys(attempts).indexOf(field)}`);
    const row = outcome instanceof Error ? null : outcome;
    assertClean(field, row === null ? outcome : row.authorizeUrl);
    assertNothingSeen(row);
  }
});
