/**
 * One name in a workspace: its current file in its newest version, and the number of files that have had it. Contents are stored before
 * they are referenced here and removed after the last reference, so a row never refers to missing bytes.
 */

import Type from 'typebox';
import {
  type ActorDefinition,
  defineActor,
  type EffectResult,
  type NewEvent,
  type Turn,
  type TurnContext,
} from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { accountStorage } from '../../accounts/contract.ts';
import { workspacesIds } from '../ids.ts';
import { WorkspaceFile, type WorkspaceFileRow } from './entity.ts';
import { workspaceFileInputs } from './inputs.ts';
import { type PutFile, publicFileId, type RemovalResult, type WorkspaceFileContract, workspaceFile } from './messages.ts';
import { unneededContents } from './orphan-content.ts';
import { deliveryPort } from './ports.ts';

/** By then a task has recorded the deliverable, and running reads have ended. */
const removeAgainAfterMs = 600_000;

type Parts = { database: Database; files: Pick<FileStore, 'remove'> };
export type Removal = { contentKey: string; last: boolean };

export function workspaceFileActor(parts: Parts): ActorDefinition<WorkspaceFileRow, WorkspaceFileContract> {
  return defineActor<WorkspaceFileRow, WorkspaceFileContract>({
    ref: workspaceFile,
    entity: WorkspaceFile,
    inputs: workspaceFileInputs,
    commands: { put, remove, contentRemoved, removeAgain },
    queries: { describe: (state) => (state?.status === 'present' ? state : null) },
    effects: {
      removeContent: {
        async run({ contentKey, last }: Removal): Promise<RemovalResult> {
          const gone = await removeUnneeded(parts, contentKey);
          return { contentKey, again: !gone && !last };
        },
        repeatable: () => true,
        timeoutMs: 60_000,
        outcome: 'contentRemoved',
        input: Type.Object({ contentKey: Type.String(), last: Type.Boolean() }),
      },
    },
    idleTimeoutMs: 60_000,
  });
}

function put(
  state: WorkspaceFileRow | null,
  input: PutFile,
  ctx: TurnContext<WorkspaceFileContract>,
): Turn<WorkspaceFileRow, WorkspaceFileRow> {
  if (state !== null && state.contentKey === input.contentKey) return { state, reply: state };
  const { deliverFor, holdsUntrusted = false, ...content } = input;
  const before = state?.status === 'present' ? state : null;
  const row: WorkspaceFileRow = {
    id: ctx.id,
    ...content,
    holdsUntrusted,
    status: 'present',
    ...(before === null ? firstVersion(state, content, ctx) : nextVersion(before)),
  };
  if (before !== null) ctx.run('removeContent', { contentKey: before.contentKey, last: false } satisfies Removal);
  const grown = { bytes: row.sizeBytes - (before?.sizeBytes ?? 0), files: before === null ? 1 : 0 };
  ctx.send(accountStorage, row.accountId, 'changed', { contentKey: row.contentKey, ...grown });
  ctx.emit({ ...fileEvent('workspace.file_created', row), taskId: deliverFor ?? undefined });
  if (deliverFor !== null) {
    const { name, type, sizeBytes, sha256, contentKey } = row;
    ctx.send(deliveryPort, deliverFor, 'delivered', { name, type, sizeBytes, sha256, contentKey });
  }
  return { state: row, reply: row };
}

function remove(
  state: WorkspaceFileRow | null,
  wanted: { fileId: string } | null,
  ctx: TurnContext<WorkspaceFileContract>,
): Turn<WorkspaceFileRow, null> {
  if (state?.status !== 'present' || (wanted !== null && wanted.fileId !== publicFileId(state)))
    throw new AppError('not_found', 'File not found');
  ctx.run('removeContent', { contentKey: state.contentKey, last: false } satisfies Removal);
  ctx.send(accountStorage, state.accountId, 'changed', { contentKey: null, bytes: -state.sizeBytes, files: -1 });
  ctx.emit(fileEvent('workspace.file_deleted', state));
  return { state: { ...state, status: 'deleted' }, reply: null };
}

/** @param gone the deleted file that had the name before: it stays deleted, also for callers with its id */
function firstVersion(gone: WorkspaceFileRow | null, { accountId }: Pick<PutFile, 'accountId'>, ctx: TurnContext<WorkspaceFileContract>) {
  const generation = (gone?.generation ?? 0) + 1;
  return { fileId: ctx.newId(workspacesIds.file, accountId), generation, version: 1, createdAt: ctx.nowMs };
}

function nextVersion({ fileId, generation, version, createdAt }: WorkspaceFileRow) {
  return { fileId, generation, version: version + 1, createdAt };
}

/**
 * A deliverable may still refer to the content, permanently or until its task has recorded the next version: it is checked once more. After
 * another failure the sweep of orphaned content removes it.
 */
function contentRemoved(
  state: WorkspaceFileRow | null,
  { outcome }: EffectResult<RemovalResult>,
  ctx: TurnContext<WorkspaceFileContract>,
): Turn<WorkspaceFileRow | null, null> {
  if (outcome.kind === 'done' && outcome.value.again) {
    const { contentKey } = outcome.value;
    ctx.schedule(`remove ${contentKey}`, ctx.nowMs + removeAgainAfterMs, 'removeAgain', { contentKey });
  }
  return { state, reply: null };
}

function removeAgain(
  state: WorkspaceFileRow | null,
  { contentKey }: { contentKey: string },
  ctx: TurnContext<WorkspaceFileContract>,
): Turn<WorkspaceFileRow | null, null> {
  ctx.run('removeContent', { contentKey, last: true } satisfies Removal);
  return { state, reply: null };
}

/** Whether the content is removed. */
async function removeUnneeded({ database, files }: Parts, contentKey: string): Promise<boolean> {
  try {
    const unneeded = await unneededContents(database, [contentKey]);
    for (const key of unneeded) await files.remove(key);
    return unneeded.length > 0;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

function fileEvent(type: string, file: WorkspaceFileRow): NewEvent {
  const data = {
    workspace_id: file.workspaceId,
    file_id: publicFileId(file),
    name: file.name,
    type: file.type,
    size_bytes: file.sizeBytes,
    version: file.version,
  };
  return { accountId: file.accountId, type, data };
}
