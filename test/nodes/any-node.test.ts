/** Every node answers every request, wherever the actor lives: two nodes with actors, and one with only the edge role. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { EventBody } from '../support/bodies.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { agentScript, callTool, finish, type OpenAiServer, openAiServer } from '../support/openai-server.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';
import { StreamClient } from '../support/stream-client.ts';
import { until } from '../support/until.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
const ended = ['complete', 'failed', 'cancelled'];

let model: OpenAiServer;
let cluster: ClusterProcesses;
let nodes: NodeProcess[];
let caller: Caller;
/** Turns of agents wait for this. */
let held: Promise<void> = Promise.resolve();

before(async () => {
  if (withoutRedis) return;
  const script = agentScript(
    [{ type: 'builder', title: 'report', prompt: 'write it', after: [] }],
    callTool('write_file', { path: 'report.md', content: '# Done' }),
    finish('done'),
  );
  model = await openAiServer(async (request, n) => {
    await held;
    return script(request, n);
  });
  cluster = await ClusterProcesses.start({
    nodes: 2,
    redis: true,
    env: { MODEL_BASE_URL: model.url, MODEL_API_KEY: 'test-key', MODEL_NAME: 'scripted' },
  });
  await cluster.add({ ROLES: 'edge' });
  await cluster.untilReady();
  nodes = cluster.nodes;
  caller = await Caller.register(nodes[0]!);
});

after(async () => {
  await cluster?.close();
  await model?.close();
});

test('a task that was created on one node is followed, read and downloaded on every other', options, async () => {
  for (const [n, node] of nodes.entries()) {
    const other = nodes[(n + 1) % nodes.length]!;
    const third = nodes[(n + 2) % nodes.length]!;
    const { id } = await caller.at(node).json('POST', '/v1/tasks', { prompt: 'report', config: { autonomy_level: 100 } });
    assert.equal((await caller.at(other).json('GET', `/v1/tasks/${id}`)).id, id, 'at once');
    assert.equal((await caller.at(other).untilTask(id, ended)).status, 'complete');
    const [deliverable] = await caller.at(node).json('GET', `/v1/tasks/${id}/deliverables`);
    const signed = new URL(deliverable.download_url);
    assert.equal(
      await (await fetch(`${third.url}${signed.pathname}${signed.search}`)).text(),
      '# Done',
      'a link of one node opens at another',
    );
    const eventTypes = (await caller.at(third).json('GET', `/v1/tasks/${id}/events?limit=100`)).data.map((event: EventBody) => event.type);
    assert.equal(eventTypes.at(-1), 'task.completed');
  }
});

test('an agent is paused on one node, shown as paused on a second, and resumed by guidance on a third', options, async () => {
  const planning = Promise.withResolvers<void>();
  const working = Promise.withResolvers<void>();
  held = planning.promise;
  const [a, b, c] = nodes as [NodeProcess, NodeProcess, NodeProcess];
  const first = model.requests.length + 1;
  const { id } = await caller.at(a).json('POST', '/v1/tasks', { prompt: 'report', config: { autonomy_level: 100 } });
  await model.request(first);
  held = working.promise;
  planning.resolve();
  // The agent of the task is in a model turn.
  await model.request(first + 1);
  const [agent] = (await caller.at(b).json('GET', `/v1/tasks/${id}`)).agents;
  await caller.at(b).json('POST', `/v1/agents/${agent.id}/pause`);
  assert.equal((await caller.at(c).json('GET', `/v1/agents/${agent.id}`)).status, 'paused');
  working.resolve();
  await caller.at(a).json('POST', `/v1/agents/${agent.id}/guide`, { message: 'be brief' });
  assert.equal((await caller.at(b).untilTask(id, ended)).status, 'complete');
});

test('a file written on any node is read on every node, version by version', options, async () => {
  const { id } = await caller.json('POST', '/v1/workspaces', { name: 'files' });
  for (let version = 1; version <= 6; version++) {
    const file = await caller.at(nodes[version % nodes.length]!).upload(id, 'notes.txt', `version ${version}`);
    assert.equal(file.version, version);
    for (const node of nodes) {
      const response = await caller.at(node).fetch('GET', `/v1/workspaces/${id}/files/notes.txt`);
      assert.equal(await response.text(), `version ${version}`, `on ${node.name}`);
    }
    const signed = new URL(file.download_url);
    for (const node of nodes)
      assert.equal(await (await fetch(`${node.url}${signed.pathname}${signed.search}`)).text(), `version ${version}`);
  }
});

test('a request repeated at another node has its effect once and gets the first answer', options, async () => {
  const headers = { 'idempotency-key': 'once over all nodes' };
  const first = await caller.at(nodes[0]!).json('POST', '/v1/workspaces', { name: 'once' }, headers);
  for (const node of nodes) {
    const again = await caller.at(node).fetch('POST', '/v1/workspaces', { name: 'once' }, headers);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(await again.json(), first);
  }
  for (const node of nodes) assert.equal((await caller.at(node).fetch('POST', '/v1/workspaces', { name: 'once' })).status, 409);
});

test('twenty requests with one key, on all nodes at once, have one effect', options, async () => {
  const headers = { 'idempotency-key': 'at once' };
  const ids = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      for (;;) {
        const response = await caller.at(nodes[n % nodes.length]!).fetch('POST', '/v1/workspaces', { name: 'together' }, headers);
        if (response.status === 201) return ((await response.json()) as { id: string }).id;
        assert.equal(response.status, 409, await response.text());
        assert.ok(response.headers.get('retry-after'), 'it is still running, not refused');
      }
    }),
  );
  assert.equal(new Set(ids).size, 1);
});

test('tokens and keys of one node are valid on every node, and refused on every node when they are revoked', options, async () => {
  const [a, b, c] = nodes as [NodeProcess, NodeProcess, NodeProcess];
  const made = await caller.at(a).json('POST', '/v1/api-keys', { name: 'ci', scopes: ['tasks.read'] });
  const key = { authorization: `Bearer ${made.key}` };
  const status = async (node: NodeProcess) => (await fetch(`${node.url}/v1/tasks`, { headers: key })).status;
  for (const node of nodes) assert.equal(await status(node), 200);
  const sockets = await Promise.all(nodes.map((node) => StreamClient.open(Number(new URL(node.url).port))));
  for (const socket of sockets) {
    socket.send({ type: 'auth', token: made.key });
    await socket.untilMessage('auth_ok');
  }
  assert.equal((await caller.at(b).fetch('DELETE', `/v1/api-keys/${made.id}`)).status, 204);
  for (const socket of sockets) assert.equal(await socket.ended(), 4401);
  for (const node of [a, b, c]) await until(async () => (await status(node)) === 401, `${node.name} to refuse the key`);
});

test('subscribers on every node get every event once and in order, whichever node committed it', options, async () => {
  const ann = await Caller.register(nodes[1]!);
  const sockets = await Promise.all(nodes.map((node) => StreamClient.open(Number(new URL(node.url).port))));
  for (const socket of sockets) {
    socket.send({ type: 'auth', token: ann.token });
    await socket.untilMessage('auth_ok');
  }
  const { id } = await ann.json('POST', '/v1/workspaces', { name: 'events' });
  const uploads = 30;
  await Promise.all(Array.from({ length: uploads }, (_, n) => ann.at(nodes[n % nodes.length]!).upload(id, `file-${n}.txt`, 'words')));
  for (const [n, socket] of sockets.entries()) {
    await socket.until(() => socket.events.length >= uploads);
    const from = socket.messages[0].seq;
    assert.deepEqual(
      socket.events.map(({ prev, event }) => [prev, event.seq]),
      socket.events.map((_, i) => [from + i, from + i + 1]),
      `on ${nodes[n]!.name}`,
    );
    socket.vanish();
  }
});

test('a node with only the edge role owns no shards', options, async () => {
  const owners = await cluster.owners();
  assert.deepEqual([...owners.keys()].sort(), ['node-1', 'node-2']);
});
