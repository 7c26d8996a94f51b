/** What resuming a paused agent answers. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { agentActor } from '../../../../src/domains/tasks/agent/agent.ts';
import type { AgentRow } from '../../../../src/domains/tasks/agent/entity.ts';
import { newAgent } from '../../../../src/domains/tasks/agent/state.ts';
import { RecordedTurn } from '../../../support/turn-context.ts';

const { commands } = agentActor({} as never, {} as never);

test('resuming an agent that has not begun answers idle, as the agent is shown', () => {
  const input = { accountId: 'acct_1', taskId: 'task_1', type: 'builder', title: 't', prompt: 'p' };
  const paused: AgentRow = { ...newAgent('agnt_1', input as never, 0), status: 'paused' };
  const { state, reply } = commands.resume(paused, {}, new RecordedTurn('agnt_1') as never);
  assert.equal((state as AgentRow).status, 'idle');
  assert.deepEqual(reply, { id: 'agnt_1', status: 'idle', message: 'Agent resumed; it has not begun yet.' });
});
