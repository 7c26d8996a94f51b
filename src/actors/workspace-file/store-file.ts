/** Writing a file: its bytes go to the store first and the row is committed when they are safe, so nobody ever sees half a file. */
import type { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import { newContentKey } from '../../storage/content-key.ts';
import type { WorkspaceFileRow } from '../../storage/entities/work.ts';
import type { FileStore } from '../../storage/files.ts';
import type { ActorSystem } from '../runtime/actor-system.ts';
import { workspaceFile, workspaceFileId } from './messages.ts';

export const maxFileBytes = 50 * 2 ** 20;

export type NewFile = {
  workspaceId: string;
  accountId: string;
  /** Checked by `checkFileName`. */
  name: string;
  type: string;
  deliverFor: string | null;
};

/**
 * Stores the content and makes it the newest version of the file. Answers the row once it is committed.
 *
 * Rejects with what `content` fails with, `payload_too_large`, or an `AppError` of the commit; then the store holds nothing of it, save where
 * nobody knows whether it was committed.
 *
 * @param commandId asked again with the same one, no second version comes to be
 */
export async function storeFile(
  { actors, files }: { actors: ActorSystem; files: FileStore },
  file: NewFile,
  content: Readable,
  commandId?: string,
): Promise<WorkspaceFileRow> {
  const id = workspaceFileId(file.workspaceId, file.name);
  const contentKey = newContentKey(file.workspaceId, id);
  const stored = await files.put(contentKey, content, maxFileBytes);
  let row: WorkspaceFileRow;
  try {
    row = await actors.ask(workspaceFile, id, 'put', { ...file, ...stored, contentKey }, { commandId });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'outcome_unknown')) await discard();
    throw error;
  }
  // An earlier try was first: its content counts.
  if (row.contentKey !== contentKey) await discard();
  return row;

  /** What cannot be removed now, the sweep of orphaned content finds later. */
  function discard(): Promise<void> {
    return files.remove(contentKey).catch(() => {});
  }
}
