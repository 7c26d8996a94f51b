/** Files of workspaces. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';

export const WorkspaceFile = defineEntity({
  name: 'WorkspaceFile',
  tableName: 'workspace_file',
  properties: {
    /** Belongs to the name as long as the workspace exists. */
    id: p.text().primary(),
    /**
     * The file's id for callers: a name that is used again after a deletion is another file. Null in rows of versions whose ids had no
     * slot: then `id`.
     */
    fileId: p.text().strictNullable(),
    /** How many files have had this name. */
    generation: p.integer(),
    workspaceId: p.text(),
    accountId: p.text(),
    name: p.text(),
    type: p.text(),
    sizeBytes: p.bigint('number'),
    sha256: p.text(),
    version: p.integer(),
    /** Key of this version's content in the file store. */
    contentKey: p.text(),
    /** This version was written by an agent that had read text that others wrote. */
    holdsUntrusted: p.boolean(),
    status: p.text().$type<'present' | 'deleted'>(),
    createdAt: epochMs(),
  },
});
export type WorkspaceFileRow = InferEntity<typeof WorkspaceFile>;
