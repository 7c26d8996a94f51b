/** SHA-1 of a snapshot's files, for hosts that ask for it. Stored in the rows, so each content is read once. */
import { createHash } from 'node:crypto';
import type { SiteFile } from './site.ts';
import type { SnapshotParts } from './snapshots.ts';
import { unsynced } from './unsynced.ts';

/** Reads of one call at a time. */
const readsAtOnce = 8;
/** Hashes are stored in pieces of this many, so that an interrupted call keeps most hashes. */
const pieceFiles = 1_000;

type Reads = { signal: AbortSignal; turn: (() => Promise<void>) | undefined };

/** In the order of the files, which are the snapshot's. */
export async function sha1OfFiles(parts: SnapshotParts, snapshotId: string, files: readonly SiteFile[], reads: Reads): Promise<string[]> {
  const known = await storedHashes(parts, snapshotId);
  const missing = files.filter(({ path }) => !known.has(path));
  for (let start = 0; start < missing.length; start += pieceFiles) {
    const piece = missing.slice(start, start + pieceFiles);
    const hashes = await hashAll(parts, piece, reads);
    piece.forEach(({ path }, i) => {
      known.set(path, hashes[i]!);
    });
    await store(parts, snapshotId, piece, hashes);
  }
  return files.map(({ path }) => known.get(path)!);
}

async function storedHashes({ database }: SnapshotParts, snapshotId: string): Promise<Map<string, string>> {
  const { rows } = await database.read({
    name: 'snapshot_sha1',
    text: 'select path, sha1 from snapshot_file where snapshot_id = $1 and sha1 is not null',
    values: [snapshotId],
  });
  return new Map(rows.map(({ path, sha1 }: { path: string; sha1: string }) => [path, sha1]));
}

async function hashAll({ files: store }: SnapshotParts, files: readonly SiteFile[], { signal, turn }: Reads): Promise<string[]> {
  const hashes: string[] = new Array(files.length);
  let next = 0;
  const readers = Array.from({ length: Math.min(readsAtOnce, files.length) }, async () => {
    while (next < files.length) {
      const at = next++;
      await turn?.();
      signal.throwIfAborted();
      const hash = createHash('sha1');
      for await (const chunk of await store.open(files[at]!.contentKey)) hash.update(chunk);
      hashes[at] = hash.digest('hex');
    }
  });
  const ended = await Promise.allSettled(readers);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return hashes;
}

async function store(
  { database }: SnapshotParts,
  snapshotId: string,
  files: readonly SiteFile[],
  hashes: readonly string[],
): Promise<void> {
  await database.write({
    name: 'store_sha1',
    text: `with ${unsynced} update snapshot_file f set sha1 = n.sha1 from unsynced, unnest($2::text[], $3::text[]) as n(path, sha1)
      where f.snapshot_id = $1 and f.path = n.path`,
    values: [snapshotId, files.map(({ path }) => path), hashes],
  });
}
