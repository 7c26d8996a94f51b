/** A workspace named by a caller. */
import type { ActorSystem } from '../../actors/actor-system.ts';
import type { Principal } from '../../edge/auth/principal.ts';
import { ownedBy } from '../../edge/routes/ownership.ts';
import type { WorkspaceRow } from './workspace/entity.ts';
import { workspace } from './workspace/messages.ts';

/** The workspace, if it is the caller's. Rejects with `not_found`. */
export async function ownWorkspace(actors: ActorSystem, principal: Principal, id: string): Promise<WorkspaceRow> {
  return ownedBy(principal, await actors.query(workspace, id, 'describe', null), 'Workspace');
}
