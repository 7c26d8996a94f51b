/** Workspaces and their files on a node. */
import type { Platform, StartedDomain } from '../domain.ts';
import { createDownloadLinks } from './routes/download-link.ts';
import { workspaceRoutes } from './routes/workspaces.ts';
import { workspaceActor } from './workspace/workspace.ts';
import { OrphanContent } from './workspace-file/orphan-content.ts';
import { workspaceFileActor } from './workspace-file/workspace-file.ts';
import { workspaceNameActor } from './workspace-name/workspace-name.ts';

export function startWorkspaces({ actors, database, files, tokens, publicUrl, clock }: Platform): StartedDomain {
  return {
    actors: [workspaceActor, workspaceNameActor, workspaceFileActor({ database, files })],
    routes: workspaceRoutes({ actors, database, files, links: createDownloadLinks(tokens, publicUrl) }),
    jobs: [new OrphanContent({ database, files, clock })],
  };
}
