/** The reason why a task waits, from its account and in its events. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { accountActor } from '../../../../src/domains/accounts/account/account.ts';
import type { AccountRow, WaitingFor } from '../../../../src/domains/accounts/account/entity.ts';
import type { AccountContract } from '../../../../src/domains/accounts/account/messages.ts';
import type { TaskRow } from '../../../../src/domains/tasks/task/entity.ts';
import type { TaskContract } from '../../../../src/domains/tasks/task/messages.ts';
import { taskActor } from '../../../../src/domains/tasks/task/task.ts';
import { waitingView } from '../../../../src/domains/tasks/task/waiting.ts';
import type { Overrides } from '../../../../src/storage/account-overrides.ts';
import { type Call, play, RecordedTurn } from '../../../support/turn-context.ts';

const account = accountActor({ startedTasks: null as never });
const task = taskActor({ plan: null as never });

/** An account of one agent at once after these commands, and what the last of them sent to tasks. */
function messagesAfter(...commands: Call<AccountContract>[]) {
  let state: AccountRow | null = null;
  let sent: [string, string, string][] = [];
  const one = { plan: 'pro', concurrentTasks: -1, concurrentAgents: 1, tasksLimit: -1, credits: -1, agentMinutes: -1 } as Overrides;
  const limits: Call<AccountContract> = ['limitsChanged', { overrides: one, changedAtMs: 1 }];
  for (const [name, input] of [limits, ...commands]) {
    const ctx = new RecordedTurn('acct_1', 1);
    ({ state } = play(account, name, state, input, ctx));
    sent = ctx.messages.map(({ id, command, input: said }) => [id, command, said.place]);
  }
  return sent;
}

test('a freed slot goes to the first in the queue, and its task is notified if another agent of it still waits', () => {
  const asks = (place: string): Call<AccountContract> => ['agentWaits', { place }];
  const queue = [asks('task_a/1'), asks('task_b/1'), asks('task_a/2')];
  assert.deepEqual(messagesAfter(...queue), [['task_a', 'placeLacking', 'task_a/2']]);
  assert.deepEqual(messagesAfter(...queue, ['agentRests', { place: 'task_a/1' }]), [
    ['task_b', 'placeGiven', 'task_b/1'],
    ['task_a', 'placeLacking', 'task_a/2'],
  ]);
});

test('a task emits its reason to wait once, again when the reason changes, and nothing when it begins', () => {
  const limit: WaitingFor = { kind: 'plan_limit', of: 'tasks', allowed: 50, resetsAtMs: Date.parse('2026-12-22T00:00:00Z') };
  const line: WaitingFor = { kind: 'concurrency', of: 'tasks', allowed: 1 };
  const events: [string, unknown][] = [];
  const config = { max_agents: 1, autonomy_level: 100, auto_deploy: false, deploy_target: null };
  let state: TaskRow | null = null;
  const runCommand = (...[command, input]: Call<TaskContract>) => {
    const ctx = new RecordedTurn('task_1', 1);
    ({ state } = play(task, command, state, input, ctx));
    for (const { type, data } of ctx.events) events.push([type, data.waiting_for]);
    return waitingView(state!);
  };
  runCommand('create', { accountId: 'acct_1', userId: 'usr_1', mode: 'live', scopes: null, prompt: 'p', config, workspaceId: 'ws_1' });
  const queued = 'as many as its plan allows at once: this task goes on when it is its turn.';
  const oneTask = { waiting_for: 'concurrency', waiting_message: `1 task of this account is at work, ${queued}` };
  assert.deepEqual(runCommand('mustWait', { waitingFor: line }), oneTask);
  assert.deepEqual(runCommand('mustWait', { waitingFor: line }), oneTask);
  assert.deepEqual(runCommand('mustWait', { waitingFor: limit }), {
    waiting_for: 'plan_limit',
    waiting_message: "The plan's 50 tasks of this billing period are used up: upgrade the plan, or wait until 2026-12-22.",
  });
  assert.deepEqual(runCommand('begin', {}), { waiting_for: null, waiting_message: null });
  assert.deepEqual(runCommand('mustWait', { waitingFor: line }), { waiting_for: null, waiting_message: null }, 'it has begun since');
  assert.deepEqual(events, [
    ['task.created', undefined],
    ['task.waiting', 'concurrency'],
    ['task.waiting', 'plan_limit'],
    ['task.planning', undefined],
  ]);
});
