/**
 * One name of a workspace within an account. All claims of the name go to this actor, so it is unique; the claim is committed together with
 * the message that creates the workspace, so a claimed name always gets one.
 */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { WorkspaceRow } from '../workspace/entity.ts';
import { workspace } from '../workspace/messages.ts';
import { WorkspaceName, type WorkspaceNameRow } from './entity.ts';
import { workspaceNameInputs } from './inputs.ts';
import { type CreateNamedWorkspace, type WorkspaceNameContract, workspaceName } from './messages.ts';

export const workspaceNameActor = defineActor<WorkspaceNameRow, WorkspaceNameContract>({
  ref: workspaceName,
  entity: WorkspaceName,
  inputs: workspaceNameInputs,
  commands: { create, created },
  queries: {},
  idleTimeoutMs: 30_000,
});

function create(
  state: WorkspaceNameRow | null,
  { workspaceId, accountId, name, description }: CreateNamedWorkspace,
  ctx: TurnContext<WorkspaceNameContract>,
): Turn<WorkspaceNameRow, WorkspaceRow> {
  if (state !== null && state.workspaceId !== workspaceId)
    throw new AppError('conflict', `A workspace named ${JSON.stringify(name)} exists already`);
  // Also when repeated: the workspace is created once and confirms each time that it exists.
  ctx.send(workspace, workspaceId, 'create', { accountId, name, description, claimedBy: ctx.id });
  ctx.defer(workspaceId);
  // This reply is unused: the caller is answered when the workspace exists.
  return { state: state ?? { id: ctx.id, workspaceId }, reply: undefined as never };
}

function created(
  state: WorkspaceNameRow | null,
  input: { workspace: WorkspaceRow },
  ctx: TurnContext<WorkspaceNameContract>,
): Turn<WorkspaceNameRow | null, null> {
  ctx.answer('create', input.workspace.id, input.workspace);
  return { state, reply: null };
}
