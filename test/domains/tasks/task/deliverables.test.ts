import assert from 'node:assert/strict';
import test from 'node:test';
import { accountsIds } from '../../../../src/domains/accounts/ids.ts';
import { tasksIds } from '../../../../src/domains/tasks/ids.ts';
import type { TaskRow } from '../../../../src/domains/tasks/task/entity.ts';
import { newTask } from '../../../../src/domains/tasks/task/state.ts';
import { taskActor } from '../../../../src/domains/tasks/task/task.ts';
import { derivedId, newId } from '../../../../src/ids.ts';
import { RecordedTurn } from '../../../support/turn-context.ts';

const { delivered } = taskActor({ plan: null as never }).commands;

test('the id of a deliverable has the slot of its account and does not change with new versions; older ids without a slot are kept', () => {
  const accountId = newId(accountsIds.account, null);
  const id = newId(tasksIds.task, accountId);
  const earlier = derivedId(tasksIds.deliverable, null, id, 'old.md');
  let state: TaskRow = { ...newTask(id, { accountId, workspaceId: 'ws_1' } as never, 1), deliverables: [earlier] };
  const emitted = ['old.md', 'new.md', 'new.md', 'old.md'].map((name) => {
    const ctx = new RecordedTurn(id, 1);
    state = delivered(state, { name, type: 't', sizeBytes: 1, sha256: '', contentKey: 'k' }, ctx).state!;
    const { type, data } = ctx.events[0]!;
    assert.equal(ctx.rows[0].id, data.deliverable_id);
    return [type, data.deliverable_id];
  });
  const fresh = state.deliverables[1]!;
  assert.deepEqual(state.deliverables, [earlier, fresh]);
  assert.equal(fresh.slice(-2), accountId.slice(-2));
  assert.deepEqual(emitted, [
    ['deliverable.updated', earlier],
    ['deliverable.created', fresh],
    ['deliverable.updated', fresh],
    ['deliverable.updated', earlier],
  ]);
});
