/** `/mcp` as clients see it: both generations of the protocol, by their SDKs and by hand, against the whole service. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test, { type TestContext } from 'node:test';
import { Client, discoverOAuthServerInfo, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientOfV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportOfV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Json } from '../../../support/json.ts';
import { McpCaller, withTasks } from '../../../support/mcp-caller.ts';
import { callTool, finish } from '../../../support/openai-server.ts';
import { type ScriptedService, scriptedService, turns } from '../../../support/scripted-service.ts';
import { Caller } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

const allTools = [
  'create_task',
  'run_task',
  'get_task',
  'list_tasks',
  'cancel_task',
  'decide_approval',
  'list_deliverables',
  'get_deliverable',
  'send_message',
];

test('MCP clients use the service', async (t) => {
  const world = await scriptedService(t);
  const { service, caller } = world;
  const mcp = new McpCaller(service.url, caller.token);

  await t.test('a client of v1, and one of v2 in modes auto, legacy and pinned, list tools and run a task', () => checkClients(t, world));

  await t.test('the result of a tool is the body of its endpoint, as structured content and as text', async () => {
    const done = await world.play('plain', turns(callTool('write_file', { path: 'a.md', content: '# Hello' })));
    const of = async (method: string, path: string, body?: object) => caller.json(method, path, body);
    const pairs: [string, object, Json][] = [
      ['get_task', { task_id: done.id }, await of('GET', `/tasks/${done.id}`)],
      ['list_tasks', { status: 'complete', limit: 1 }, await of('GET', '/tasks?status=complete&limit=1')],
    ];
    for (const [name, args, body] of pairs) {
      const result = await mcp.tool(name, args);
      assert.deepEqual(result.structuredContent, body, name);
      assert.deepEqual(JSON.parse(result.content[0].text), body, name);
      assert.equal(result.isError, undefined);
    }
    const [file] = (await mcp.tool('list_deliverables', { task_id: done.id })).structuredContent;
    assert.equal(file.name, 'a.md');
    const legacy = await mcp.legacy('tools/call', { name: 'list_deliverables', arguments: { task_id: done.id } });
    assert.equal(legacy.message.result.structuredContent.result[0].id, file.id, 'before 2026-07-28 structured content is an object');
    const read = await mcp.tool('get_deliverable', { task_id: done.id, deliverable_id: file.id });
    assert.equal(read.structuredContent.id, file.id);
    assert.deepEqual(
      [read.content[1].type, read.content[1].resource.text, read.content[1].resource.mimeType],
      ['resource', '# Hello', 'text/markdown'],
    );
  });

  await t.test('a refusal is a result with isError and the body of the refusal', async () => {
    const missing = await mcp.tool('get_task', { task_id: 'task_00000000000000000000000000' });
    assert.deepEqual([missing.isError, missing.structuredContent], [true, { detail: 'Task not found' }]);
    const blank = await mcp.tool('create_task', { prompt: '' });
    assert.deepEqual([blank.isError, blank.structuredContent.detail[0].loc], [true, ['body', 'prompt']]);
    const without = await mcp.tool('get_task', {});
    assert.deepEqual(without.structuredContent.detail[0].loc, ['arguments', 'task_id']);
    assert.equal((await mcp.tool('list_tasks', { limit: 'many' })).isError, true);
    const { message } = await mcp.modern('tools/call', { name: 'nope', arguments: {} });
    assert.deepEqual(message.error, { code: -32_602, message: 'Unknown tool: nope' });
  });

  await t.test('tools/list shows what the scopes allow; a call beyond is refused as the endpoint refuses it', async () => {
    const program = await caller.program('live', ['tasks.read']);
    const reader = new McpCaller(service.url, program.token);
    const list = async (by: McpCaller) => (await by.modern('tools/list')).message.result.tools.map(({ name }: Json) => name);
    assert.deepEqual(await list(mcp), allTools);
    assert.deepEqual(await list(reader), ['get_task', 'list_tasks', 'list_deliverables', 'get_deliverable']);
    const refused = await reader.tool('create_task', { prompt: 'x' });
    assert.deepEqual([refused.isError, refused.structuredContent], [true, { detail: 'This needs the scope tasks.write' }]);
  });

  await t.test('send_message guides an agent and cancel_task ends its task, as their endpoints do', async () => {
    const waits = turns(callTool('send_email', mail), finish('Done.'));
    const { id, workspace_id: workspace } = await world.begin('guided', waits, {});
    await until(async () => (await caller.json('GET', `/tasks/${id}`)).approvals.length === 1);
    const { agents } = await caller.json('GET', `/tasks/${id}`);
    const guided = await mcp.tool('send_message', { agent_id: agents[0].id, message: 'Be brief' });
    assert.deepEqual([guided.isError, guided.structuredContent.id], [undefined, agents[0].id]);
    const cancelled = await mcp.tool('cancel_task', { task_id: id });
    assert.deepEqual([cancelled.structuredContent.id, cancelled.structuredContent.status], [id, 'cancelled']);
    assert.ok((await caller.events()).some(({ type, data }) => type === 'agent.guided' && data.agent_id === agents[0].id));
    const made = await mcp.tool('create_task', { prompt: 'case plain', workspace_id: workspace, config: { autonomy_level: 10 } });
    assert.deepEqual([made.structuredContent.workspace_id, made.structuredContent.config.autonomy_level], [workspace, 10]);
    const all = (await mcp.tool('list_tasks', { limit: 2 })).structuredContent;
    const second = (await mcp.tool('list_tasks', { limit: 1, offset: 1 })).structuredContent;
    assert.deepEqual([second.tasks.length, second.tasks[0].id], [1, all.tasks[1].id]);
  });

  await t.test('tasks of another account are not found', async () => {
    const { id } = await world.play('own', turns());
    const other = new McpCaller(service.url, (await Caller.register(service)).token);
    assert.deepEqual((await other.tool('get_task', { task_id: id })).structuredContent, { detail: 'Task not found' });
    const { message } = await other.modern('tasks/get', { taskId: id }, { capabilities: withTasks });
    assert.deepEqual(message.error, { code: -32_602, message: 'Task not found' });
  });

  await t.test('an idempotency key, of the request or in the _meta of a call, works as at the endpoint', async () => {
    const header = { headers: { 'idempotency-key': 'mcp one' } };
    const first = await mcp.tool('create_task', { prompt: 'case plain' }, header);
    const second = await mcp.tool('create_task', { prompt: 'case plain' }, header);
    assert.equal(second.structuredContent.id, first.structuredContent.id);
    const again = await caller.json('POST', '/v1/tasks', { prompt: 'case plain' }, { 'idempotency-key': 'mcp one' });
    assert.equal(again.id, first.structuredContent.id, 'one key space with REST');
    const meta = { meta: { idempotency_key: 'mcp one' } };
    assert.equal((await mcp.tool('create_task', { prompt: 'case plain' }, meta)).structuredContent.id, again.id);
  });

  await t.test('run_task is a task whose input requests are the approvals of its agents', () => checkApproval(world, mcp));
  await t.test('decide_approval finds the agent by the approval', () => checkDecision(world, mcp));

  await t.test('subscriptions/listen sends the states of a task until its end', () => checkListening(world, mcp));
  await t.test('a stream ends when its key is revoked', () => checkRevoked(world));

  await t.test('tasks/cancel ends the task and is acknowledged for ended tasks too', async () => {
    const running = turns(callTool('send_email', { to: 'a@example.com', subject: 's', body: 'b' }));
    const { taskId } = await runTask(world, mcp, 'cancelled', running);
    for (const _ of ['a running one', 'an ended one']) {
      const { message } = await mcp.modern('tasks/cancel', { taskId }, { capabilities: withTasks });
      assert.deepEqual(Object.keys(message.result).sort(), ['_meta', 'resultType']);
    }
    assert.equal((await taskOf(mcp, taskId)).status, 'cancelled');
  });

  await t.test('a client without the tasks extension gets no MCP tasks: run_task answers at once, tasks/get is refused', async () => {
    const result = await mcp.tool('run_task', { prompt: 'case plain' });
    assert.deepEqual([result.resultType, result.structuredContent.status], ['complete', 'pending']);
    const { status, message } = await mcp.modern('tasks/get', { taskId: result.structuredContent.id });
    const requiredCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    assert.deepEqual([status, message.error.code, message.error.data], [400, -32_021, { requiredCapabilities }]);
    const { message: legacy } = await mcp.legacy('tools/call', { name: 'run_task', arguments: { prompt: 'case plain' } });
    assert.equal(legacy.result.structuredContent.prompt, 'case plain');
  });

  await t.test("the README's configuration and command of MCP clients have the address and header that work here", async () => {
    const readme = await readFile('README.md', 'utf8');
    const [text] = /\{"mcpServers": .*\}\}\}/.exec(readme) ?? [];
    const { type, url, headers } = JSON.parse(text!).mcpServers.troupe;
    const [, transport, address, header] = /claude mcp add --transport (\S+) troupe (\S+) --header "(.*)"/.exec(readme) ?? [];
    assert.deepEqual([transport, address, header], [type, url, 'Authorization: Bearer $KEY']);
    const { key } = await caller.json('POST', '/v1/api-keys', {
      name: 'reader',
      mode: 'live',
      scopes: ['tasks.read', 'tasks.write', 'agents.write'],
    });
    const requestInit = { headers: { Authorization: headers.Authorization.replace(/mk_live_\S+/, key) } };
    const client = new Client({ name: 'reader', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url.replace('http://127.0.0.1:8080', service.url)), { requestInit }));
    assert.deepEqual((await client.listTools()).tools.map(({ name }) => name).sort(), [...allTools].sort());
    await client.close();
  });

  await t.test('a request without a token is 401 and names the public document about authentication', async () => {
    for (const [prefix, end] of [
      ['', ''],
      ['/v1', '/v1/mcp'],
    ]) {
      const answer = await new McpCaller(service.url, '').modern('tools/list', {}, { path: `${prefix}/mcp` });
      const named = /^Bearer resource_metadata="(.+)"$/.exec(answer.headers.get('www-authenticate') ?? '')?.[1];
      assert.deepEqual([answer.status, named], [401, `${service.url}/.well-known/oauth-protected-resource${end}`]);
      const metadata = (await (await fetch(named!)).json()) as Json;
      assert.deepEqual([metadata.resource, metadata.bearer_methods_supported], [`${service.url}${prefix}/mcp`, ['header']]);
    }
    assert.equal((await new McpCaller(service.url, 'mk_live_wrong').modern('tools/list')).status, 401);
  });

  await t.test('a client with a wrong key fails at once, and one that searches for an authorization server finds none', async () => {
    const url = new URL(`${service.url}/mcp`);
    const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: 'Bearer wrong' } } });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await assert.rejects(client.connect(transport), /401|unauthorized/i);
    await client.close();
    const { authorizationServerMetadata, resourceMetadata } = await discoverOAuthServerInfo(url);
    assert.deepEqual([authorizationServerMetadata, resourceMetadata?.authorization_servers], [undefined, undefined]);
    assert.deepEqual(resourceMetadata?.bearer_methods_supported, ['header']);
  });

  await t.test('a page of a foreign origin is 403, one of the service itself is served', async () => {
    const from = (origin: string) => mcp.modern('tools/list', {}, { headers: { origin } });
    for (const origin of ['https://evil.example', 'null', `${service.url}0`]) assert.equal((await from(origin)).status, 403, origin);
    for (const origin of [service.url, service.url.replace('127.0.0.1', 'localhost')])
      assert.equal((await from(origin)).status, 200, origin);
  });

  await t.test('GET and DELETE are 405', async () => {
    for (const method of ['GET', 'DELETE']) {
      const response = await caller.fetch(method, '/mcp');
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST, OPTIONS']);
    }
  });

  await t.test('a body that is not JSON, too long, or of another type is refused', async () => {
    const broken = await mcp.post('{');
    assert.deepEqual([broken.status, broken.message.error.code], [400, -32_700]);
    assert.equal((await mcp.post('{"jsonrpc":"2.0"}')).status, 400);
    assert.equal((await mcp.post(`"${'x'.repeat(2 ** 20)}"`)).status, 413);
    assert.equal((await mcp.post('{}', { 'content-type': 'text/plain' })).status, 415);
  });

  await t.test('a batch of an earlier revision is answered, and each call of it after the first counts as a request', async () => {
    const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'list_tasks', arguments: {} } });
    const program = await caller.program('live', ['tasks.read']);
    const by = new McpCaller(service.url, program.token);
    const answer = await by.post(JSON.stringify([call(1), call(2), call(3)]));
    assert.equal(answer.text.match(/^data: /gm)?.length, 3);
    const long = await by.post(JSON.stringify(Array.from({ length: 21 }, (_, id) => call(id))));
    assert.deepEqual([long.status, long.message.error], [400, { code: -32_600, message: 'A list has at most 20 messages' }]);
  });
});

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi' };

async function checkClients(t: TestContext, { service, caller, begin }: ScriptedService): Promise<void> {
  const url = new URL(`${service.url}/mcp`);
  const requestInit = { headers: { authorization: `Bearer ${caller.token}` } };
  const info = { name: 'test', version: '1' };
  const clients: [string, () => Promise<{ client: ClientOfV1 | Client; close(): Promise<void> }>][] = [
    [
      'v1',
      async () => {
        const client = new ClientOfV1(info);
        await client.connect(new TransportOfV1(url, { requestInit }) as never);
        return { client, close: () => client.close() };
      },
    ],
  ];
  for (const mode of ['auto', 'legacy', { pin: '2026-07-28' }] as const) {
    clients.push([
      `v2 ${JSON.stringify(mode)}`,
      async () => {
        const client = new Client(info, { versionNegotiation: { mode } });
        await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
        return { client, close: () => client.close() };
      },
    ]);
  }
  for (const [name, connect] of clients) {
    const { client, close } = await connect();
    t.after(close);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map((tool) => tool.name),
      allTools,
      name,
    );
    const call = async (tool: string, args: Record<string, unknown>): Promise<Json> =>
      (await client.callTool({ name: tool, arguments: args })).structuredContent;
    // The scripted model must know the case before the task begins.
    const by = { json: (_method: string, _path: string, body: Record<string, unknown>) => call('create_task', body) } as never;
    const { id } = await begin(`client-${tools.length}-${clients.findIndex(([known]) => known === name)}`, turns(finish('Done.')), {}, by);
    await until(async () => (await call('get_task', { task_id: id })).status === 'complete');
    await close();
  }
}

/** Begins a case through `run_task` of a client with the extension. */
async function runTask(
  { begin }: ScriptedService,
  mcp: McpCaller,
  name: string,
  play: Parameters<ScriptedService['begin']>[1],
): Promise<Json> {
  const by = { json: (_method: string, _path: string, body: object) => mcp.tool('run_task', body, { capabilities: withTasks }) } as never;
  return begin(name, play, {}, by);
}

async function taskOf(mcp: McpCaller, taskId: string): Promise<Json> {
  return (await mcp.modern('tasks/get', { taskId }, { capabilities: withTasks })).message.result;
}

async function checkApproval(world: ScriptedService, mcp: McpCaller): Promise<void> {
  const created = await runTask(world, mcp, 'approved', turns(callTool('send_email', mail), finish('Sent.')));
  const { resultType, taskId, status, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = created;
  assert.deepEqual([resultType, status, ttlMs, pollIntervalMs], ['task', 'working', null, 2_000]);
  assert.ok(Date.parse(createdAt) <= Date.parse(lastUpdatedAt));
  await until(async () => (await taskOf(mcp, taskId)).status === 'input_required');
  const asking = await taskOf(mcp, taskId);
  const [[approvalId, question]] = Object.entries<Json>(asking.inputRequests) as [[string, Json]];
  assert.equal(question.method, 'elicitation/create');
  assert.match(question.params.message, /send_email .*ann@example\.com/);
  const update = (inputResponses: object) => mcp.modern('tasks/update', { taskId, inputResponses }, { capabilities: withTasks });
  const accepted = { action: 'accept', content: { approved: true } };
  for (const answers of [
    ...[
      null,
      {},
      { action: 'accept' },
      { action: 'accept', content: { approved: 'yes' } },
      { action: 'yes', content: { approved: true } },
    ].map((answer) => ({ [approvalId]: answer })),
  ]) {
    const { error } = (await update(answers)).message;
    assert.deepEqual([error.code, /^inputResponses: /.test(error.message)], [-32_602, true], JSON.stringify(answers));
  }
  // Neither an unknown key nor an answer that decides nothing is an error.
  for (const answers of [{}, { nope: accepted }, { [approvalId]: { action: 'cancel' } }])
    assert.equal((await update(answers)).message.result.resultType, 'complete');
  assert.equal((await taskOf(mcp, taskId)).status, 'input_required');
  const decided = await update({ [approvalId]: { action: 'accept', content: { approved: true } } });
  assert.equal(decided.message.result.resultType, 'complete');
  assert.equal((await update({ [approvalId]: accepted })).message.result.resultType, 'complete', 'a repeated answer');
  await until(async () => (await taskOf(mcp, taskId)).status === 'completed');
  const { result, inputRequests } = await taskOf(mcp, taskId);
  assert.deepEqual([inputRequests, result.isError, result.structuredContent.status], [undefined, undefined, 'complete']);
  assert.equal(result.structuredContent.approvals[0].status, 'approved');
}

async function checkDecision(world: ScriptedService, mcp: McpCaller): Promise<void> {
  const { id } = await world.begin('decided', turns(callTool('send_email', mail), finish('Not sent.')));
  const task = async () => (await mcp.tool('get_task', { task_id: id })).structuredContent;
  await until(async () => (await task()).approvals.length === 1);
  const [approval] = (await task()).approvals;
  const otherAccount = new McpCaller(world.service.url, (await Caller.register(world.service)).token);
  const decide = (by: McpCaller, approvalId: string) =>
    by.tool('decide_approval', { approval_id: approvalId, approved: false, reason: 'Not now' });
  assert.deepEqual((await decide(otherAccount, approval.id)).structuredContent, { detail: 'Approval not found' });
  assert.equal((await decide(mcp, 'appr_nope')).isError, true);
  assert.equal((await decide(mcp, approval.id)).structuredContent.id, approval.agent_id);
  await world.caller.untilTask(id, ['complete']);
  assert.deepEqual((await task()).approvals[0].reason, 'Not now');
}

/** The messages of a stream. */
async function* messagesOf(response: Response): AsyncGenerator<Json> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

async function checkListening(world: ScriptedService, mcp: McpCaller): Promise<void> {
  const { taskId } = await runTask(world, mcp, 'listened', turns(callTool('send_email', mail), finish('Sent.')));
  const strange = 'task_00000000000000000000000000';
  const response = await mcp.listen([taskId, strange, taskId]);
  const statuses: string[] = [];
  let acknowledged: Json = null;
  for await (const { method, params, result } of messagesOf(response)) {
    if (method === 'notifications/subscriptions/acknowledged') acknowledged = params.notifications;
    if (result !== undefined) statuses.push(`the stream: ${result.resultType}`);
    if (method !== 'notifications/tasks') continue;
    assert.equal(params.taskId, taskId);
    if (statuses.at(-1) !== params.status) statuses.push(params.status);
    const [approvalId] = Object.keys(params.inputRequests ?? {});
    if (approvalId === undefined) continue;
    const inputResponses = { [approvalId]: { action: 'accept', content: { approved: true } } };
    await mcp.modern('tasks/update', { taskId, inputResponses }, { capabilities: withTasks });
  }
  assert.deepEqual(acknowledged, { taskIds: [taskId] });
  assert.deepEqual(
    statuses.filter((status, i) => !(status === 'working' && i > 0)),
    ['working', 'input_required', 'completed', 'the stream: complete'],
  );
  const { message } = await mcp.modern('subscriptions/listen', { notifications: { taskIds: [taskId] } });
  assert.equal(message.error.code, -32_021, 'without the extension');
}

async function checkRevoked(world: ScriptedService): Promise<void> {
  const { id, key } = await world.caller.json('POST', '/v1/api-keys', { name: 'short', scopes: ['tasks.read', 'tasks.write'] });
  const mcp = new McpCaller(world.service.url, key);
  const { taskId } = await runTask(world, mcp, 'revoked', turns(callTool('send_email', mail)));
  const stream = messagesOf(await mcp.listen([taskId]));
  await stream.next();
  await world.caller.fetch('DELETE', `/v1/api-keys/${id}`);
  await assert.rejects(async () => {
    for await (const { result } of stream) assert.equal(result, undefined);
  });
}
