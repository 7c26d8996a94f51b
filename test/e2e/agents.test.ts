/** Agents in the whole service, with a model that answers wrongly, fails, hangs and exceeds limits: clear ends and bounded costs. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import type { EventBody } from '../support/bodies.ts';
import {
  type Behaviour,
  callTool,
  callTools,
  cutAfter,
  failure,
  finish,
  json,
  plan,
  say,
  silence,
  silenceAfter,
  text,
} from '../support/openai-server.ts';
import type { Scope } from '../support/scope.ts';
import { agentGroup, endStatuses, scriptedService, turns } from '../support/scripted-service.ts';
import { Caller } from '../support/service.ts';
import { until } from '../support/until.ts';

/** What every scripted answer reports as its usage. */
const tokensPerAnswer = 120;
const forever = (behaviour: Behaviour) => turns(...Array<Behaviour>(300).fill(behaviour));
const piece = (more: object) => ({ type: 'email', title: 'piece', prompt: 'work', after: [], ...more });

test('agents', { timeout: 600_000 }, async (t) => {
  const world = await scriptedService(t);
  const { caller, service } = world;
  const act = (path: string, body: object = {}) => caller.json('POST', path, body);
  const untilAgent = async (id: string, isSo: (agent: any) => boolean): Promise<any> => {
    let agent: any;
    await until(async () => {
      agent = await caller.json('GET', `/v1/agents/${id}`);
      return isSo(agent);
    }, `agent ${id}`);
    return agent;
  };
  const eventsOf = async (id: string): Promise<EventBody[]> => (await caller.json('GET', `/v1/tasks/${id}/events?limit=100`)).data;

  await t.test('a model without a valid plan fails the task after three tries, which are charged', async () => {
    for (const [name, nonsense, words] of [
      ['plan-words', text('I would rather talk.'), /not JSON/],
      ['plan-shape', json({ agents: [{ type: 'pirate' }] }), /does not fit/],
      ['plan-none', json({ agents: [] }), /does not fit/],
      ['plan-fifty', plan(Array.from({ length: 50 }, () => piece({}))), /50 agents, and max_agents is 3/],
      ['plan-circle', plan([piece({ after: [1] }), piece({ after: [0] })]), /wait for each other/],
      ['plan-nobody', plan([piece({ after: [7] })]), /wait for each other|not in the list/],
    ] as const) {
      const task = await world.play(name, () => nonsense);
      assert.equal(task.status, 'failed', name);
      assert.match(task.error, words, name);
      assert.equal(world.requestsOf(name).length, 3, name);
      assert.equal(task.total_tokens_used, 3 * tokensPerAnswer, name);
      assert.deepEqual(task.agents, []);
    }
  });

  await t.test("a plan that is valid on the second try is used, for any order of its agents' dependencies", async () => {
    const pieces = [piece({ prompt: 'agent 0 of case plan-second', after: [1] }), piece({ prompt: 'agent 1 of case plan-second' })];
    const task = await world.play('plan-second', ({ isPlan, n, said }) =>
      isPlan
        ? n === 1
          ? text('hm')
          : plan(pieces)
        : finish(said.includes('agent 1 of') && !said.includes('agent 0 of') ? 'words of the second' : 'all'),
    );
    assert.equal(task.status, 'complete');
    const last = world.requestsOf('plan-second').at(-1)!;
    assert.match(JSON.stringify(last.body.messages), /agent 0 of.*words of the second/s, 'the waiting agent gets what came before');
    assert.equal(task.total_tokens_used, 4 * tokensPerAnswer);
  });

  await t.test('an agent whose model calls unknown tools, or with invalid arguments, is stopped after three answers', async () => {
    for (const [name, behaviour, words] of [
      ['no-tool', callTool('launch_rocket', {}), /no tool "launch_rocket"/],
      ['bad-json', callTool('read_file', '{"path": '), /not valid JSON/],
      ['bad-arguments', callTool('read_file', { file: 5 }), /path/],
      ['not-its-tool', callTool('code_exec', { code: '1' }), /no tool "code_exec"/],
    ] as const) {
      const task = await world.play(name, forever(behaviour));
      assert.equal(task.status, 'failed', name);
      assert.match(task.error, words, name);
      assert.equal(task.agents[0].status, 'error');
      assert.equal(world.requestsOf(name).length, 1 + 3, name);
      assert.equal(task.total_tokens_used, 4 * tokensPerAnswer);
    }
  });

  await t.test('a model that answers with nothing, refuses, or fails, ends the task with the reason', async () => {
    for (const [name, behaviour, words] of [
      ['empty', text(''), /nothing|empty/i],
      ['refusal', say({ refusal: 'I cannot help with that' }), /refus/i],
      ['broken', failure(400, 'bad schema'), /400|bad schema/],
      ['gone', failure(404, 'no such model'), /knows no model/],
      ['forbidden', failure(401, 'wrong key'), /401|key/i],
    ] as const) {
      const task = await world.play(name, forever(behaviour));
      assert.equal(task.status, 'failed', name);
      assert.match(task.error, words, name);
      assert.ok(world.requestsOf(name).length <= 10, `${name}: ${world.requestsOf(name).length} requests`);
    }
  });

  await t.test('requests to a slow, busy or disconnected endpoint are retried, and the work completes', async () => {
    const [slowDown, cut, down] = await Promise.all([
      world.play('busy', ({ isPlan, n, said, request, turn }) =>
        n === 2
          ? failure(429, 'slow down', { headers: { 'retry-after': '1' } })
          : turns(finish('after all'))({ isPlan, n, said, request, turn }),
      ),
      world.play('cut', (asked) => (asked.n === 2 ? cutAfter('I was about to') : turns(finish('after all'))(asked))),
      world.play('down', (asked) => (asked.n === 2 || asked.n === 3 ? failure(503) : turns(finish('after all'))(asked))),
    ]);
    for (const task of [slowDown, cut, down]) {
      assert.equal(task.status, 'complete', JSON.stringify(task));
      assert.equal(task.agents[0].result, 'after all');
    }
    for (const task of [slowDown, down])
      assert.equal(task.total_tokens_used, 2 * tokensPerAnswer, 'an answer that never came costs nothing');
    assert.ok(cut.total_tokens_used >= 2 * tokensPerAnswer, 'one that broke off has cost something');
  });

  await t.test('a model that repeats the same calls is stopped', async () => {
    const task = await world.play('circles', forever(callTool('list_files', {})));
    assert.equal(task.status, 'failed');
    assert.match(task.error, /circles/);
    assert.equal(world.requestsOf('circles').length, 1 + 5);
  });

  const mail = callTool('send_email', { to: 'ann@example.com', subject: 'Hello', body: 'From the test' });
  const mailsAbout = async (subject: string): Promise<number> => {
    const folder = join(service.dataDir, 'mail');
    const names = await readdir(folder).catch(() => []);
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    return texts.filter((one) => one.includes(`Subject: ${subject}`)).length;
  };
  const mailAbout = (subject: string) => callTool('send_email', { to: 'ann@example.com', subject, body: 'Hi' });
  const untilWaiting = async (id: string) => {
    for (;;) {
      const task = await caller.untilTask(id, ['running', ...endStatuses]);
      if (task.approvals.length > 0 || endStatuses.includes(task.status)) return task;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  await t.test('below autonomy 100 an e-mail waits for a person; approved once it is sent once, and deciding again is 409', async () => {
    const { id } = await world.begin('approve', turns(mailAbout('Approved'), finish('sent')), { autonomy_level: 99 });
    const waiting = await untilWaiting(id);
    const [approval] = waiting.approvals;
    assert.equal(approval.status, 'pending');
    assert.equal(approval.action, 'send_email');
    assert.equal(approval.arguments.subject, 'Approved');
    assert.equal(approval.task_id, id);
    assert.equal(waiting.agents[0].status, 'waiting');
    assert.equal(waiting.agents[0].current_tool, 'send_email');
    assert.equal(await mailsAbout('Approved'), 0);
    const path = `/v1/agents/${approval.agent_id}/approve`;
    assert.equal((await caller.fetch('POST', `${path}/appr_nonsense`, { approved: true })).status, 404);
    assert.equal((await caller.fetch('POST', `${path}/${approval.id}`, { approved: 'maybe' })).status, 422);
    const otherAccount = await Caller.register(service);
    assert.equal((await otherAccount.fetch('POST', `${path}/${approval.id}`, { approved: true })).status, 404);
    const decide = async (approved: boolean) => (await caller.fetch('POST', `${path}/${approval.id}`, { approved })).status;
    assert.deepEqual((await Promise.all([decide(true), decide(false)])).sort(), [200, 409], 'of two who decide at once, one does');
    const task = await caller.untilTask(id, endStatuses);
    assert.equal(task.status, 'complete');
    assert.equal(await mailsAbout('Approved'), task.approvals[0].status === 'approved' ? 1 : 0);
    assert.equal(await decide(true), 409);
    const types = (await eventsOf(id)).map((event) => event.type);
    assert.equal(types.filter((type) => type === 'approval.required').length, 1);
    assert.equal(types.filter((type) => type === 'agent.waiting').length, 1);
  });

  await t.test('the model gets a rejection and its reason, and nothing is sent', async () => {
    const { id } = await world.begin('reject', turns(mailAbout('Rejected'), finish('not sent')), { autonomy_level: 0 });
    const { approvals } = await untilWaiting(id);
    const answer = await act(`/v1/agents/${approvals[0].agent_id}/approve/${approvals[0].id}`, { approved: false, reason: 'too informal' });
    assert.deepEqual([answer.status, answer.id], ['thinking', approvals[0].agent_id]);
    const task = await caller.untilTask(id, endStatuses);
    assert.deepEqual([task.status, task.approvals[0].status, task.approvals[0].reason], ['complete', 'rejected', 'too informal']);
    assert.match(JSON.stringify(world.requestsOf('reject').at(-1)!.body.messages), /too informal/);
    assert.equal(await mailsAbout('Rejected'), 0);
  });

  await t.test('with autonomy 100 the e-mail is sent at once; a pending approval of a cancelled agent can no longer be given', async () => {
    const sent = await world.play('autonomous', turns(mailAbout('Autonomous')), { autonomy_level: 100 });
    assert.equal(sent.status, 'complete');
    assert.deepEqual(sent.approvals, []);
    assert.equal(await mailsAbout('Autonomous'), 1);
    const { id } = await world.begin('too-late', turns(mail));
    const { approvals } = await untilWaiting(id);
    const agent = `/v1/agents/${approvals[0].agent_id}`;
    assert.equal((await act(`${agent}/cancel`)).status, 'cancelled');
    const late = await caller.fetch('POST', `${agent}/approve/${approvals[0].id}`, { approved: true });
    assert.equal(late.status, 409);
    const task = await caller.untilTask(id, endStatuses);
    assert.deepEqual([task.status, task.error], ['failed', 'All agents were cancelled']);
    for (const action of ['pause', 'resume', 'cancel'])
      assert.equal((await caller.fetch('POST', `${agent}/${action}`)).status, 409, action);
    assert.equal((await caller.fetch('POST', `${agent}/guide`, { message: 'hello?' })).status, 409);
  });

  await t.test('a paused agent completes its tool call and starts nothing after it; guidance resumes it and is read', async () => {
    const page = await slowPage(t);
    const { id } = await world.begin(
      'pause',
      agentGroup([{ type: 'researcher' }], () => [callTool('fetch_url', { url: page.url }), finish('read')]),
    );
    await page.asked;
    const { agents } = await caller.json('GET', `/v1/tasks/${id}`);
    const agent = `/v1/agents/${agents[0].id}`;
    assert.equal((await act(`${agent}/pause`)).status, 'paused');
    assert.equal((await caller.fetch('POST', `${agent}/pause`)).status, 409, 'paused already');
    page.answer('the page');
    await caller.untilTask(id, ['paused']);
    await until(async () => (await eventsOf(id)).some((event) => event.type === 'agent.tool_result'), 'the result of the tool');
    assert.equal((await caller.json('GET', agent)).status, 'paused');
    assert.equal(world.requestsOf('pause').length, 2, 'the model was not asked again');
    assert.equal((await caller.json('GET', `/v1/tasks/${id}`)).pause_reason, 'agents');
    const guided = await act(`${agent}/guide`, { instructions: 'mention the harbour' });
    assert.equal(guided.status, 'thinking');
    const task = await caller.untilTask(id, endStatuses);
    assert.equal(task.status, 'complete');
    assert.match(JSON.stringify(world.requestsOf('pause')[2]!.body.messages), /the page.*mention the harbour/s);
  });

  await t.test('the task shows at once what an agent was told, and its agents that the task was cancelled', async () => {
    const shown = async (id: string) => caller.json('GET', `/v1/tasks/${id}`);
    for (let round = 0; round < 5; round++) {
      const page = await slowPage(t);
      const paused = await world.begin(
        `shown-${round}`,
        agentGroup([{ type: 'researcher' }], () => [callTool('fetch_url', { url: page.url })]),
      );
      await page.asked;
      const agentId = (await shown(paused.id)).agents[0].id;
      for (const [action, body, isPaused] of [
        ['pause', {}, true],
        ['resume', {}, false],
        ['pause', {}, true],
        ['guide', { message: 'go on' }, false],
      ] as const) {
        await act(`/v1/agents/${agentId}/${action}`, body);
        assert.equal((await shown(paused.id)).agents[0].status === 'paused', isPaused, action);
      }
      await act(`/v1/tasks/${paused.id}/cancel`);
      assert.equal((await caller.json('GET', `/v1/agents/${agentId}`)).status, 'cancelled');
      for (const approved of [true, false]) {
        const { id } = await world.begin(`shown-decision-${round}-${approved}`, turns(mailAbout('Shown'), silence()));
        const [approval] = (await untilWaiting(id)).approvals;
        await act(`/v1/agents/${approval.agent_id}/approve/${approval.id}`, { approved });
        assert.equal((await shown(id)).approvals[0].status, approved ? 'approved' : 'rejected');
        await act(`/v1/agents/${approval.agent_id}/cancel`);
        assert.equal((await shown(id)).agents[0].status, 'cancelled');
      }
    }
  });

  await t.test('resume continues at the same step', async () => {
    const page = await slowPage(t);
    const { id } = await world.begin(
      'resume',
      agentGroup([{ type: 'researcher' }], () => [callTool('fetch_url', { url: page.url })]),
    );
    await page.asked;
    const agentId = (await caller.json('GET', `/v1/tasks/${id}`)).agents[0].id;
    await act(`/v1/agents/${agentId}/pause`);
    page.answer('late');
    await untilAgent(agentId, (agent) => agent.current_tool === null);
    assert.deepEqual((await act(`/v1/agents/${agentId}/resume`)).status, 'acting');
    const task = await caller.untilTask(id, endStatuses);
    assert.equal(task.status, 'complete');
    assert.ok(!(await eventsOf(id)).some((event) => event.type === 'agent.error'));
  });

  await t.test('guidance that arrives during the final answer is read before the agent ends', async () => {
    let answer: (() => void) | null = null;
    const held: Behaviour = async (response, request) => {
      await new Promise<void>((resolve) => (answer = resolve));
      await finish('too early')(response, request);
    };
    const { id } = await world.begin('guided', turns(held, finish('with the harbour')));
    await world.request('guided', 2);
    const agentId = (await caller.json('GET', `/v1/tasks/${id}`)).agents[0].id;
    assert.equal((await act(`/v1/agents/${agentId}/guide`, { message: 'and the harbour' })).status, 'thinking');
    answer!();
    const task = await caller.untilTask(id, endStatuses);
    assert.equal(task.agents[0].result, 'with the harbour');
  });

  await t.test('cancelling ends the model’s connection at any time, and nothing more is charged', async () => {
    for (const [name, play, requests] of [
      ['cancel-plan', () => silence(), 1],
      ['cancel-turn', turns(silenceAfter('Well, ')), 2],
    ] as const) {
      const { id } = await world.begin(name, play);
      const last = await world.request(name, requests);
      const cancelled = await act(`/v1/tasks/${id}/cancel`);
      assert.deepEqual([cancelled.status, cancelled.success], ['cancelled', true]);
      assert.equal(await last.closed, true, 'the endpoint sees the client go');
      assert.equal((await caller.fetch('POST', `/v1/tasks/${id}/cancel`)).status, 409);
      const task = await caller.json('GET', `/v1/tasks/${id}`);
      assert.equal(task.total_tokens_used, (requests - 1) * tokensPerAnswer);
      assert.equal(world.requestsOf(name).length, requests);
      assert.ok(task.agents.every((agent: { status: string }) => agent.status === 'cancelled'));
      for (const agent of task.agents) await untilAgent(agent.id, (one) => one.status === 'cancelled');
    }
    const page = await slowPage(t);
    const { id } = await world.begin(
      'cancel-tool',
      agentGroup([{ type: 'researcher' }], () => [callTool('fetch_url', { url: page.url })]),
    );
    await page.asked;
    assert.equal((await act(`/v1/tasks/${id}/cancel`)).status, 'cancelled');
    await page.gone;
    const waiting = await world.begin('cancel-waiting', turns(mailAbout('Never')));
    await untilWaiting(waiting.id);
    assert.equal((await act(`/v1/tasks/${waiting.id}/cancel`)).status, 'cancelled');
    assert.equal(await mailsAbout('Never'), 0);
    assert.equal(world.requestsOf('cancel-tool').length, 2);
  });

  await t.test('max_credits pauses a task of parallel agents and is exceeded by at most one turn', async () => {
    let n = 0;
    const config = { max_agents: 4, max_credits: 0.5, autonomy_level: 100 };
    const read: Behaviour = (response, request) => callTool('read_file', { path: `file-${n++}.txt` })(response, request);
    const task = await world.play(
      'budget',
      agentGroup([{}, {}, {}, {}], () => Array<Behaviour>(50).fill(read)),
      config,
    );
    assert.deepEqual([task.status, task.pause_reason], ['paused', 'budget']);
    assert.ok(task.cost >= 0.5 && task.cost <= 0.5 + tokensPerAnswer / 1_000, `it cost ${task.cost}`);
    assert.equal(world.requestsOf('budget').length * tokensPerAnswer, task.total_tokens_used);
    assert.equal((await act(`/v1/tasks/${task.id}/cancel`)).status, 'cancelled');
    const planned = await world.play('budget-plan', turns(), { max_credits: 0.1 });
    assert.deepEqual([planned.status, planned.pause_reason, world.requestsOf('budget-plan').length], ['paused', 'budget', 1]);
  });

  await t.test('a task that has used its budget says what to do, and continues when the budget is raised', async () => {
    const { id, ...task } = await world.play('budget-raised', turns(callTool('read_file', { path: 'a.txt' }), finish('done')), {
      max_credits: 0.1,
    });
    assert.deepEqual([task.status, task.waiting_for], ['paused', null]);
    assert.match(task.waiting_message, /^The 0\.1 credits of config\.max_credits are used up: raise them by PATCH/);
    const change = (config: object) => caller.json('PATCH', `/v1/tasks/${id}`, { config });
    assert.equal((await change({ max_credits: 0.11 })).status, 'paused', 'still less than it has cost');
    const status = async (config: object) => (await caller.fetch('PATCH', `/v1/tasks/${id}`, { config })).status;
    for (const config of [{}, { max_credits: 0 }, { max_credits: 'x' }]) assert.equal(await status(config), 422);
    const raised = await change({ max_credits: 1_000 });
    assert.deepEqual([raised.status, raised.waiting_message, raised.config.max_credits], ['running', null, 1_000]);
    assert.equal((await caller.untilTask(id, [...endStatuses, 'paused'])).status, 'complete');
    assert.equal(await status({ max_credits: null }), 409);
  });

  const schema = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } };
  const output = (value: unknown) => callTool('write_file', { path: 'output.json', content: JSON.stringify(value) });
  await t.test('output_schema: an invalid output is reported to the model; if no output is valid, the task fails', async () => {
    const right = await world.play('output-right', turns(output({ total: 5 }), finish('done')), { output_schema: schema });
    assert.equal(right.status, 'complete');
    assert.equal(right.deliverables_count, 1);
    const fixed = await world.play('output-fixed', turns(output({ total: 'five' }), finish('done'), output({ total: 5 }), finish('now')), {
      output_schema: schema,
    });
    assert.deepEqual([fixed.status, fixed.agents[0].result], ['complete', 'now']);
    assert.match(JSON.stringify(world.requestsOf('output-fixed')[3]!.body.messages), /not finished.*total/s);
    const never = await world.play('output-never', forever(finish('done')), { output_schema: schema });
    assert.equal(never.status, 'failed');
    assert.match(never.error, /output\.json/);
    assert.ok(world.requestsOf('output-never').length <= 4);
    const other = await world.play(
      'output-other',
      agentGroup([{}, {}], (agent) => (agent === 0 ? [finish('mine is done')] : [])),
      { output_schema: schema },
    );
    assert.equal(other.status, 'failed', 'another agent that completed does not make up for it');
  });

  await t.test('the check of a schema with an endless pattern is ended, and the service answers meanwhile', async () => {
    const trap = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const trapped = output({ a: `${'a'.repeat(60)}!` });
    // One such check: five seconds of processor time, at a low priority. It ends a process that has to be started again.
    const { id } = await world.begin('output-trap', turns(trapped, finish('1'), output({ a: 'a' }), finish('2')), { output_schema: trap });
    const task = await caller.untilTask(id, endStatuses, 400_000);
    assert.deepEqual([task.status, task.agents[0].result], ['complete', '2']);
    // The second text: on a busy machine the minute of the effect ends first.
    const refusal = /not finished: output\.json could not be checked( against the schema: it took too much time)?\. Write/;
    assert.match(JSON.stringify(world.requestsOf('output-trap')[3]!.body.messages), refusal);
  });

  await t.test('delegated work runs as another agent, its final answer is returned, and max_agents holds', async () => {
    const delegate = (prompt: string) => callTool('delegate', { type: 'researcher', prompt });
    const task = await world.play(
      'delegate',
      ({ isPlan, turn, said }) => {
        if (isPlan) return plan([piece({ prompt: 'the chief of case delegate' })]);
        if (said.includes('the helper of case delegate') && !said.includes('the chief of')) return finish('the helper found 42');
        return [delegate('the helper of case delegate'), delegate('one too many, case delegate'), finish('with 42')][turn]!;
      },
      { max_agents: 2 },
    );
    assert.deepEqual([task.status, task.agents.length], ['complete', 2]);
    const last = JSON.stringify(world.requestsOf('delegate').at(-1)!.body.messages);
    assert.match(last, /the helper found 42/);
    assert.match(last, /may have 2 agents in all/);
    assert.equal(task.total_tokens_used, world.requestsOf('delegate').length * tokensPerAnswer);
    assert.equal(
      task.subtasks.reduce((sum: number, one: { tokens_used: number }) => sum + one.tokens_used, 0),
      task.total_tokens_used - tokensPerAnswer,
    );
    assert.equal(task.subtasks[0].model_used, 'scripted');
  });

  await t.test('when a delegated agent is cancelled its delegator is notified and continues', async () => {
    const { id } = await world.begin('lost-helper', ({ isPlan, turn, said }) => {
      if (isPlan) return plan([piece({ prompt: 'the chief of case lost-helper' })]);
      if (!said.includes('the chief of')) return silence();
      return turn === 0 ? callTool('delegate', { type: 'analyst', prompt: 'the helper of case lost-helper' }) : finish('alone');
    });
    await world.request('lost-helper', 3);
    const { agents } = await caller.json('GET', `/v1/tasks/${id}`);
    assert.equal((await act(`/v1/agents/${agents[1].id}/cancel`)).status, 'cancelled');
    const task = await caller.untilTask(id, endStatuses);
    assert.deepEqual([task.status, task.agents[0].result], ['complete', 'alone']);
    assert.match(JSON.stringify(world.requestsOf('lost-helper').at(-1)!.body.messages), /without a result \(cancelled\)/);
  });

  await t.test('texts with characters that PostgreSQL refuses, and implausible usage, cause no failure', async () => {
    const odd = 'a\u0000b\ud800c';
    for (const [name, behaviour] of [
      ['odd-words', text(odd)],
      ['odd-finish', finish(odd)],
      ['odd-arguments', callTool('read_file', { path: odd, [odd]: odd })],
      ['odd-file', callTool('write_file', { path: 'odd.txt', content: odd })],
      ['odd-tool', callTool(`${odd}${'x'.repeat(100_000)}`, {})],
      ['odd-usage', say({ text: 'done', usage: { prompt_tokens: 4_000_000_000, completion_tokens: -1.5 } })],
      ['no-usage', say({ text: 'done', usage: null })],
    ] as const) {
      const task = await world.play(name, turns(behaviour));
      assert.equal(task.status, 'complete', `${name}: ${task.error}`);
      assert.ok(Number.isInteger(task.total_tokens_used) && task.total_tokens_used < 10_000, `${name}: ${task.total_tokens_used}`);
    }
  });

  await t.test('many calls in one answer are each answered, also those after finish', async () => {
    const read = (n: number) => ({ name: 'read_file', arguments: { path: `no-${n}.txt` } });
    const name = 'many-calls';
    const { id } = await world.begin(
      name,
      turns(
        callTools(read(1), { name: 'nonsense', arguments: {} }, read(2), ...Array.from({ length: 30 }, (_, n) => read(n + 3))),
        callTools({ name: 'finish', arguments: { summary: 'x' } }, read(99)),
      ),
    );
    const task = await caller.untilTask(id, endStatuses);
    assert.equal(task.status, 'complete');
    const results = (await eventsOf(id)).filter((event) => event.type === 'agent.tool_result');
    assert.equal(results.length, 20 + 2);
  });
});

/** A page that answers when the test says so. */
async function slowPage(t: Scope) {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let answer: (body: string) => void = () => {};
  const server = createServer((_request, response) => {
    answer = (body) => response.writeHead(200, { 'content-type': 'text/plain' }).end(body);
    response.on('close', () => gone.resolve());
    asked.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked: asked.promise,
    gone: gone.promise,
    answer: (body: string) => answer(body),
  };
}
