/**
 * A snapshot of files that are added one by one. Contents are stored at once; the rows are written together when it is complete, so a
 * snapshot that is not completed leaves only contents without a row, which the sweep of orphaned contents finds.
 */
import { createHash, type Hash } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import { newId } from '../../../ids.ts';
import { agentFileType, checkFilePath, newContentKey, workspaceFileId } from '../../workspaces/contract.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import { deploymentIds } from '../ids.ts';
import type { NewSnapshot, SiteFile } from './site.ts';
import type { SnapshotParts } from './snapshots.ts';

/** More than any host takes. */
export const maxSnapshotFiles = 100_000;

type AddedFile = SiteFile & { sha1: string };

export function beginSnapshot(parts: SnapshotParts, { id: workspaceId, accountId }: { id: string; accountId: string }): NewSnapshot {
  const added = new Map<string, AddedFile>();
  /** The form that each path was sent in, known before its content is stored: files may be added at once. */
  const sentPaths = new Map<string, string>();
  const keys = new Set<string>();

  return {
    async add({ path: sentPath, content, sizeBytes }) {
      const path = acceptedPath(sentPath, content);
      const contentKey = newContentKey(workspaceId, workspaceFileId(workspaceId, path), accountId);
      keys.add(contentKey);
      const sha1 = createHash('sha1');
      const stored = await parts.files.put(contentKey, hashing(content, sha1), sizeBytes);
      const before = added.get(path);
      added.set(path, { path, type: agentFileType(path), ...stored, contentKey, sha1: sha1.digest('hex') });
      if (before !== undefined) await parts.files.remove(before.contentKey);
    },

    async complete() {
      for (const folder of foldersOf(added.keys())) if (added.has(folder)) throw new DeployFailed('bad_name', bothFileAndFolder(folder));
      const snapshotId = newId(deploymentIds.snapshot, accountId);
      const files = [...added.values()];
      const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      const column = (name: keyof AddedFile) => files.map((file) => file[name]);
      await parts.database.write({
        name: 'complete_snapshot',
        text: `with whole as (insert into snapshot (id, account_id, workspace_id, files, bytes, new_bytes, created_at)
            values ($1, $2, $3, $4, $5, $5, now()) on conflict do nothing)
          insert into snapshot_file (snapshot_id, path, account_id, type, size_bytes, sha256, sha1, content_key)
          select $1, f.path, $2, f.type, f.size_bytes, f.sha256, f.sha1, f.content_key
          from unnest($6::text[], $7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[])
            as f(path, type, size_bytes, sha256, sha1, content_key) on conflict do nothing`,
        values: [
          ...[snapshotId, accountId, workspaceId, files.length, bytes],
          ...[column('path'), column('type'), column('sizeBytes'), column('sha256'), column('sha1'), column('contentKey')],
        ],
      });
      return { snapshotId, files: files.length, bytes };
    },

    async discard() {
      for (const key of keys) await parts.files.remove(key);
    },
  };

  function acceptedPath(sentPath: string, content: Readable): string {
    const refuse = (code: 'bad_name' | 'too_many_files', message: string): never => {
      content.destroy();
      throw new DeployFailed(code, message);
    };
    const checked = checkFilePath(sentPath);
    if ('problem' in checked) return refuse('bad_name', `${JSON.stringify(sentPath.slice(0, 300).toWellFormed())}: ${checked.problem}`);
    const before = sentPaths.get(checked.name);
    if (before !== undefined && before !== sentPath)
      return refuse('bad_name', `Two files have the name ${JSON.stringify(checked.name)} in different Unicode forms`);
    if (before === undefined && sentPaths.size >= maxSnapshotFiles)
      return refuse('too_many_files', `A site may have at most ${maxSnapshotFiles} files`);
    sentPaths.set(checked.name, sentPath);
    return checked.name;
  }
}

export function bothFileAndFolder(path: string): string {
  return `${JSON.stringify(path)} is the name of a file and of a folder`;
}

/** `content`, hashed while it streams. */
function hashing(content: Readable, hash: Hash): Readable {
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  // The reader of the hashed content gets the failure.
  pipeline(content, hashed, () => {});
  return hashed;
}

function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
