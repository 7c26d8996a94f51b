/** Derived state of a task. */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { unrecordedScopes } from '../../../authority.ts';
import { derivedId } from '../../../ids.ts';
import type { DeliveredFile } from '../../workspaces/contract.ts';
import { tasksIds } from '../ids.ts';
import type { DeliverableRow, TaskRow } from './entity.ts';
import type { CreateTask, TaskContract } from './messages.ts';

export function newTask(id: string, input: CreateTask & { workspaceId: string; ownsWorkspace: boolean }, nowMs: number): TaskRow {
  return {
    ...input,
    // A node of an older version does not send it.
    scopes: input.scopes === undefined ? unrecordedScopes : input.scopes,
    id,
    holdsUntrusted: false,
    status: 'pending',
    pauseReason: null,
    agents: [],
    approvals: [],
    planEffectId: null,
    granted: [],
    waiting: [],
    places: {},
    placesAsked: 0,
    limitReached: false,
    waitingFor: null,
    deliverables: [],
    deploymentId: null,
    tokensUsed: 0,
    costMillicents: 0,
    error: null,
    createdAt: nowMs,
    updatedAt: nowMs,
    completedAt: null,
  };
}

/** A name has one deliverable per task, with the content of the last write. */
export function deliverableOf(task: TaskRow, file: DeliveredFile, nowMs: number): DeliverableRow {
  // A deliverable that an earlier version made keeps its id, which carries no slot.
  const earlier = derivedId(tasksIds.deliverable, null, task.id, file.name);
  const id = task.deliverables.includes(earlier) ? earlier : derivedId(tasksIds.deliverable, task.accountId, task.id, file.name);
  return { ...file, id, taskId: task.id, accountId: task.accountId, createdAt: nowMs };
}

export function emit(ctx: TurnContext<TaskContract>, task: TaskRow, type: string, data: object = {}): void {
  ctx.emit({ accountId: task.accountId, type, taskId: task.id, data: { task_id: task.id, status: task.status, ...data } });
}
