/** SHA-1 of a snapshot's files, for hosts that ask for it. Stored in the rows, so each content is read once. */
import { createHash } from 'node:crypto';
import { RecentContents } from './recent-contents.ts';
import type { SiteFile } from './site.ts';
import type { SnapshotParts } from './snapshots.ts';
import { unsynced } from './unsynced.ts';

/** Reads of one call at a time. */
const readsAtOnce = 8;
/** Small files that share a turn: to hash them takes about as long as to send one. */
const smallFilesInTurn = 4;
/** Hashes are stored in pieces of this many, so that an interrupted call keeps most hashes. */
const pieceFiles = 1_000;

type Reads = { signal: AbortSignal; turn: (() => Promise<void>) | undefined };

/** @param files all files of the snapshot in the order of their paths, which is that of the hashes */
export async function sha1OfFiles(
  parts: SnapshotParts,
  recent: RecentContents,
  snapshotId: string,
  files: readonly SiteFile[],
  reads: Reads,
): Promise<string[]> {
  const known = await storedHashes(parts, snapshotId);
  if (known.length !== files.length) throw new Error(`Snapshot ${snapshotId} has ${known.length} files, not ${files.length}`);
  const missing = known.flatMap((sha1, at) => (sha1 === null ? at : []));
  for (let start = 0; start < missing.length; start += pieceFiles) {
    const places = missing.slice(start, start + pieceFiles);
    const piece = places.map((at) => files[at]!);
    const hashes = await hashAll(parts, recent, piece, reads);
    for (const [i, at] of places.entries()) known[at] = hashes[i]!;
    await store(parts, snapshotId, piece, hashes);
  }
  return known as string[];
}

async function storedHashes({ database }: SnapshotParts, snapshotId: string): Promise<(string | null)[]> {
  const { rows } = await database.read({
    name: 'snapshot_sha1',
    text: 'select sha1 from snapshot_file where snapshot_id = $1 order by path collate "C"',
    values: [snapshotId],
  });
  return rows.map(({ sha1 }: { sha1: string | null }) => sha1);
}

async function hashAll(
  { files: store }: SnapshotParts,
  recent: RecentContents,
  files: readonly SiteFile[],
  { signal, turn }: Reads,
): Promise<string[]> {
  const hashes: string[] = new Array(files.length);
  const isSmall = (at: number) => at < files.length && RecentContents.keeps(files[at]!.sizeBytes);
  let next = 0;
  const readers = Array.from({ length: Math.min(readsAtOnce, files.length) }, async () => {
    while (next < files.length) {
      const first = next++;
      if (isSmall(first)) while (next < first + smallFilesInTurn && isSmall(next)) next++;
      const end = next;
      await turn?.();
      for (let at = first; at < end; at++) {
        signal.throwIfAborted();
        hashes[at] = await hashOf(store, recent, files[at]!);
      }
    }
  });
  const ended = await Promise.allSettled(readers);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return hashes;
}

async function hashOf(store: SnapshotParts['files'], recent: RecentContents, { contentKey, sizeBytes }: SiteFile): Promise<string> {
  const hash = createHash('sha1');
  const chunks: Buffer[] = [];
  for await (const chunk of await store.open(contentKey)) {
    hash.update(chunk);
    if (RecentContents.keeps(sizeBytes)) chunks.push(chunk);
  }
  if (RecentContents.keeps(sizeBytes)) recent.add(contentKey, Buffer.concat(chunks));
  return hash.digest('hex');
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
