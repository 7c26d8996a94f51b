/** Files of workspaces. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';

export const WorkspaceFile = defineEntity({
  name: 'WorkspaceFile',
  tableName: 'workspace_file',
  properties: {
    /** Belongs to the name for as long as the workspace lives. */
    id: p.text().primary(),
    /** The file's id for callers: a name that was deleted and is used again is another file. Null, in rows of versions whose ids carried no slot: as `id`. */
    fileId: p.text().strictNullable(),
    /** How many files of this name there have been. */
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
    status: p.text().$type<'present' | 'deleted'>(),
    createdAt: epochMs(),
  },
});
export type WorkspaceFileRow = InferEntity<typeof WorkspaceFile>;
