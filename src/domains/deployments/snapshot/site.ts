/** The files of a site at one moment. Contents never change under their key. */
import type { Readable } from 'node:stream';

export type SiteFile = {
  /** NFC, plain segments with `/` between them. */
  path: string;
  /** MIME type. */
  type: string;
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
  contentKey: string;
};

export type Snapshot = { snapshotId: string; files: number; bytes: number };

/** No content that a snapshot references is removed while the snapshot exists. */
export interface Snapshots {
  /** Of the workspace's files as they are now. */
  take(workspace: { id: string; accountId: string }): Promise<Snapshot>;
  /** Of the files below a folder of another snapshot, with their paths from there: none are no error. `folder`: plain segments, no slash at its ends. */
  within(snapshotId: string, folder: string): Promise<Snapshot>;
  /** Of files that `add` has stored: the output of a build. */
  begin(workspace: { id: string; accountId: string }): Promise<NewSnapshot>;
  /** In the order of their paths. */
  files(snapshotId: string): Promise<SiteFile[]>;
  /** Throws `not_found`. */
  file(snapshotId: string, path: string): Promise<SiteFile>;
  open(file: SiteFile): Promise<Readable>;
  /**
   * SHA-1 of each file as lower-case hex; each content is read once and remembered.
   *
   * @param files what `files` gave: all, in the order of their paths, which is that of the hashes
   * @param turn awaited before each read
   */
  sha1(snapshotId: string, files: readonly SiteFile[], signal: AbortSignal, turn?: () => Promise<void>): Promise<string[]>;
  /** Removes its rows; the next sweep removes the contents that nothing else references. */
  remove(snapshotId: string): Promise<void>;
}

export interface NewSnapshot {
  /** A second file of the same name replaces the first. */
  add(file: { path: string; content: Readable; sizeBytes: number }): Promise<void>;
  /** Makes the snapshot visible. */
  complete(): Promise<Snapshot>;
  /** Removes everything that was added. */
  discard(): Promise<void>;
}
