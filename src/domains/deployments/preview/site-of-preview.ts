/** The files of previews: sites of live deployments that were made with a test key. Read from the rows, on any node. */
import type { Database } from '../../../storage/database.ts';
import { deploymentIds } from '../ids.ts';

export type PreviewFile = { path: string; type: string; sizeBytes: number; contentKey: string };
export type PreviewEntry = { path: string; sizeBytes: number };

const served = `from deployment d join snapshot_file f on f.snapshot_id = d.site_id where d.id = $1 and d.mode = 'test' and d.status = 'live'`;

/** Those of these paths that are there. */
export async function filesOfPreview(database: Pick<Database, 'read'>, id: string, paths: readonly string[]): Promise<PreviewFile[]> {
  if (!id.startsWith(deploymentIds.deployment)) return [];
  const { rows } = await database.read({
    name: 'files_of_preview',
    text: `select f.path, f.type, f.size_bytes::float8 as "sizeBytes", f.content_key as "contentKey" ${served} and f.path = any($2)`,
    values: [id, paths],
  });
  return rows;
}

/** The first files below a folder, in the order of their paths. @param folder empty, or with a slash at its end */
export async function entriesOfPreview(
  database: Pick<Database, 'read'>,
  id: string,
  folder: string,
  limit: number,
): Promise<PreviewEntry[]> {
  if (!id.startsWith(deploymentIds.deployment)) return [];
  const { rows } = await database.read({
    name: 'entries_of_preview',
    text: `select f.path, f.size_bytes::float8 as "sizeBytes" ${served} and starts_with(f.path, $2) order by f.path limit $3`,
    values: [id, folder, limit],
  });
  return rows;
}
