/**
 * Work survives crashes: the service is killed (-9) repeatedly while agents work, and restarted. No acknowledged work may be lost, no
 * finished work may be repeated, and every task must end without help.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { callTool, finish, openAiServer, plan, type Script } from '../support/openai-server.ts';
import { randomFrom } from '../support/random.ts';
import { Caller, startService } from '../support/service.ts';

const kills = 6;
const tasks = 8;
const callsPerAgent = 6;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`agents that are killed between any two steps continue without losing work or repeating finished work (seed ${seed})`, {
  timeout: 300_000,
}, async (t) => {
  t.diagnostic(`seed ${seed}`);
  const random = randomFrom(seed).next;
  const outside = await countingServer(t);
  const model = await openAiServer(work(outside.url));
  t.after(() => model.close());
  const service = await startService(t, {
    MODEL_BASE_URL: model.url,
    MODEL_API_KEY: 'test-key',
    MODEL_NAME: 'scripted',
    OUTBOUND_ALLOW: '127.0.0.0/8',
  });
  const caller = await Caller.register(service);

  const acknowledged: string[] = [];
  const finishedBefore = new Map<string, number>();
  let created = 0;
  for (let kill = 0; kill < kills; kill++) {
    // Some tasks are created while the service is about to die: only what was answered counts.
    const until = Date.now() + 150 + random() * 900;
    while (Date.now() < until) {
      if (created < tasks && random() < 0.5) {
        created++;
        const answer = await caller
          .json('POST', '/v1/tasks', { prompt: `job ${created}`, config: { autonomy_level: 100, max_agents: 2 } })
          .catch(() => null);
        if (answer !== null) acknowledged.push(answer.id);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await service.kill();
    await service.restart();
    // Work recorded as done was done before the kill: it must never be requested again.
    for (const event of await caller.events()) {
      if (event.type !== 'agent.tool_result' || event.data.tool !== 'fetch_url') continue;
      const key = pathOf(event);
      if (key !== null && !finishedBefore.has(key)) finishedBefore.set(key, outside.requests.get(key) ?? 0);
    }
  }
  while (created < tasks) {
    created++;
    acknowledged.push(
      (await caller.json('POST', '/v1/tasks', { prompt: `job ${created}`, config: { autonomy_level: 100, max_agents: 2 } })).id,
    );
  }

  for (const id of acknowledged) {
    const task = await caller.untilTask(id, ['complete', 'failed', 'cancelled'], 120_000);
    assert.equal(task.status, 'complete', JSON.stringify(task));
  }
  const events = await caller.events();
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
    'event numbers are 1, 2, 3 … without a gap or a repeat',
  );
  assert.equal(new Set(events.map((event) => event.id)).size, events.length, 'no event is there twice');

  const results = events
    .filter((event) => event.type === 'agent.tool_result')
    .map((event) => `${event.data.agent_id} ${event.data.call_id}`);
  assert.equal(new Set(results).size, results.length, 'no tool call has two results');
  for (const [path, count] of finishedBefore) assert.equal(outside.requests.get(path), count, `${path} was finished and asked for again`);

  for (const id of acknowledged) {
    const { workspace_id: workspace } = await caller.json('GET', `/v1/tasks/${id}`);
    const files = await caller.json('GET', `/v1/workspaces/${workspace}/files`);
    for (const file of files) assert.equal(file.version, 1, `${file.name} was written once, so it has one version`);
    assert.equal(files.length, 2);
    assert.equal((await caller.json('GET', `/v1/tasks/${id}/deliverables`)).length, 2);
  }
});

/** Each task: two agents in sequence; each fetches some pages, writes a file and finishes. */
function work(outside: string): Script {
  return (request) => {
    const messages = request.body.messages;
    const said = messages.map((message) => JSON.stringify(message.content)).join('\n');
    if (request.body.response_format !== undefined) {
      const job = /job (\d+)/.exec(said)![1];
      return plan([
        { type: 'researcher', title: 'first', prompt: `agent ${job}-a`, after: [] },
        { type: 'builder', title: 'second', prompt: `agent ${job}-b`, after: [0] },
      ]);
    }
    const name = /agent (\d+-[ab])/.exec(said)![1]!;
    const turn = messages.filter((message) => message.role === 'assistant').length;
    if (turn < callsPerAgent) return callTool('fetch_url', { url: `${outside}/${name}/${turn}` });
    if (turn === callsPerAgent) return callTool('write_file', { path: `${name}.txt`, content: `by ${name}` });
    return finish(`done ${name}`);
  };
}

async function countingServer(t: { after(fn: () => void): void }) {
  const requests = new Map<string, number>();
  const server = createServer((request, response) => {
    requests.set(request.url!, (requests.get(request.url!) ?? 0) + 1);
    setTimeout(() => response.end(`page ${request.url}`), 10);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function pathOf(event: { data: { result: unknown } }): string | null {
  return /\/\d+-[ab]\/\d+/.exec(JSON.stringify(event.data.result))?.[0] ?? null;
}
