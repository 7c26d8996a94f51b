/**
 * Stores the files of an archive. Names, contents, and the storage for all files are checked before the first is stored: a refusal stores nothing.
 * An archive that would not fit even if it replaced every file is refused before it is read, or, without a declared size, as soon as it is too long. The
 * error of a later failure, such as of the database, or because others have used the storage meanwhile, contains the number of stored files.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { allowedKinds, uploadKind } from '../../../file-kinds.ts';
import { unlimited } from '../../../plans.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { tarFiles } from '../../../tar.ts';
import { accountStorage, mustFit, storageLimits } from '../../accounts/contract.ts';
import { CheckedContent } from './content-check.ts';
import { newContentKey } from './content-key.ts';
import { checkFilePath } from './file-name.ts';
import { workspaceFileId } from './messages.ts';
import { maxFileBytes, storeFile } from './store-file.ts';

export const maxArchiveFiles = 1_000;
/** Of contents that are held in memory, so that several are stored at once. */
const smallBytes = 256 * 1024;
const atOnce = 8;
const shownRefused = 20;
/**
 * Of an archive, for headers with long names, for padding, and for folders, which are not counted as files: all else is content. Ten folders of its own for each
 * file are within it.
 */
const overheadBytes = maxArchiveFiles * 8 * 1024;

export type ArchiveParts = { actors: ActorSystem; database: Pick<Database, 'read'>; files: FileStore };
export type ArchiveTarget = {
  workspaceId: string;
  accountId: string;
  /** A lower bound of the archive's size, if it is known before the archive is read. */
  declaredBytes?: number;
};
type Stored = { files: number; bytes: number };

/**
 * Returns what was stored. Rejects with `plan_required` where the files do not fit into the account's storage together.
 *
 * @param commandId a repeat with it creates no second versions
 */
export async function storeArchive(parts: ArchiveParts, target: ArchiveTarget, content: Readable, commandId?: string): Promise<Stored> {
  try {
    return await storeWhole(parts, target, content, commandId);
  } catch (error) {
    // The register may lack changes by nodes of an earlier version.
    if (error instanceof AppError && error.code === 'plan_required')
      await parts.actors.ask(accountStorage, target.accountId, 'recount', null).catch(() => {});
    throw error;
  }
}

async function storeWhole(parts: ArchiveParts, target: ArchiveTarget, content: Readable, commandId?: string): Promise<Stored> {
  const { files } = parts;
  const { workspaceId, accountId } = target;
  const room = await remainingSpace(parts, target);
  room.mustFit(target.declaredBytes ?? 0);
  // No file has this name: after a crash the sweep of orphaned contents finds it.
  const key = newContentKey(workspaceId, workspaceFileId(workspaceId, ''), accountId);
  const maxBytes = Math.min(maxFileBytes, room.maxBytes);
  await files.put(key, content, maxBytes).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'payload_too_large' && maxBytes < maxFileBytes) room.mustFit(maxBytes + 1);
    throw error;
  });
  try {
    const sizes = await read((archive) => check(archive));
    await mustFitTogether(parts, target, sizes);
    return await read((archive) => store(parts, target, archive, commandId));
  } finally {
    await files.remove(key).catch(() => {});
  }

  async function read<T>(work: (archive: Readable) => Promise<T>): Promise<T> {
    const archive = await files.open(key);
    try {
      return await work(archive);
    } finally {
      // What follows the end of an archive, or a refusal, is not read.
      archive.destroy();
    }
  }
}

/** Returns the sizes of the files by their names. */
async function check(archive: Readable): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const refused: string[] = [];
  for await (const file of tarFiles(archive)) {
    const name = nameOf(file.name);
    if (sizes.has(name)) throw invalidField(['body', 'file'], `Two files are called ${name}`, 'value_error', name);
    sizes.set(name, file.sizeBytes);
    if (sizes.size > maxArchiveFiles)
      throw invalidField(['body', 'file'], `An archive may have at most ${maxArchiveFiles} files`, 'too_long', null);
    const kind = uploadKind(name);
    if (kind === null || !(await isOfKind(CheckedContent.of(file.content, kind)))) refused.push(name);
  }
  if (sizes.size === 0) throw invalidField(['body', 'file'], 'The archive has no files', 'value_error', null);
  if (refused.length === 0) return sizes;
  const more = refused.length > shownRefused ? ` and ${refused.length - shownRefused} more` : '';
  throw new AppError(
    'unsupported_media_type',
    `These files are of kinds that are not taken, or their content is not what the name says: ${refused.slice(0, shownRefused).join(', ')}${more}. Allowed: ${allowedKinds}`,
  );
}

type Room = {
  /** A longer archive does not fit, even if it replaces every file. */
  maxBytes: number;
  /** Throws `plan_required` where an archive of so many bytes certainly does not fit. */
  mustFit(archiveBytes: number): void;
};

/** The files of its workspace are all that an archive can replace. They are added up only for an account that is nearly full. */
async function remainingSpace({ actors, database }: ArchiveParts, { workspaceId, accountId }: ArchiveTarget): Promise<Room> {
  const [limits, used] = await Promise.all([storageLimits(actors, accountId), actors.query(accountStorage, accountId, 'used', null)]);
  const freeBytes = limits.bytes === unlimited ? Infinity : Math.max(0, limits.bytes - used.bytes);
  const hasFreeFiles = limits.files === unlimited || used.files < limits.files;
  if (freeBytes >= maxFileBytes && hasFreeFiles) return { maxBytes: maxFileBytes, mustFit() {} };
  const { rows } = await database.read({
    name: 'replaceable_files',
    text: `select count(*)::int as files, coalesce(sum(size_bytes), 0)::float8 as bytes from workspace_file where workspace_id = $1 and status = 'present'`,
    values: [workspaceId],
  });
  const replaceable: Stored = rows[0];
  const besides = replaceable.bytes + overheadBytes;
  return {
    maxBytes: freeBytes + besides,
    mustFit(archiveBytes) {
      mustFit(used, { bytes: archiveBytes - besides, files: replaceable.files === 0 ? 1 : 0 }, limits);
    },
  };
}

/** Storage that smaller files release is not counted, so that the archive fits in any order of its files. */
async function mustFitTogether({ actors, database }: ArchiveParts, { workspaceId, accountId }: ArchiveTarget, sizes: Map<string, number>) {
  const byId = new Map(Array.from(sizes, ([name, sizeBytes]) => [workspaceFileId(workspaceId, name), sizeBytes]));
  const [limits, used, { rows }] = await Promise.all([
    storageLimits(actors, accountId),
    actors.query(accountStorage, accountId, 'used', null),
    database.read({
      name: 'sizes_of_files',
      text: `select id, size_bytes from workspace_file where id = any($1) and status = 'present'`,
      values: [[...byId.keys()]],
    }),
  ]);
  const present = new Map(rows.map(({ id, size_bytes }: { id: string; size_bytes: number }) => [id, size_bytes]));
  const more = { bytes: 0, files: byId.size - present.size };
  for (const [id, sizeBytes] of byId) more.bytes += Math.max(0, sizeBytes - (present.get(id) ?? 0));
  mustFit(used, more, limits);
}

async function isOfKind(checked: Readable): Promise<boolean> {
  try {
    for await (const _chunk of checked);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unsupported_media_type') return false;
    throw error;
  }
}

async function store(parts: ArchiveParts, target: ArchiveTarget, archive: Readable, commandId?: string): Promise<Stored> {
  const stored = { files: 0, bytes: 0 };
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  let count = 0;
  for await (const { name: sent, sizeBytes, content } of tarFiles(archive)) {
    if (failure !== null) break;
    const name = nameOf(sent);
    const file = { ...target, name, type: uploadKind(name)!.type, deliverFor: null, declaredBytes: sizeBytes };
    const command = commandId === undefined ? undefined : `${commandId}/${++count}`;
    const isSmall = sizeBytes <= smallBytes;
    const bytes = isSmall ? await buffer(content) : null;
    const one = storeFile(parts, file, bytes === null ? content : Readable.from(bytes.length === 0 ? [] : [bytes]), command)
      .then(
        (row) => {
          stored.files++;
          stored.bytes += row.sizeBytes;
        },
        (error: unknown) => {
          failure ??= { error };
        },
      )
      .finally(() => running.delete(one));
    running.add(one);
    if (!isSmall) await one;
    while (running.size >= atOnce) await Promise.race(running);
  }
  await Promise.all(running);
  if (failure !== null) throw withStored((failure as { error: unknown }).error, stored);
  return stored;
}

function withStored(error: unknown, { files }: Stored): unknown {
  if (!(error instanceof AppError) || files === 0) return error;
  const { code, message, issues, retryAfterS } = error;
  const options = { cause: error, ...(issues && { issues }), ...(retryAfterS !== undefined && { retryAfterS }) };
  return new AppError(
    code,
    `${files === 1 ? 'One file of the archive was' : `${files} files of the archive were`} stored, then: ${message}`,
    options,
  );
}

function nameOf(sent: string): string {
  const checked = checkFilePath(sent);
  if ('problem' in checked) throw invalidField(['body', 'file'], checked.problem, 'value_error', sent.slice(0, 200).toWellFormed());
  return checked.name;
}
