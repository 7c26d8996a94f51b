/** Limits of plans, on the real service: concurrent tasks and agents, their order, pausing and continuing, also with kill -9. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test, { type TestContext } from 'node:test';
import { troupe } from '../cli/command.ts';
import { callTool, finish, plan, text } from '../support/openai-server.ts';
import { type Case, endStatuses, scriptedService, turns } from '../support/scripted-service.ts';
import { Caller, type Service, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const limited = { limited: 'work' as const };
const timeout = 300_000;

/** An operator at the command line. */
async function operator(t: TestContext, service: Service, caller: Caller) {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const { email } = await caller.json('GET', '/v1/auth/me');
  return async (...options: string[]) => {
    const command = troupe(['account', 'set', email, ...options], { folder: folder.path, dataDir: service.dataDir });
    assert.equal(await command.exit, 0, command.stderr());
  };
}

/** The task, when it reports that it waits for this reason. */
async function untilWaits(caller: Caller, id: string, what: string): Promise<any> {
  for (;;) {
    const task = await caller.json('GET', `/v1/tasks/${id}`);
    if (task.waiting_for === what) return task;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Types of an account's events about tasks, in their order, with the task they are about. */
async function taskEvents(caller: Caller, types: RegExp): Promise<string[]> {
  return (await caller.events()).filter(({ type }) => types.test(type)).map(({ type, data }) => `${type} ${data.task_id}`);
}

test('on the free plan tasks work one at a time, in the order of their creation; a waiting task that is cancelled is skipped, and kill -9 loses no slot', {
  timeout,
}, async (t) => {
  const { service, caller, begin, request } = await scriptedService(t, {}, limited);
  const gate = Promise.withResolvers<void>();
  const held: Case =
    ({ isPlan }) =>
    async (response, asked) => {
      if (!isPlan) await gate.promise;
      await (isPlan ? plan([{ type: 'analyst', title: 'piece', prompt: 'case held', after: [] }]) : text('Done.'))(response, asked);
    };
  const first = await begin('held', held);
  await request('held', 2);
  const [second, third, fourth] = [await begin('b', turns()), await begin('c', turns()), await begin('d', turns())];
  await caller.json('POST', `/v1/tasks/${third.id}/cancel`);
  const queued = await untilWaits(caller, second.id, 'concurrency');
  assert.match(queued.waiting_message, /^1 task of this account is at work/);
  assert.equal((await caller.json('GET', `/v1/tasks/${first.id}`)).waiting_for, null);
  assert.equal((await caller.json('GET', `/v1/tasks/${second.id}`)).status, 'pending');
  await service.kill();
  await service.restart();
  await request('held', 3);
  assert.equal((await caller.json('GET', `/v1/tasks/${second.id}`)).status, 'pending');
  gate.resolve();
  for (const { id } of [first, second, fourth]) assert.equal((await caller.untilTask(id, endStatuses)).status, 'complete');
  const inTurn = [first, second, fourth].flatMap(({ id }) => [`task.planning ${id}`, `task.completed ${id}`]);
  assert.deepEqual(await taskEvents(caller, /^task\.(planning|completed)$/), inTurn);
  // Without the one that was cancelled while it waited.
  await untilTasksUsed(caller, 3);
});

test('one agent at a time: an agent that waits for an approval, or for an agent it has delegated to, blocks no other', {
  timeout,
}, async (t) => {
  const { caller, begin, play } = await scriptedService(t, {}, limited);
  const chief: Case = ({ isPlan, turn, said }) => {
    if (isPlan) return plan([{ type: 'analyst', title: 'chief', prompt: 'chief of case chain', after: [] }]);
    if (!said.includes('chief of')) return text('Helped.');
    return [callTool('delegate', { type: 'analyst', prompt: 'help in case chain' }), finish('Done.')][turn]!;
  };
  assert.equal((await play('chain', chief)).status, 'complete');

  const two: Case = ({ isPlan, turn, said }) => {
    if (isPlan) return plan(['first', 'second'].map((name) => ({ type: 'email', title: name, prompt: `${name} of case asks`, after: [] })));
    if (said.includes('second of')) return text('Done beside it.');
    return [callTool('send_email', { to: 'ann@example.com', subject: 's', body: 'b' }), finish('Sent.')][turn]!;
  };
  const { id } = await begin('asks', two);
  for (let task = await caller.json('GET', `/v1/tasks/${id}`); ; task = await caller.json('GET', `/v1/tasks/${id}`)) {
    if (task.agents[1]?.status !== 'complete' || task.approvals.length === 0) continue;
    await caller.json('POST', `/v1/agents/${task.approvals[0].agent_id}/approve/${task.approvals[0].id}`, { approved: true });
    break;
  }
  assert.equal((await caller.untilTask(id, endStatuses)).status, 'complete');
});

test("used up credits pause running work and prevent starts; an operator's change applies within a second and continues the work, also with kill -9", {
  timeout,
}, async (t) => {
  const { service, caller, begin, request, requestsOf } = await scriptedService(t, {}, limited);
  const set = await operator(t, service, caller);
  const dear = { usage: { prompt_tokens: 90_000, completion_tokens: 15_000 } };
  const listing = { name: 'list_files', arguments: {} };
  const gate = Promise.withResolvers<void>();
  const running = await begin('dear', ({ isPlan, turn }) => async (response, asked) => {
    if (isPlan) return plan([{ type: 'analyst', title: 'dear', prompt: 'case dear', after: [] }])(response, asked);
    await gate.promise;
    await (turn === 0 ? text('', { ...dear, calls: [listing, listing] }) : finish('Done.'))(response, asked);
  });
  const waiting = await begin('next', turns());
  await untilWaits(caller, waiting.id, 'concurrency');
  gate.resolve();
  const paused = await caller.untilTask(running.id, [...endStatuses, 'paused']);
  assert.deepEqual([paused.status, paused.pause_reason], ['paused', 'plan_limit']);
  const words = /^The plan's 100 credits of this billing period are used up: upgrade the plan, or wait until \d{4}-\d\d-\d\d\.$/;
  for (const { id } of [running, waiting]) assert.match((await untilWaits(caller, id, 'plan_limit')).waiting_message, words);
  const saying = (await caller.events()).filter(({ type }) => type === 'task.waiting').map(({ data }) => [data.task_id, data.waiting_for]);
  assert.deepEqual(
    saying.sort(),
    [
      [running.id, 'plan_limit'],
      [waiting.id, 'concurrency'],
      [waiting.id, 'plan_limit'],
    ].sort(),
  );
  const followed = troupe(['run', '--attach', waiting.id, '--token', caller.token], {
    url: service.url,
    folder: service.dataDir,
    dataDir: service.dataDir,
  });
  assert.equal(await followed.exit, 5, followed.stderr());
  assert.match(followed.stderr(), /The task is waiting\. The plan's 100 credits .* wait until \d{4}/);
  const billing = await caller.json('GET', '/v1/billing');
  assert.deepEqual([billing.plan, billing.credits_remaining, billing.tasks_limit, billing.tasks_used], ['free', 0, 50, 0]);
  assert.equal(billing.billing_period_start, new Date().toISOString().slice(0, 10));
  await service.kill();
  await service.restart();
  assert.equal((await caller.json('GET', `/v1/tasks/${running.id}`)).status, 'paused');
  assert.equal((await caller.json('GET', `/v1/tasks/${waiting.id}`)).status, 'pending');
  assert.equal(requestsOf('next').length, 0);
  assert.equal(requestsOf('dear').length, 2, 'no model turn has begun beyond the limit');

  await set('--credits', '-1');
  await request('dear', 3);
  assert.equal((await caller.untilTask(running.id, endStatuses)).status, 'complete');
  assert.equal((await caller.untilTask(waiting.id, endStatuses)).status, 'complete');
  await untilTasksUsed(caller, 2);
  const usage = await caller.json('GET', '/v1/billing/usage');
  assert.deepEqual([usage.tasks_used, usage.credits_remaining], [2, -1]);
  assert.deepEqual(usage.breakdown.map(({ agent_name, tasks }: { agent_name: string; tasks: number }) => [agent_name, tasks]).sort(), [
    ['dear', 1],
    ['piece 0', 1],
  ]);
  const ids = paused.agents.map(({ id }: { id: string }) => id.replace('agnt_', 'agt_'));
  assert.ok(usage.breakdown.some(({ agent_id }: { agent_id: string }) => agent_id === ids[0]));

  await set('--tasks-limit', '2', '--plan', 'business');
  const third = await begin('third', turns());
  assert.equal(third.status, 'pending');
  const late = await caller.json('GET', '/v1/billing');
  assert.ok(late.tasks_limit === 2 || late.tasks_limit === 50);
  await set('--tasks-limit', 'default');
  assert.equal((await caller.untilTask(third.id, endStatuses)).status, 'complete');
  const isKnown = async () => (await caller.events()).some(({ type, data }) => type === 'plan.changed' && data.plan === 'business');
  await until(isKnown, 'the event of the new plan');
});

test('the offline model uses no tokens, so the quick start’s task costs no credits', { timeout }, async (t) => {
  const service = await startService(t, {}, limited);
  const caller = await Caller.register(service);
  const { id: workspace_id } = await caller.json('POST', '/v1/workspaces', { name: 'sales' });
  await caller.upload(workspace_id, 'sales.csv', await readFile('examples/sales.csv', 'utf8'));
  const prompt = 'Analyse sales.csv and tell me what stands out';
  const { id } = await caller.json('POST', '/v1/tasks', { prompt, workspace_id });
  const { status, cost, total_tokens_used } = await caller.untilTask(id, [...endStatuses, 'paused']);
  assert.deepEqual([status, cost, total_tokens_used], ['complete', 0, 0]);
  await untilTasksUsed(caller, 1);
  const { credits_remaining, agents_minutes } = await caller.json('GET', '/v1/billing');
  assert.equal(credits_remaining, 100);
  assert.ok(agents_minutes < 1);
});

/** An account counts a task by a message that the task sends when it ends. */
async function untilTasksUsed(caller: Caller, tasks: number): Promise<void> {
  await until(async () => (await caller.json('GET', '/v1/billing')).tasks_used >= tasks, `${tasks} used tasks`);
  assert.equal((await caller.json('GET', '/v1/billing')).tasks_used, tasks);
}
