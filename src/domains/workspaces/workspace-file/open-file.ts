/** Opens a file: its newest committed version, by the key in its row. */
import type { Readable } from 'node:stream';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError } from '../../../errors.ts';
import type { FileStore } from '../../../storage/files.ts';
import type { WorkspaceFileRow } from './entity.ts';
import { workspaceFile, workspaceFileId } from './messages.ts';

const maxTries = 3;

/** The file and its bytes; null if no file has that name. */
export async function openFile(
  parts: { actors: ActorSystem; files: FileStore },
  workspaceId: string,
  name: string,
): Promise<{ file: WorkspaceFileRow; stream: Readable } | null> {
  const find = () => parts.actors.query(workspaceFile, workspaceFileId(workspaceId, name), 'describe', null);
  return whileCurrent(find, async (file) => ({ file, stream: await parts.files.open(file.contentKey) }));
}

/**
 * Uses the newest version; if its content was removed because a newer one replaced it between query and use, queries again. Other errors of
 * `use` are rethrown.
 */
export async function whileCurrent<T>(
  find: () => WorkspaceFileRow | null | Promise<WorkspaceFileRow | null>,
  use: (file: WorkspaceFileRow) => Promise<T>,
): Promise<T | null> {
  for (let tries = 1; ; tries++) {
    const file = await find();
    if (file === null) return null;
    try {
      return await use(file);
    } catch (error) {
      const now = error instanceof AppError && error.code === 'not_found' ? await find() : file;
      if (now?.contentKey === file.contentKey || tries >= maxTries) throw error;
    }
  }
}
