/** Agents whose effect is not started again because it has ended its process too often. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { abandonedMessage } from '../../../../src/actors/abandoned-effect.ts';
import { agentActor } from '../../../../src/domains/tasks/agent/agent.ts';
import type { AgentRow } from '../../../../src/domains/tasks/agent/entity.ts';
import { newAgent } from '../../../../src/domains/tasks/agent/state.ts';
import { RecordedTurn } from '../../../support/turn-context.ts';

const abandoned = { effectId: 'eff_1', outcome: { kind: 'failed', message: abandonedMessage, abandoned: true }, tookMs: 0 } as const;
const { commands } = agentActor({} as never, {} as never);

const working = (more: Partial<AgentRow>): AgentRow => ({
  ...newAgent('agnt_1', { accountId: 'acct_1', taskId: 'task_1', type: 'builder', title: 't', prompt: 'p' } as never, 0),
  status: 'acting',
  place: 'held',
  effectId: 'eff_1',
  ...more,
});
const call = { id: 'call_1', name: 'code_exec', arguments: {}, approvalId: null } as never;

for (const [what, command, state] of [
  ['tool call', 'toolDone', working({ phase: 'calling', calls: [call] })],
  ['check of its output', 'outputChecked', working({ phase: 'closing', result: 'done' })],
  ['model turn', 'modelled', working({ phase: 'modelling', turn: 1 })],
] as const) {
  test(`an agent whose ${what} has repeatedly ended its process fails with that reason and does not try it again`, () => {
    const turn = new RecordedTurn('agnt_1');
    const ended = commands[command](state, abandoned, turn as never).state as AgentRow;
    assert.deepEqual([ended.status, ended.phase, ended.error, ended.effectId], ['error', 'ended', abandonedMessage, null]);
    assert.deepEqual(turn.effects, []);
    assert.deepEqual(turn.events.find(({ type }) => type === 'agent.error')?.data.error, abandonedMessage);
    assert.ok(
      turn.messages.some(({ kind, id }) => kind === 'task' && id === 'task_1'),
      'the task is notified',
    );
  });
}
