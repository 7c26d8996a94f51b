/** What other domains may import of workspaces: a workspace and its files. */

export { agentFileType, baseName } from '../../file-kinds.ts';
export { workspacesIds } from './ids.ts';
export { ownWorkspace } from './own-workspace.ts';
export { createDownloadLinks, type DownloadLinks, linkAdvice } from './routes/download-link.ts';
export { workspace } from './workspace/messages.ts';
export { newContentKey } from './workspace-file/content-key.ts';
export { checkFilePath, maxPathBytes } from './workspace-file/file-name.ts';
export { findFile } from './workspace-file/find-file.ts';
export { workspaceFileId } from './workspace-file/messages.ts';
export type { DeliveredFile, DeliveryPort } from './workspace-file/ports.ts';
export { type WorkspaceAccess, workspaceAccess } from './workspace-file/workspace-access.ts';
