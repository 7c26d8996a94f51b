/** The tables of workspaces. */
import type { Schema } from '../../storage/schema.ts';
import { MarksOfFiles } from './migrations/0050-marks-of-files.ts';
import { Workspace } from './workspace/entity.ts';
import { WorkspaceFile } from './workspace-file/entity.ts';
import { WorkspaceName } from './workspace-name/entity.ts';

export const workspacesSchema: Schema = { entities: [Workspace, WorkspaceFile, WorkspaceName], migrations: [MarksOfFiles] };
