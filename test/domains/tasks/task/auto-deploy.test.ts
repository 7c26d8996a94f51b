/** `auto_deploy`: the deployment that a task creates when it ends, and refusals when it is created. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ActorSystem } from '../../../../src/actors/actor-system.ts';
import { shardOf } from '../../../../src/cluster/address.ts';
import { mustBeDeployable } from '../../../../src/domains/tasks/task/auto-deploy.ts';
import type { TaskConfig, TaskRow } from '../../../../src/domains/tasks/task/entity.ts';
import type { AgentReport, TaskContract } from '../../../../src/domains/tasks/task/messages.ts';
import { planRequest } from '../../../../src/domains/tasks/task/plan.ts';
import { taskActor } from '../../../../src/domains/tasks/task/task.ts';
import { newId } from '../../../../src/ids.ts';
import { type Call, play, RecordedTurn } from '../../../support/turn-context.ts';

const accountId = newId('acct_', null);
const taskId = newId('task_', accountId);
const actor = taskActor({ plan: null as never });
const deploying: TaskConfig = { max_agents: 1, autonomy_level: 0, auto_deploy: true, deploy_target: 'netlify' };

/** With deployments on the task's shard. */
class TurnBesideDeployments extends RecordedTurn {
  readonly called: { id: string; command: string; input: unknown }[] = [];
  override callColocated(...args: unknown[]): never {
    const [to, id, command, input] = args as [{ kind: string }, string, string, unknown];
    assert.deepEqual([to.kind, shardOf(to.kind, id)], ['deployment', shardOf('task', this.id)]);
    this.called.push({ id, command, input });
    return undefined as never;
  }
}

/** A task of one agent, and everything that it has asked of deployments when it has ended. */
function ended(config: TaskConfig, how: AgentReport['status'] | 'cancel', mode: 'live' | 'test' = 'live') {
  let state: TaskRow | null = null;
  const sent: unknown[] = [];
  const runCommand = (...[command, input]: Call<TaskContract>) => {
    const ctx = new TurnBesideDeployments(taskId, 1);
    ({ state } = play(actor, command, state, input, ctx));
    sent.push(...ctx.called);
    return state as TaskRow;
  };
  runCommand('create', { accountId, userId: 'usr_1', mode, scopes: null, prompt: 'p', config, workspaceId: 'ws_1' });
  const { planEffectId } = runCommand('begin', {});
  const plan = { agents: [{ type: 'builder', title: 'Page', prompt: 'Write it', after: [] }] };
  const value = { result: { plan }, tokens: 1, costMillicents: 0 };
  const { agents } = runCommand('planned', { effectId: planEffectId!, outcome: { kind: 'done', value }, tookMs: 1 });
  const report = { agentId: agents[0]!.id, currentTool: null, progress: 100, result: 'done', error: null, turn: null, approval: null };
  if (how === 'cancel') runCommand('cancel', {});
  const last = runCommand('report', { ...report, status: how === 'cancel' ? 'complete' : how, rests: true, work: null });
  runCommand('report', { ...report, status: 'complete', rests: true, work: null });
  return { sent, task: last };
}

test("a completed task with auto_deploy creates one deployment on its shard, with an id derived from the task's, in its mode", () => {
  const ids = (['live', 'test'] as const).map((mode) => {
    const { sent, task } = ended(deploying, 'complete', mode);
    const input = { accountId, mode, workspaceId: 'ws_1', target: 'netlify', configId: null, taskId };
    assert.deepEqual([task.status, sent], ['complete', [{ id: task.deploymentId, command: 'create', input }]]);
    return task.deploymentId!;
  });
  assert.match(ids[0]!, new RegExp(`^dep_\\w{24}${accountId.slice(-2)}$`));
  assert.equal(ids[0], ids[1]);
});

test('no deployment is created by a failed or cancelled task, a task without auto_deploy, or one of an earlier version without a target', () => {
  const none = (config: TaskConfig, how: AgentReport['status'] | 'cancel', status: string) => {
    const { sent, task } = ended(config, how);
    assert.deepEqual([task.status, task.deploymentId, sent], [status, null, []]);
  };
  none(deploying, 'error', 'failed');
  none(deploying, 'cancelled', 'failed');
  none(deploying, 'cancel', 'cancelled');
  none({ ...deploying, auto_deploy: false }, 'complete', 'complete');
  none({ ...deploying, deploy_target: null }, 'complete', 'complete');
});

test('auto_deploy needs a target, and a live key a configuration of it', async () => {
  const actors = { query: async (_ref: unknown, _id: string, _name: string, { target }: any) => (target === 'netlify' ? {} : null) };
  const refused = async (mode: 'live' | 'test', given: Partial<TaskConfig>) => {
    try {
      await mustBeDeployable(actors as unknown as ActorSystem, { accountId, mode }, { ...deploying, ...given });
      return null;
    } catch (error: any) {
      return error.issues[0].loc.join('.');
    }
  };
  const at = 'body.config.deploy_target';
  assert.equal(await refused('live', {}), null);
  assert.equal(await refused('live', { deploy_target: null }), at);
  assert.equal(await refused('test', { deploy_target: null }), at);
  assert.equal(await refused('live', { deploy_target: 'vercel' }), at);
  assert.equal(await refused('test', { deploy_target: 'vercel' }), null, 'a preview needs none');
  assert.equal(await refused('live', { auto_deploy: false, deploy_target: 'vercel' }), null);
});

test('the planning model gets the target and whether the task publishes by itself', () => {
  const asked = (config: Partial<TaskConfig>) =>
    JSON.stringify(planRequest({ prompt: 'p', config: { ...deploying, ...config } }, []).messages);
  assert.match(asked({}), /service itself publishes the workspace at netlify when the task is complete: no agent deploys it/);
  assert.match(asked({ auto_deploy: false }), /the target is netlify/);
  assert.doesNotMatch(asked({ auto_deploy: false, deploy_target: null }), /publish/);
});
