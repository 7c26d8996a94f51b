/**
 * One name in a workspace: its newest version, and the counting of versions for as long as the workspace lives. Contents are stored before
 * they are put here and removed after nothing needs them any more, so a row never speaks of bytes that are not there.
 */
import { AppError } from '../../errors.ts';
import type { Database } from '../../storage/database.ts';
import { WorkspaceFile, type WorkspaceFileRow } from '../../storage/entities/work.ts';
import type { FileStore } from '../../storage/files.ts';
import { unneededContents } from '../../storage/orphan-content.ts';
import { type ActorDefinition, defineActor, type NewEvent, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { task } from '../task/messages.ts';
import { workspace } from '../workspace/messages.ts';
import { type PutFile, type WorkspaceFileContract, workspaceFile } from './messages.ts';

export function workspaceFileActor(parts: {
  database: Database;
  files: Pick<FileStore, 'remove'>;
}): ActorDefinition<WorkspaceFileRow, WorkspaceFileContract> {
  return defineActor<WorkspaceFileRow, WorkspaceFileContract>({
    ref: workspaceFile,
    entity: WorkspaceFile,
    // A failed removal is no matter of this file: the sweep of orphaned content finds it.
    commands: { put, remove, contentRemoved: (state) => ({ state, reply: null }) },
    queries: { describe: (state) => (state?.status === 'present' ? state : null) },
    effects: {
      /** A deliverable may still refer to the content: then it stays, and the sweep looks again. */
      removeContent: {
        async run({ contentKey }: { contentKey: string }) {
          for (const key of await unneededContents(parts.database, [contentKey])) await parts.files.remove(key);
          return null;
        },
        repeatable: () => true,
        timeoutMs: 60_000,
        outcome: 'contentRemoved',
      },
    },
    idleTimeoutMs: 60_000,
  });
}

function put(state: WorkspaceFileRow | null, input: PutFile, ctx: TurnContext): Turn<WorkspaceFileRow, WorkspaceFileRow> {
  if (state !== null && state.contentKey === input.contentKey) return { state, reply: state };
  const { deliverFor, ...content } = input;
  const before = state?.status === 'present' ? state : null;
  const version = (state?.version ?? 0) + 1;
  const createdAt = before?.createdAt ?? ctx.nowMs;
  const row = { id: ctx.id, ...content, version, status: 'present', createdAt } as WorkspaceFileRow;
  if (before === null) ctx.send(workspace, row.workspaceId, 'filesChanged', { by: 1 });
  else ctx.run('removeContent', { contentKey: before.contentKey });
  ctx.emit({ ...fileEvent('workspace.file_created', row), taskId: deliverFor ?? undefined });
  if (deliverFor !== null) {
    const { name, type, sizeBytes, sha256, contentKey } = row;
    ctx.send(task, deliverFor, 'delivered', { name, type, sizeBytes, sha256, contentKey });
  }
  return { state: row, reply: row };
}

function remove(state: WorkspaceFileRow | null, _: null, ctx: TurnContext): Turn<WorkspaceFileRow, null> {
  if (state?.status !== 'present') throw new AppError('not_found', 'File not found');
  ctx.send(workspace, state.workspaceId, 'filesChanged', { by: -1 });
  ctx.run('removeContent', { contentKey: state.contentKey });
  ctx.emit(fileEvent('workspace.file_deleted', state));
  return { state: { ...state, status: 'deleted' }, reply: null };
}

function fileEvent(type: string, file: WorkspaceFileRow): NewEvent {
  const data = {
    workspace_id: file.workspaceId,
    file_id: file.id,
    name: file.name,
    type: file.type,
    size_bytes: file.sizeBytes,
    version: file.version,
  };
  return { accountId: file.accountId, type, data };
}
