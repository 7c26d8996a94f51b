/** Finds a file by the id that callers know it by. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Database } from '../../../storage/database.ts';
import type { WorkspaceFileRow } from './entity.ts';
import { publicFileId, workspaceFile } from './messages.ts';

/** Its newest version, of any account; null if there is none, or it is deleted. */
export async function findFile(
  { actors, database }: { actors: ActorSystem; database: Database },
  fileId: string,
): Promise<WorkspaceFileRow | null> {
  if (!/^wsf_[0-9a-z]{26}$/.test(fileId)) return null;
  const { rows } = await database.read({
    name: 'file_by_id',
    text: 'select id from workspace_file where file_id = $1 or id = $1',
    values: [fileId],
  });
  const row = rows.length === 0 ? null : await actors.query(workspaceFile, rows[0].id, 'describe', null);
  return row !== null && publicFileId(row) === fileId ? row : null;
}
