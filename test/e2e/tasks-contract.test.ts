/** Tasks and agents from outside: fields of both variants, limits of the configuration, lists, histories, and objects of other accounts. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { EventBody, Invalid, Refused } from '../support/bodies.ts';
import { callTool, finish, silence } from '../support/openai-server.ts';
import { agentGroup, endStatuses, scriptedService, turns } from '../support/scripted-service.ts';
import { Caller } from '../support/service.ts';

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const id = (prefix: string) => new RegExp(`^${prefix}[0-9a-hjkmnp-tv-z]{26}$`);

test('tasks and agents', { timeout: 300_000 }, async (t) => {
  const { service, caller, begin, play, request } = await scriptedService(t);
  const otherAccount = await Caller.register(service);

  await t.test('answers for a task have the fields of both variants, when it is created, read and ended', async () => {
    const created = await begin(
      'fields',
      agentGroup([{ type: 'builder', title: 'A page' }], () => [
        callTool('write_file', { path: 'a.md', content: '# A' }),
        finish('It is there'),
      ]),
    );
    assert.equal(created.status, 'pending');
    assert.match(created.id, id('task_'));
    assert.match(created.created_at, iso);
    assert.equal(created.completed_at, null);
    assert.deepEqual(created.config, { max_agents: 3, autonomy_level: 80, auto_deploy: false, deploy_target: null });
    const task = await caller.untilTask(created.id, endStatuses);
    assert.deepEqual(Object.keys(task), Object.keys(created));
    const agent = task.agents[0];
    const { agents, subtasks, approvals, created_at, updated_at, completed_at, workspace_id, id: taskId, ...rest } = task;
    assert.deepEqual(rest, {
      status: 'complete',
      prompt: 'case fields',
      config: created.config,
      cost: 0.36,
      total_tokens_used: 360,
      total_cost_cents: 0,
      deliverables_count: 1,
      deployment_id: null,
      mode: 'live',
      pause_reason: null,
      waiting_for: null,
      waiting_message: null,
      error: null,
    });
    assert.match(completed_at, iso);
    assert.ok(updated_at >= created_at);
    assert.match(workspace_id, id('ws_'));
    assert.deepEqual(approvals, []);
    assert.deepEqual(subtasks, [
      {
        id: agent.id,
        agent_type: 'builder',
        prompt: 'agent 0 of case fields',
        status: 'complete',
        tokens_used: 240,
        model_used: 'scripted',
      },
    ]);
    assert.match(agent.id, id('agnt_'));
    assert.deepEqual(agents, [
      {
        id: agent.id,
        task_id: taskId,
        type: 'builder',
        title: 'A page',
        status: 'complete',
        waiting_for: null,
        current_tool: null,
        progress: 100,
        result: 'It is there',
        error: null,
      },
    ]);
    assert.deepEqual(await caller.json('GET', `/v1/agents/${agent.id}`), agent);
    assert.deepEqual(await caller.json('GET', `/tasks/${taskId}`), task, 'without the prefix too');
    assert.equal((await caller.fetch('POST', `/v1/tasks/${taskId}/cancel`)).status, 409);
  });

  await t.test('configuration out of bounds is 422 and names the field; values at the bound are stored unchanged', async () => {
    const refused: [object, (string | number)[], string?][] = [
      [{}, ['body', 'prompt'], 'missing'],
      [{ prompt: '' }, ['body', 'prompt'], 'string_too_short'],
      [{ prompt: ' \n\t ' }, ['body', 'prompt']],
      [{ prompt: 5 }, ['body', 'prompt']],
      [{ prompt: 'x'.repeat(32_001) }, ['body', 'prompt'], 'string_too_long'],
      [{ prompt: 'x', config: 'fast' }, ['body', 'config']],
      [{ prompt: 'x', config: [] }, ['body', 'config']],
      [{ prompt: 'x', workspace_id: 5 }, ['body', 'workspace_id']],
    ];
    const config = (value: object): object => ({ prompt: 'x', config: value });
    for (const [field, ...values] of [
      ['max_agents', 0, 21, 1.5, '3', null, -1],
      ['autonomy_level', -1, 101, 50.5, '80', true],
      ['auto_deploy', 'yes', 1],
      ['deploy_target', 'heroku', 5],
      ['model', '', 5, 'x'.repeat(201)],
      ['max_credits', 0, -1, '5', 1e12],
      [
        'output_schema',
        'object',
        [],
        5,
        { type: 'string', pattern: '(' },
        { type: 'nonsense' },
        { $ref: 'https://example.com/s' },
        { description: 'x'.repeat(32_001) },
        nested(40),
      ],
    ] as const) {
      for (const value of values) refused.push([config({ [field]: value }), ['body', 'config', field]]);
    }
    refused.push([config({ auto_deploy: true }), ['body', 'config', 'deploy_target']]);
    for (const [body, loc, type] of refused) {
      const response = await caller.fetch('POST', '/v1/tasks', body);
      const { detail } = (await response.json()) as Invalid;
      assert.equal(response.status, 422, JSON.stringify(body).slice(0, 100));
      assert.deepEqual(detail[0].loc, loc, JSON.stringify(detail).slice(0, 300));
      if (type !== undefined) assert.equal(detail[0].type, type);
      for (const issue of detail) assert.deepEqual(Object.keys(issue).sort(), ['ctx', 'input', 'loc', 'msg', 'type']);
    }
    const notANumber = await fetch(`${service.url}/v1/tasks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
      body: '{"prompt":"x","config":{"max_agents":NaN}}',
    });
    assert.equal(notANumber.status, 400);
    const full = {
      max_agents: 20,
      autonomy_level: 0,
      auto_deploy: false,
      deploy_target: 'expo',
      model: 'other',
      max_credits: 0.001,
      output_schema: { properties: { pattern: { type: 'string' } }, $ref: '#/$defs/any', $defs: { any: true } },
    };
    const task = await begin('bounds', () => silence(), full);
    assert.deepEqual(task.config, full);
    await request('bounds', 1);
    assert.equal((await caller.json('POST', `/v1/tasks/${task.id}/cancel`)).success, true);
    const longest = await caller.json('POST', '/v1/tasks', { prompt: `case bounds ${'é'.repeat(32_000 - 12)}`, config: {}, unknown: 1 });
    assert.equal(longest.prompt.length, 32_000);
    await caller.json('POST', `/v1/tasks/${longest.id}/cancel`);
  });

  await t.test('guidance is a message or instructions of 1 to 2,000 characters', async () => {
    const { id: taskId } = await begin('guide', turns(silence()));
    await request('guide', 2);
    const agentId = (await caller.json('GET', `/v1/tasks/${taskId}`)).agents[0].id;
    const path = `/v1/agents/${agentId}/guide`;
    for (const body of [{}, { message: '' }, { instructions: '  ' }, { message: 'x'.repeat(2_001) }, { message: 5 }, { message: null }]) {
      assert.equal((await caller.fetch('POST', path, body)).status, 422, JSON.stringify(body).slice(0, 50));
    }
    for (const body of [{ message: 'a' }, { instructions: 'x'.repeat(2_000) }, { message: 'a', instructions: 'b' }]) {
      const answer = await caller.json('POST', path, body);
      assert.deepEqual([answer.id, answer.status, typeof answer.message], [agentId, 'thinking', 'string']);
    }
    for (let more = 3; more < 50; more++) await caller.json('POST', path, { message: `number ${more}` });
    assert.equal((await caller.fetch('POST', path, { message: 'one too many' })).status, 409, 'nothing said before is dropped for it');
    for (const [method, foreign] of [
      ['GET', `/v1/tasks/${taskId}`],
      ['GET', `/v1/tasks/${taskId}/events`],
      ['GET', `/v1/tasks/${taskId}/deliverables`],
      ['POST', `/v1/tasks/${taskId}/cancel`],
      ['GET', `/v1/agents/${agentId}`],
      ['POST', `/v1/agents/${agentId}/pause`],
      ['POST', `/v1/agents/${agentId}/resume`],
      ['POST', `/v1/agents/${agentId}/cancel`],
    ] as const) {
      const response = await otherAccount.fetch(method, foreign);
      assert.deepEqual([response.status, typeof ((await response.json()) as Refused).detail], [404, 'string'], foreign);
    }
    assert.equal((await otherAccount.fetch('POST', path, { message: 'hello' })).status, 404);
    const theirs = (await caller.json('GET', `/v1/tasks/${taskId}`)).workspace_id;
    assert.equal((await otherAccount.fetch('POST', '/v1/tasks', { prompt: 'x', workspace_id: theirs })).status, 404);
    await caller.json('POST', `/v1/tasks/${taskId}/cancel`);
  });

  await t.test("the list is newest first, by status and page, and contains only the account's own", async () => {
    const own = await Caller.register(service);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await own.json('POST', '/v1/tasks', { prompt: `case bounds ${n}` })).id);
    await own.json('POST', `/v1/tasks/${ids[1]}/cancel`);
    const all = await own.json('GET', '/v1/tasks');
    assert.deepEqual([all.tasks.map((one: { id: string }) => one.id), all.total, all.limit, all.offset], [ids, 5, 20, 0]);
    assert.deepEqual(Object.keys(all.tasks[0]), ['id', 'status', 'prompt', 'created_at']);
    const page = await own.json('GET', '/v1/tasks?limit=2&offset=3');
    assert.deepEqual([page.tasks.map((one: { id: string }) => one.id), page.total, page.limit, page.offset], [ids.slice(3), 5, 2, 3]);
    const cancelled = await own.json('GET', '/v1/tasks?status=cancelled');
    assert.deepEqual([cancelled.tasks.map((one: { id: string }) => one.id), cancelled.total], [[ids[1]], 1]);
    assert.deepEqual((await own.json('GET', '/v1/tasks?offset=100')).tasks, []);
    for (const query of ['status=done', 'limit=0', 'limit=101', 'limit=x', 'offset=-1', 'limit=1.5']) {
      assert.equal((await own.fetch('GET', `/v1/tasks?${query}`)).status, 422, query);
    }
    for (const one of ids) if (one !== ids[1]) await own.json('POST', `/v1/tasks/${one}/cancel`);
  });

  await t.test('a task’s history comes in pages, ascending, each event once', async () => {
    const task = await play('history', turns(callTool('list_files', {}), callTool('read_file', { path: 'no.txt' })));
    const seen: EventBody[] = [];
    for (let after = 0; ; ) {
      const page = await caller.json('GET', `/v1/tasks/${task.id}/events?after=${after}&limit=3`);
      seen.push(...page.data);
      assert.ok(page.data.length === 3 || !page.has_more);
      if (!page.has_more) {
        assert.equal(page.total, seen.length);
        break;
      }
      after = page.data.at(-1).seq;
    }
    const types = seen.map((event) => event.type);
    assert.deepEqual(types.slice(0, 4), ['task.created', 'task.planning', 'task.running', 'agent.started']);
    assert.deepEqual(types.slice(-2), ['agent.completed', 'task.completed']);
    assert.ok(seen.every((event, index) => index === 0 || event.seq > seen[index - 1]!.seq));
    assert.ok(seen.every((event) => event.data.task_id === task.id && /^evt_/.test(event.id) && iso.test(event.created_at)));
    const streamed = (await caller.events()).filter((event) => event.data.task_id === task.id);
    assert.deepEqual(streamed, seen, 'the stream has the same events');
    assert.deepEqual((await caller.json('GET', `/v1/tasks/${task.id}/events?after=999999999`)).data, []);
    for (const query of ['after=-1', 'after=x', 'limit=0', 'limit=101']) {
      assert.equal((await caller.fetch('GET', `/v1/tasks/${task.id}/events?${query}`)).status, 422, query);
    }
  });
});

function nested(depth: number): object {
  return depth === 0 ? {} : { not: nested(depth - 1) };
}
