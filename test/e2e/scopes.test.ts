/** The rights of a key through its tasks and agents, in the whole service: never more than over REST. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Approval, EventBody, Invalid, Refused } from '../support/bodies.ts';
import { callTool, finish, silence } from '../support/openai-server.ts';
import { agentGroup, endStatuses, scriptedService, turns } from '../support/scripted-service.ts';
import { Caller } from '../support/service.ts';
import { until } from '../support/until.ts';

const order = { description: '3 licences', amount: 50, vendor: 'Acme' };
const buys = turns(callTool('create_purchase_order', order), finish('That was it'));

test('the rights of a key through its tasks', { timeout: 300_000 }, async (t) => {
  const world = await scriptedService(t);
  const { caller, service } = world;
  const keyOf = async (scopes: string[], mode: 'live' | 'test' = 'live') => {
    const { id, key } = await caller.json('POST', '/v1/api-keys', { name: 'k', scopes, mode });
    return { id, caller: Caller.withToken(service, key) };
  };
  const { caller: tasksKey, id: tasksKeyId } = await keyOf(['tasks.read', 'tasks.write']);
  const orders = async () => (await caller.json('GET', '/v1/commerce/orders')).data;
  const untilAsked = async (id: string) => {
    let task: any;
    await until(async () => {
      task = await caller.json('GET', `/v1/tasks/${id}`);
      return task.approvals.length > 0;
    }, 'an approval');
    return task;
  };
  const decide = (who: Caller, { agent_id, id }: Approval, body: object, headers = {}) =>
    who.fetch('POST', `/v1/agents/${agent_id}/approve/${id}`, body, headers);
  await caller.json('POST', '/v1/commerce/wallet/deposit', { amount: 1_000, source: 'card' });

  await t.test('a key with tasks.* only cannot buy: the model is not offered the tool, and a call of it is refused', async () => {
    const { id } = await world.begin('buy', buys, { autonomy_level: 100 }, tasksKey);
    const task = await caller.untilTask(id, endStatuses);
    assert.deepEqual([task.status, task.mode], ['complete', 'live']);
    const [, turn, last] = world.requestsOf('buy').map(({ body }) => body);
    const offered = turn!.tools!.map((tool) => tool.function.name);
    assert.ok(offered.includes('write_file') && !offered.includes('create_purchase_order') && !offered.includes('charge_card'));
    assert.match(String(turn!.messages[0]!.content), /Not allowed in this task.*create_purchase_order \(scope commerce\.write\)/s);
    assert.match(JSON.stringify(last!.messages.at(-1)), /needs the scope commerce\.write/);
    assert.deepEqual(await orders(), []);
    assert.equal((await caller.json('GET', '/v1/commerce/wallet/balance')).balance, 1_000);
  });

  await t.test('naming a workspace needs workspaces.read, deploying workspaces.write; a workspace of the task needs neither', async () => {
    const workspace = await caller.json('POST', '/v1/workspaces', { name: 'Secrets' });
    await caller.upload(workspace.id, 'secret.txt', 'the secret is 42');
    const before = (await caller.json('GET', '/v1/tasks')).total;
    for (const [body, scope] of [
      [{ workspace_id: workspace.id }, 'workspaces.read'],
      [{ workspace_id: 'ws_nowhere' }, 'workspaces.read'],
      [{ config: { auto_deploy: true } }, 'workspaces.write'],
      [{ config: { deploy_target: 'vercel' } }, 'workspaces.write'],
    ] as const) {
      const response = await tasksKey.fetch('POST', '/v1/tasks', { prompt: 'case none', ...body });
      assert.equal(response.status, 403, JSON.stringify(body));
      assert.ok(((await response.json()) as Refused).detail.includes(scope));
    }
    assert.equal((await caller.json('GET', '/v1/tasks')).total, before, 'nothing was made');
    const { caller: reader } = await keyOf(['tasks.read', 'tasks.write', 'workspaces.read']);
    assert.equal((await reader.fetch('POST', '/v1/tasks', { prompt: 'case none', workspace_id: 'ws_nowhere' })).status, 404);
    const play = agentGroup([{ type: 'analyst' }], () => [
      callTool('read_file', { path: 'secret.txt' }),
      callTool('write_file', { path: 'mine.txt', content: 'x' }),
      callTool('code_exec', { code: 'writeFile("mine.txt", "x")' }),
      finish('done'),
    ]);
    const { id } = await world.begin('read-only', play, {}, reader, workspace.id);
    assert.equal((await caller.untilTask(id, endStatuses)).status, 'complete');
    const said = JSON.stringify(world.requestsOf('read-only').at(-1)!.body.messages);
    assert.match(said, /the secret is 42/);
    assert.match(said, /write_file is not allowed here: it needs the scope workspaces\.write/);
    assert.match(said, /Writing a file into this workspace is not allowed here/);
    assert.deepEqual((await caller.json('GET', `/workspaces/${workspace.id}/files`)).total, 1);
    assert.equal(
      (await world.play('own', turns(callTool('write_file', { path: 'a.md', content: 'a' })), {}, tasksKey)).deliverables_count,
      1,
    );
    const history = async (who: Caller) =>
      (await who.json('GET', `/v1/tasks/${id}/events?limit=100`)) as { data: EventBody[]; total: number };
    const all = await history(caller);
    assert.ok(all.data.some(({ type }) => type === 'agent.tool_result'));
    const seen = await history(tasksKey);
    assert.deepEqual(
      [...new Set(seen.data.map(({ type }) => type.split('.')[0]))],
      ['task'],
      'what the stream hides the history hides too',
    );
    assert.equal(seen.total, seen.data.length);
  });

  await t.test('a purchase is approved only with agents.write and commerce.write, and the record says by whom', async () => {
    const { caller: agentsKey } = await keyOf(['agents.write', 'tasks.read']);
    const { caller: testKey } = await keyOf(['agents.write', 'commerce.write'], 'test');
    const { caller: buyer, id: buyerId } = await keyOf(['agents.write', 'commerce.write']);
    const { id } = await world.begin('approve', buys, { autonomy_level: 0 });
    const [approval] = (await untilAsked(id)).approvals;
    for (const who of [agentsKey, testKey]) {
      for (const approved of [true, false]) assert.equal((await decide(who, approval, { approved })).status, 403);
    }
    assert.deepEqual(await orders(), []);
    const wrong = await decide(buyer, approval, { approved: true, edited_arguments: { ...order, amount: 'much' } });
    assert.equal(wrong.status, 422);
    assert.deepEqual(((await wrong.json()) as Invalid).detail[0].loc, ['body', 'edited_arguments']);
    const edited = { ...order, amount: 40 };
    const body = { approved: true, edited_arguments: edited };
    const once = { 'idempotency-key': 'approve once' };
    assert.equal((await decide(buyer, approval, body, once)).status, 200);
    assert.equal((await decide(buyer, approval, body, once)).status, 200, 'a replay');
    assert.equal((await decide(agentsKey, approval, body, once)).status, 403, 'which is for those who could have asked themselves');
    const task = await caller.untilTask(id, endStatuses);
    const { status, decided_by, decided_via, arguments: asked, edited_arguments } = task.approvals[0];
    assert.deepEqual([status, decided_by, decided_via], ['approved', buyerId, 'api_key']);
    assert.deepEqual([asked, edited_arguments], [order, edited]);
    assert.deepEqual(
      (await orders()).map(({ amount }: { amount: number }) => amount),
      [40],
    );
    assert.match(JSON.stringify(world.requestsOf('approve').at(-1)!.body.messages), /approved_with_arguments.*40/);
  });

  await t.test(
    'an approval that is undecided when its agent or task ends expires with an event, and can no longer be approved',
    async () => {
      for (const end of ['task', 'agent'] as const) {
        const { id } = await world.begin(`expire-${end}`, buys, { autonomy_level: 0 });
        const [approval] = (await untilAsked(id)).approvals;
        const paused = await caller.json('POST', `/v1/agents/${approval.agent_id}/pause`);
        assert.equal(paused.status, 'paused');
        await caller.json('POST', end === 'task' ? `/v1/tasks/${id}/cancel` : `/v1/agents/${approval.agent_id}/cancel`);
        assert.equal((await caller.untilTask(id, endStatuses)).approvals[0].status, 'expired');
        assert.equal((await decide(caller, approval, { approved: true })).status, 409);
        const expiredEvents = (await caller.events()).filter(
          ({ type, data }) => type === 'approval.expired' && data.approval_id === approval.id,
        );
        assert.equal(expiredEvents.length, 1);
      }
    },
  );

  await t.test('an approval for a paused agent is answered that it takes effect when the agent is resumed', async () => {
    const { id } = await world.begin('paused', buys, { autonomy_level: 0 });
    const [approval] = (await untilAsked(id)).approvals;
    await caller.json('POST', `/v1/agents/${approval.agent_id}/pause`);
    const answer = (await (await decide(caller, approval, { approved: true })).json()) as { status: string; message: string };
    assert.equal(answer.status, 'paused');
    assert.match(answer.message, /paused.*resumed/);
    await caller.json('POST', `/v1/agents/${approval.agent_id}/resume`);
    assert.equal((await caller.untilTask(id, endStatuses)).approvals[0].status, 'approved');
  });

  await t.test('a task keeps its granted rights when its key is revoked', async () => {
    const { id } = await world.begin('revoked', turns(silence(), finish('done')), {}, tasksKey);
    await world.request('revoked', 2);
    assert.equal((await caller.fetch('DELETE', `/v1/api-keys/${tasksKeyId}`)).status, 204);
    const { status, agents } = await caller.json('GET', `/v1/tasks/${id}`);
    assert.deepEqual([status, agents.length], ['running', 1]);
    await caller.json('POST', `/v1/tasks/${id}/cancel`);
  });
});
