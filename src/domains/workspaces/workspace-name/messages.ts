/** Commands and queries of a workspace name. */

import { actorRef } from '../../../actors/define-actor.ts';
import type { WorkspaceRow } from '../workspace/entity.ts';

export type CreateNamedWorkspace = { workspaceId: string; accountId: string; name: string; description: string | null };

export type WorkspaceNameContract = {
  commands: {
    /**
     * Claims the name for `workspaceId`, creates that workspace and answers when it exists. Repeated with the same `workspaceId` it creates
     * nothing and returns the same workspace. Refused with `conflict` if another workspace has the name.
     */
    create(input: CreateNamedWorkspace): WorkspaceRow;
    /** Sent by the workspace once it exists. */
    created(input: { workspace: WorkspaceRow }): null;
  };
  queries: Record<never, never>;
};

export const workspaceName = actorRef<WorkspaceNameContract>('workspace_name');

/** The actor that guards a name within an account. */
export function workspaceNameId(accountId: string, name: string): string {
  return `${accountId}/${name}`;
}
