/** Names of workspaces. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** One row a workspace name of an account: its actor makes names unique. */
export const WorkspaceName = defineEntity({
  name: 'WorkspaceName',
  tableName: 'workspace_name',
  properties: { id: p.text().primary(), workspaceId: p.text() },
});
export type WorkspaceNameRow = InferEntity<typeof WorkspaceName>;
