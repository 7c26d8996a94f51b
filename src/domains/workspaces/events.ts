/** Events of workspaces. */
import type { EventFamilies } from '../../edge/stream/event-catalogue.ts';

export const workspacesEvents: EventFamilies = {
  workspace: { names: ['file_created', 'file_deleted'], scope: 'workspaces.read' },
};
