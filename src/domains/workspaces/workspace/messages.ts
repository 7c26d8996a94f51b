/** Commands and queries of a workspace. */

import { actorRef } from '../../../actors/define-actor.ts';
import type { WorkspaceRow } from './entity.ts';

export type CreateWorkspace = {
  accountId: string;
  name: string;
  description: string | null;
  /** The workspace name that claimed `name` and waits for the confirmation. */
  claimedBy?: string;
};

export type WorkspaceContract = {
  commands: {
    /** Creates the workspace, or changes nothing if it exists. May be asked, or sent directly if the name is generated and cannot be taken. */
    create(input: CreateWorkspace): WorkspaceRow;
    /** Changes nothing: files are counted when they are read. Earlier versions send it. */
    filesChanged(input: { by: 1 | -1 }): null;
  };
  queries: {
    /** Null where there is no such workspace. */
    describe(input: null): WorkspaceRow | null;
  };
};

export const workspace = actorRef<WorkspaceContract>('workspace');
