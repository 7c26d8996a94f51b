/** A workspace is a container of files that agents share across tasks. Its files are actors of their own. */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { workspaceName } from '../workspace-name/messages.ts';
import { Workspace, type WorkspaceRow } from './entity.ts';
import { workspaceInputs } from './inputs.ts';
import { type CreateWorkspace, type WorkspaceContract, workspace } from './messages.ts';

export const workspaceActor = defineActor<WorkspaceRow, WorkspaceContract>({
  ref: workspace,
  entity: Workspace,
  inputs: workspaceInputs,
  commands: { create, filesChanged },
  queries: { describe: (state) => state },
});

function create(
  state: WorkspaceRow | null,
  { accountId, name, description, claimedBy }: CreateWorkspace,
  ctx: TurnContext<WorkspaceContract>,
): Turn<WorkspaceRow, WorkspaceRow> {
  const row =
    state ??
    ({ id: ctx.id, accountId, name, description, status: 'active', fileCount: 0, createdAt: ctx.nowMs } satisfies Omit<
      WorkspaceRow,
      symbol
    >);
  if (claimedBy !== undefined) ctx.send(workspaceName, claimedBy, 'created', { workspace: row });
  return { state: row, reply: row };
}

function filesChanged(state: WorkspaceRow | null): Turn<WorkspaceRow | null, null> {
  return { state, reply: null };
}
