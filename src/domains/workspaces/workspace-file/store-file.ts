/** Writes a file: its bytes are stored first and the row is committed afterwards, so an incomplete file is never visible. */
import type { Readable } from 'node:stream';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, mayHaveHappened } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { accountStorage, mustFit, storageLimits } from '../../accounts/contract.ts';
import { newContentKey } from './content-key.ts';
import type { WorkspaceFileRow } from './entity.ts';
import { workspaceFile, workspaceFileId } from './messages.ts';
import { untilFreed } from './until-freed.ts';

export const maxFileBytes = 50 * 2 ** 20;

export type NewFile = {
  workspaceId: string;
  accountId: string;
  /** Checked by `checkFilePath`. */
  name: string;
  type: string;
  deliverFor: string | null;
  /** As in `PutFile`. */
  holdsUntrusted?: boolean;
  /** A lower bound of the size, if it is known before the content is read. */
  declaredBytes?: number;
  /** Asked once the content has been read: the name that it gets instead; null: as given. If it throws, nothing is stored. */
  lateName?(): LateName | null;
};

export type LateName = { name: string; type: string; checked(content: Readable): Readable };

/**
 * Stores the content and makes it the newest version of the file. Returns the row once it is committed.
 *
 * Rejects with `plan_required` if the account's storage limit is exceeded, if possible before the content is read; with the error of
 * `content`, `payload_too_large`, or an `AppError` of the commit. Then the store keeps nothing of it, unless the outcome of the commit is
 * unknown.
 *
 * @param commandId a repeat with it creates no second version
 */
export async function storeFile(
  parts: { actors: ActorSystem; files: FileStore; database: Pick<Database, 'read'> },
  { declaredBytes = 0, lateName, ...file }: NewFile,
  content: Readable,
  commandId?: string,
): Promise<WorkspaceFileRow> {
  const { actors, files } = parts;
  const { accountId } = file;
  const id = workspaceFileId(file.workspaceId, file.name);
  const contentKey = newContentKey(file.workspaceId, id, accountId);
  const [limits, used, current] = await Promise.all([
    storageLimits(actors, accountId),
    actors.query(accountStorage, accountId, 'used', null),
    actors.query(workspaceFile, id, 'describe', null),
  ]);
  const replacesBytes = current?.sizeBytes ?? null;
  try {
    mustFit(used, { bytes: declaredBytes - (replacesBytes ?? 0), files: current === null ? 1 : 0 }, limits);
  } catch (error) {
    await requestRecount(error);
    throw error;
  }
  const stored = await files.put(contentKey, content, maxFileBytes);
  if (lateName !== undefined) {
    const renamed = await storeUnderLateName(lateName);
    if (renamed !== null) return renamed;
  }
  let row: WorkspaceFileRow;
  try {
    const { sizeBytes } = stored;
    await actors.ask(accountStorage, accountId, 'reserve', { contentKey, fileId: id, sizeBytes, replacesBytes, limits });
    row = await actors.ask(workspaceFile, id, 'put', { ...file, ...stored, contentKey }, { commandId });
  } catch (error) {
    await requestRecount(error);
    if (!mayHaveHappened(error)) await discard();
    throw error;
  }
  // An earlier attempt was committed: its content is used.
  if (row.contentKey !== contentKey) await discard();
  if (replacesBytes !== null && row.sizeBytes < replacesBytes) await untilFreed(parts.database, row);
  return row;

  /** A key belongs to its name, so the content is copied. Null: it keeps the name. */
  async function storeUnderLateName(nameOf: () => LateName | null): Promise<WorkspaceFileRow | null> {
    let isKept = false;
    try {
      const late = nameOf();
      isKept = late === null || late.name === file.name;
      if (late === null || isKept) return null;
      const { name, type, checked } = late;
      return await storeFile(
        parts,
        { ...file, name, type, declaredBytes: stored.sizeBytes },
        checked(await files.open(contentKey)),
        commandId,
      );
    } finally {
      // The sweep of orphaned content finds what cannot be removed now.
      if (!isKept) await files.remove(contentKey).catch(() => {});
    }
  }

  /** The register may lack changes by nodes of an earlier version: it is recounted for the next upload. */
  async function requestRecount(error: unknown): Promise<void> {
    if (!(error instanceof AppError && error.code === 'plan_required')) return;
    await actors.ask(accountStorage, accountId, 'recount', null).catch(() => {});
  }

  /** The sweep of orphaned content finds content that cannot be removed now; a reservation that cannot be released expires. */
  async function discard(): Promise<void> {
    await Promise.allSettled([files.remove(contentKey), actors.ask(accountStorage, accountId, 'release', { contentKey })]);
  }
}
