/**
 * Snapshots of workspaces. They have no actor: rows are written once and never change.
 *
 * S1 A snapshot is the state of its workspace at one moment: one statement reads all files.
 * S2 A content that a snapshot names is not removed. Removals ask `unneededContents`, which sees the rows of finished snapshots. Before files
 *    are read, a row without a number of files announces the snapshot: from then on no content of the workspace is removed. A content that was
 *    removed before was replaced before, so the statement that reads the files sees the newer one. Announcements count for ten minutes, and
 *    the files are read within the first five.
 * S3 Only finished snapshots are shown. The remains of others are removed by `unneeded-snapshots.ts`.
 */
import { AppError } from '../../../errors.ts';
import { newId } from '../../../ids.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import { deploymentIds } from '../ids.ts';
import { beginSnapshot, bothFileAndFolder } from './new-snapshot.ts';
import { RecentContents } from './recent-contents.ts';
import { mustHaveRoom, type StorageLimits } from './room.ts';
import { sha1OfFiles } from './sha1.ts';
import type { SiteFile, Snapshot, Snapshots } from './site.ts';
import { unsynced } from './unsynced.ts';

export type SnapshotParts = {
  database: Database;
  files: Pick<FileStore, 'put' | 'open' | 'remove'>;
  /** What the plan of an account lets it store. */
  limitsOf(accountId: string): Promise<StorageLimits>;
};

export function openSnapshots(parts: SnapshotParts): Snapshots {
  const { database, files } = parts;
  const recent = new RecentContents();

  const snapshots: Snapshots = {
    async take({ id: workspaceId, accountId }) {
      await mustHaveRoom(database, accountId, await parts.limitsOf(accountId));
      const snapshotId = newId(deploymentIds.snapshot, accountId);
      const announcement = `with ${unsynced} insert into snapshot (id, account_id, workspace_id, created_at)
        select $1, $2, $3, now() from unsynced`;
      await database.write({ name: 'begin_snapshot', text: announcement, values: [snapshotId, accountId, workspaceId] });
      try {
        const taken = await readFiles(snapshotId, workspaceId);
        await refuseFoldersThatAreFiles(snapshotId);
        return taken;
      } catch (error) {
        await snapshots.remove(snapshotId).catch(() => {});
        throw error;
      }
    },

    async within(sourceId, folder) {
      const { rows } = await database.read({
        name: 'snapshot_owner',
        text: 'select account_id from snapshot where id = $1',
        values: [sourceId],
      });
      if (rows.length === 0) throw new AppError('not_found', 'Snapshot not found');
      const snapshotId = newId(deploymentIds.snapshot, rows[0].account_id);
      const { rows: copied } = await database.write({
        name: 'snapshot_within',
        text: `with part as materialized (select substr(path, length($3) + 1) as path, account_id, type, size_bytes, sha256, sha1, content_key
            from snapshot_file where snapshot_id = $2 and starts_with(path, $3)),
          files as (insert into snapshot_file (snapshot_id, path, account_id, type, size_bytes, sha256, sha1, content_key)
            select $1, * from part)
          insert into snapshot (id, account_id, workspace_id, files, bytes, new_bytes, created_at)
          select $1, account_id, workspace_id, (select count(*) from part), (select coalesce(sum(size_bytes), 0) from part), 0, now()
          from snapshot where id = $2 returning files, bytes`,
        values: [snapshotId, sourceId, `${folder.normalize('NFC')}/`],
      });
      if (copied.length === 0) throw new AppError('not_found', 'Snapshot not found');
      return { snapshotId, files: copied[0].files, bytes: copied[0].bytes };
    },

    begin: (workspace) => Promise.resolve(beginSnapshot(parts, workspace)),

    async files(snapshotId) {
      const { rows } = await database.read({
        name: 'snapshot_files',
        text: `select ${columns} from snapshot_file where snapshot_id = $1 order by path collate "C"`,
        values: [snapshotId],
      });
      if (rows.length === 0) await mustBeThere(snapshotId);
      return rows as SiteFile[];
    },

    async file(snapshotId, path) {
      const { rows } = await database.read({
        name: 'snapshot_file',
        text: `select ${columns} from snapshot_file where snapshot_id = $1 and path = $2`,
        values: [snapshotId, path.normalize('NFC')],
      });
      if (rows.length === 0) throw new AppError('not_found', 'Not Found');
      return rows[0] as SiteFile;
    },

    open: async (file) => recent.take(file.contentKey) ?? files.open(file.contentKey),

    sha1: (snapshotId, siteFiles, signal, turn) => sha1OfFiles(parts, recent, snapshotId, siteFiles, { signal, turn }),

    async remove(snapshotId) {
      await database.write({
        name: 'remove_snapshot',
        text: 'with files as (delete from snapshot_file where snapshot_id = $1) delete from snapshot where id = $1',
        values: [snapshotId],
      });
    },
  };
  return snapshots;

  async function readFiles(snapshotId: string, workspaceId: string): Promise<Snapshot> {
    const { rows } = await database.write({
      name: 'take_snapshot',
      text: takeSnapshotText,
      values: [snapshotId, workspaceId],
    });
    if (rows.length === 0) throw new AppError('unavailable', 'The snapshot took too long to begin; try again shortly', { retryAfterS: 1 });
    return { snapshotId, files: rows[0].files, bytes: rows[0].bytes };
  }

  /** `a` and `a/b` may both be in a workspace, but no file system and no host has both. */
  async function refuseFoldersThatAreFiles(snapshotId: string): Promise<void> {
    const { rows } = await database.read({
      name: 'folders_that_are_files',
      text: `select f.path from snapshot_file f where f.snapshot_id = $1 and f.path in
        (select distinct array_to_string(parts[1:n], '/') from (select string_to_array(path, '/') as parts from snapshot_file
          where snapshot_id = $1 and path like '%/%') as paths, generate_series(1, cardinality(parts) - 1) as n) limit 1`,
      values: [snapshotId],
    });
    if (rows.length > 0) throw new DeployFailed('bad_name', bothFileAndFolder(rows[0].path));
  }

  async function mustBeThere(snapshotId: string): Promise<void> {
    const text = 'select from snapshot where id = $1 and files is not null';
    const { rows } = await database.read({ name: 'snapshot_by_id', text, values: [snapshotId] });
    if (rows.length === 0) throw new AppError('not_found', 'Snapshot not found');
  }
}

/** $1: the announced snapshot; $2: its workspace. Exported for the test of its plan. */
export const takeSnapshotText = `with ${unsynced}, begun as materialized (select id from snapshot, unsynced where id = $1 and files is null and created_at > now() - interval '5 minutes'),
    found as materialized (select f.*, k.sha1, k.content_key is null as is_new from workspace_file f
      left join lateral (select content_key, sha1 from snapshot_file s where s.content_key = f.content_key order by sha1 nulls last limit 1) k on true
      where f.workspace_id = $2 and f.status = 'present'),
    taken as (insert into snapshot_file (snapshot_id, path, account_id, type, size_bytes, sha256, sha1, content_key)
      select begun.id, f.name, f.account_id, f.type, f.size_bytes, f.sha256, f.sha1, f.content_key from begun, found f),
    total as (select count(*)::int as files, coalesce(sum(size_bytes), 0)::bigint as bytes,
      coalesce(sum(size_bytes) filter (where is_new), 0)::bigint as new_bytes from found)
    update snapshot set files = total.files, bytes = total.bytes, new_bytes = total.new_bytes from begun, total where snapshot.id = begun.id
    returning snapshot.files, snapshot.bytes`;

/** A row of them is a `SiteFile`. */
const columns = 'path, type, size_bytes as "sizeBytes", sha256, content_key as "contentKey"';
