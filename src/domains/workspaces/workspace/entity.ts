/** Workspaces. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';

export const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspace',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    name: p.text(),
    description: p.text().strictNullable(),
    status: p.text().$type<'active'>(),
    /** No longer used: files are counted when they are read. */
    fileCount: p.integer(),
    createdAt: epochMs(),
  },
});
export type WorkspaceRow = InferEntity<typeof Workspace>;
