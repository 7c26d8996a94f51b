/** MCP servers over HTTP, in the whole service: connected, approved, used by agents, removed; and the consent of a person. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/json.ts';
import { McpStandIn } from '../../../support/mcp-stand-in.ts';
import { OAuthStandIn } from '../../../support/oauth-stand-in.ts';
import { callTool, finish } from '../../../support/openai-server.ts';
import { scriptedService, turns } from '../../../support/scripted-service.ts';
import { until } from '../../../support/until.ts';

test('MCP servers over HTTP', async (t) => {
  const [server, oauth, site] = await Promise.all([new McpStandIn().start(), OAuthStandIn.start(t), scriptedService(t)]);
  t.after(() => server.stop());
  const { caller, service, begin } = site;
  const base = '/v1/integrations/mcp';
  const statusOf = async (body: object, by = caller) => {
    const answer = await by.fetch('POST', base, body);
    return [answer.status, await answer.json()] as [number, Json];
  };
  let docs: Json;

  await t.test('a server is connected with headers whose values are never shown', async () => {
    docs = await caller.json('POST', base, { name: 'docs', url: server.url, headers: { 'X-Key': 'hunter2' } });
    assert.match(docs.id, /^mcp_/);
    const [tool] = docs.tools;
    assert.deepEqual(
      [docs.status, docs.header_names, tool.name, tool.tool_name, tool.status],
      ['connected', ['X-Key'], 'echo', 'mcp_docs_echo', 'approved'],
    );
    const list = await caller.json('GET', base);
    assert.deepEqual([list.total, list.has_more, list.data[0]], [1, false, docs]);
    assert.deepEqual(Object.keys(docs).sort(), [
      ...['authorize_url', 'created_at', 'header_names', 'id', 'mode', 'name', 'reason', 'status', 'tools', 'url'],
    ]);
    assert.deepEqual(Object.keys(tool).sort(), ['description', 'hash', 'name', 'read_only', 'status', 'tool_name']);
    assert.doesNotMatch(JSON.stringify([docs, list]), /hunter2/);
    assert.ok(server.requests.every(({ headers }) => headers['x-key'] === 'hunter2'));
  });

  await t.test('a server that cannot be connected is refused, and nothing is stored', async () => {
    const [taken] = await statusOf({ name: 'docs', url: server.url });
    assert.equal(taken, 409);
    for (const url of ['https://10.0.0.1/mcp', 'http://example.com/mcp', 'https://169.254.169.254/', 'ftp://example.com']) {
      const [status, { detail }] = await statusOf({ name: 'other', url });
      assert.deepEqual([status, detail[0].loc], [422, ['body', 'url']], url);
    }
    assert.equal((await statusOf({ name: 'Other', url: server.url }))[0], 422);
    for (const header of ['Mcp-Session-Id', 'Keep-Alive'])
      assert.equal((await statusOf({ name: 'other', url: server.url, headers: { [header]: 'x' } }))[0], 422, header);
    assert.equal((await statusOf({ name: 'other', url: 'http://127.0.0.1:1/mcp' }))[0], 502);
    assert.equal((await caller.json('GET', base)).total, 1);
  });

  await t.test('keys see those of their own mode, and connect with the scope for it', async () => {
    const reader = await caller.program('test', ['integrations.read']);
    assert.equal((await reader.json('GET', base)).total, 0);
    assert.equal((await reader.fetch('GET', `${base}/${docs.id}`)).status, 404);
    assert.equal((await statusOf({ name: 'mine', url: server.url }, reader))[0], 403);
  });

  await t.test('tasks of keys are offered the tools of their mode and scopes', async () => {
    const tools = [{ name: 'say' }, { name: 'look', annotations: { readOnlyHint: true } }];
    const own = await new McpStandIn().start();
    own.tools = tools;
    const { id } = await caller.json('POST', base, { name: 'own', url: own.url });
    const offered = async (name: string, by = caller): Promise<string[]> => {
      await begin(name, turns(finish('Done.')), {}, by);
      const { body } = await site.request(name, 2);
      return (body.tools ?? []).map((tool) => tool.function.name).filter((tool) => tool.startsWith('mcp_own_'));
    };
    const key = (mode: 'live' | 'test', ...more: string[]) => caller.program(mode, ['tasks.read', 'tasks.write', ...more]);
    const [reader, neither, testing] = await Promise.all([
      key('live', 'integrations.read'),
      key('live'),
      key('test', 'integrations.read', 'integrations.write'),
    ]);
    assert.deepEqual(await offered('own-all'), ['mcp_own_say', 'mcp_own_look']);
    assert.deepEqual(await offered('own-reads', reader), ['mcp_own_look']);
    assert.deepEqual(await offered('own-none', neither), []);
    assert.deepEqual(await offered('own-test', testing), []);
    await caller.fetch('DELETE', `${base}/${id}`);
    await own.stop();
  });

  await t.test('a changed tool is approved by its current hash', async () => {
    const path = `${base}/${docs.id}/approve-tools`;
    const stale = await caller.fetch('POST', path, { tools: [{ name: 'echo', hash: '0'.repeat(64) }] });
    assert.equal(stale.status, 409);
    const approved = await caller.json('POST', path, { tools: [{ name: 'echo', hash: docs.tools[0].hash }] });
    assert.deepEqual(approved, docs);
  });

  await t.test('an agent calls a tool after a person has approved the call', async () => {
    const { id } = await begin('use', turns(callTool('mcp_docs_echo', { text: 'hi' }), finish('Done.')));
    await until(async () => (await caller.json('GET', `/v1/tasks/${id}`)).approvals.length > 0, 'the approval');
    const [approval] = (await caller.json('GET', `/v1/tasks/${id}`)).approvals;
    assert.equal(approval.action, 'mcp_docs_echo');
    await caller.json('POST', `/v1/agents/${approval.agent_id}/approve/${approval.id}`, { approved: true });
    await caller.untilTask(id, ['complete']);
    assert.match(JSON.stringify(site.requestsOf('use').at(-1)!.body.messages), /echo done/);
    assert.deepEqual(server.calls.at(-1), { name: 'echo', args: { text: 'hi' } });
  });

  await t.test('a request of a server during a call becomes an approval', async () => {
    server.asks('drop', {
      message: 'Drop the table?',
      requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] },
    });
    const other = await caller.json('POST', base, { name: 'tables', url: server.url });
    const { id } = await begin('asked', turns(callTool('mcp_tables_drop', {}), finish('Done.')), { autonomy_level: 100 });
    await until(async () => (await caller.json('GET', `/v1/tasks/${id}`)).approvals.length > 0, 'the approval');
    const [approval] = (await caller.json('GET', `/v1/tasks/${id}`)).approvals;
    assert.match(JSON.stringify(approval), /Drop the table\?/);
    await caller.json('POST', `/v1/agents/${approval.agent_id}/approve/${approval.id}`, { approved: true });
    await caller.untilTask(id, ['complete']);
    assert.match(JSON.stringify(site.requestsOf('asked').at(-1)!.body.messages), /answered/);
    await caller.fetch('DELETE', `${base}/${other.id}`);
  });

  await t.test('a change notified by the server emits an event at once, and the tool is off', async () => {
    server.tools[0]!.description = 'Says it again, louder.';
    server.toolsChanged();
    const echo = async () => (await caller.json('GET', `${base}/${docs.id}`)).tools[0];
    await until(async () => (await echo()).status === 'changed', 'the change');
    const { hash } = await echo();
    assert.notEqual(hash, docs.tools[0].hash);
    await caller.json('POST', `${base}/${docs.id}/approve-tools`, { tools: [{ name: 'echo', hash }] });
    assert.equal((await echo()).status, 'approved');
  });

  await t.test('an agent that waits to call a tool of a removed server ends', async () => {
    const { id } = await begin('lost', turns(callTool('mcp_docs_echo', { text: 'hi' }), finish('Done.')));
    await until(async () => (await caller.json('GET', `/v1/tasks/${id}`)).approvals.length > 0, 'the approval');
    assert.equal((await caller.fetch('DELETE', `${base}/${docs.id}`)).status, 204);
    const { agents } = await caller.untilTask(id, ['failed']);
    assert.match(JSON.stringify(agents), /MCP server docs/);
    assert.equal((await caller.fetch('GET', `${base}/${docs.id}`)).status, 404);
    assert.equal((await caller.fetch('DELETE', `${base}/${docs.id}`)).status, 404);
  });

  await t.test('a server that requires a token is connected after a person has consented', async () => {
    const issuer = new URL(server.url).origin;
    const json = (response: Parameters<NonNullable<McpStandIn['instead']>>[1], value: object, status = 200, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
      return true;
    };
    server.instead = ({ url, headers }, response) => {
      if (url === '/.well-known/oauth-protected-resource/mcp')
        return json(response, { resource: server.url, authorization_servers: [issuer], scopes_supported: ['tools'] });
      if (url?.startsWith('/.well-known/oauth-authorization-server')) {
        const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${oauth.url}/token` };
        const methods = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] };
        return json(response, { issuer, ...endpoints, ...methods, client_id_metadata_document_supported: true });
      }
      const isTaken = oauth.taken.has(String(headers.authorization).replace('Bearer ', ''));
      const challenge = `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
      return isTaken ? false : json(response, {}, 401, { 'www-authenticate': challenge });
    };
    const waiting = await caller.json('POST', base, { name: 'guarded', url: server.url });
    assert.deepEqual([waiting.status, waiting.tools], ['authorization_required', []]);
    const consent = new URL(waiting.authorize_url);
    const asked = Object.fromEntries(consent.searchParams);
    const documentUrl = `${service.url}/integrations/oauth-client.json`;
    assert.deepEqual(
      [consent.origin + consent.pathname, asked.response_type, asked.code_challenge_method],
      [`${issuer}/authorize`, 'code', 'S256'],
    );
    assert.deepEqual([asked.client_id, asked.resource, asked.scope], [documentUrl, server.url, 'tools']);
    const document = (await (await fetch(documentUrl)).json()) as Json;
    assert.deepEqual([document.client_id, document.redirect_uris], [documentUrl, [asked.redirect_uri]]);

    const back = `${asked.redirect_uri}?${new URLSearchParams({ code: 'good', state: asked.state! })}`;
    const page = await fetch(back, { redirect: 'manual' });
    assert.equal(page.status, 200);
    assert.match(await page.text(), /The MCP server guarded is connected/);
    assert.deepEqual([oauth.last.form.resource, oauth.last.form.client_id, oauth.last.form.code], [server.url, documentUrl, 'good']);
    assert.ok(oauth.last.form.code_verifier);
    assert.equal((await fetch(back, { redirect: 'manual' })).status, 400);
    const connected = await caller.json('GET', `${base}/${waiting.id}`);
    assert.deepEqual([connected.status, connected.authorize_url, connected.tools[0].status], ['connected', null, 'approved']);
  });

  await t.test('a refused token is renewed by one request, and a revoked one needs another consent', async () => {
    const autonomy = { autonomy_level: 100 };
    const calls = turns(callTool('mcp_guarded_echo', { text: 'again' }), finish('Done.'));
    oauth.taken.clear();
    const before = oauth.tokenRequests.length;
    const { id } = await begin('renew', calls, autonomy);
    await caller.untilTask(id, ['complete']);
    assert.match(JSON.stringify(site.requestsOf('renew').at(-1)!.body.messages), /echo done/);
    assert.deepEqual(
      oauth.tokenRequests.slice(before).map(({ form }) => [form.grant_type, form.resource]),
      [['refresh_token', server.url]],
    );
    oauth.taken.clear();
    oauth.refreshTokens.clear();
    const second = await begin('ended', calls, autonomy);
    await caller.untilTask(second.id, ['complete']);
    const [guarded] = (await caller.json('GET', base)).data;
    assert.deepEqual([guarded.status, guarded.reason], ['authorization_required', 'revoked']);
    assert.ok((await caller.json('GET', `${base}/${guarded.id}`)).authorize_url);
  });

  await t.test('a consent leads back to a registered address, for a client that was registered at the authorization server', async () => {
    const back = 'https://app.example/mcp?x=1';
    await caller.json('PATCH', '/v1/settings', { redirect_uris: [back] });
    const foreign = await statusOf({ name: 'registered', url: server.url, redirect_uri: 'https://app.example/mcp' });
    assert.deepEqual([foreign[0], foreign[1].detail[0].loc], [422, ['body', 'redirect_uri']]);
    const issuer = new URL(server.url).origin;
    let registration: Json;
    server.instead = ({ url, headers }, response, body) => {
      const json = (value: object, status = 200, more = {}) => {
        response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(value));
        return true;
      };
      if (url === '/.well-known/oauth-protected-resource/mcp') return json({ resource: server.url, authorization_servers: [issuer] });
      if (url?.startsWith('/.well-known/')) {
        const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${oauth.url}/token` };
        const methods = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] };
        return json({ issuer, ...endpoints, ...methods, registration_endpoint: `${issuer}/register` });
      }
      if (url === '/register') {
        registration = JSON.parse(body);
        return json({ ...registration, client_id: 'registered-1' }, 201);
      }
      const isTaken = oauth.taken.has(String(headers.authorization).replace('Bearer ', ''));
      const challenge = `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
      return isTaken ? false : json({}, 401, { 'www-authenticate': challenge });
    };
    const waiting = await caller.json('POST', base, { name: 'registered', url: server.url, redirect_uri: back });
    const asked = Object.fromEntries(new URL(waiting.authorize_url).searchParams);
    assert.deepEqual([asked.client_id, asked.resource, registration.redirect_uris], ['registered-1', server.url, [asked.redirect_uri]]);
    const callback = `${asked.redirect_uri}?${new URLSearchParams({ code: 'good', state: asked.state! })}`;
    const returned = await fetch(callback, { redirect: 'manual' });
    assert.deepEqual([returned.status, returned.headers.get('location')], [302, `${back}&${new URLSearchParams({ state: asked.state! })}`]);
    assert.equal(oauth.last.form.client_id, 'registered-1');
    assert.equal((await caller.json('GET', `${base}/${waiting.id}`)).status, 'connected');
    assert.equal((await caller.fetch('DELETE', `${base}/${waiting.id}`)).status, 204);
  });

  await t.test('events report that a server was connected and disconnected, in the form of a connected service', async () => {
    const events: Json[] = (await caller.events()).filter(({ type }) => type.startsWith('integration.'));
    const of = (name: string) => events.filter(({ data }) => data.integration?.name === name).map(({ type, data }) => ({ type, ...data }));
    assert.deepEqual(
      of('docs').map(({ type, integration: { id, service: kind, status, available_tools: tools, mode } }) => [
        type,
        id,
        kind,
        status,
        tools,
        mode,
      ]),
      [
        ['integration.connected', docs.id, 'mcp', 'connected', ['mcp_docs_echo'], 'live'],
        ['integration.disconnected', docs.id, 'mcp', 'disconnected', [], 'live'],
      ],
    );
    assert.deepEqual(
      of('registered').map(({ type, integration: { available_tools: tools } }) => [type, tools]),
      [
        ['integration.connected', ['mcp_registered_echo', 'mcp_registered_drop']],
        ['integration.disconnected', []],
      ],
    );
    assert.deepEqual(
      of('guarded').map(({ type }) => type),
      ['integration.connected', 'integration.error'],
    );
    assert.doesNotMatch(JSON.stringify(events), /hunter2|access-\d|refresh-\d/);
  });
});
