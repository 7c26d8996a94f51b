/** Stores the files of an archive. All of them are checked before the first is stored: a refusal leaves nothing. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { allowedKinds, uploadKind } from '../../../file-kinds.ts';
import type { FileStore } from '../../../storage/files.ts';
import { CheckedContent } from './content-check.ts';
import { newContentKey } from './content-key.ts';
import { checkFilePath } from './file-name.ts';
import { workspaceFileId } from './messages.ts';
import { maxFileBytes, storeFile } from './store-file.ts';
import { tarFiles } from './tar.ts';

export const maxArchiveFiles = 1_000;
/** Of contents that are held in memory, so that several are stored at once. */
const smallBytes = 256 * 1024;
const atOnce = 8;
const shownRefused = 20;

export type ArchiveTarget = { workspaceId: string; accountId: string };

/**
 * Returns what was stored. Rejects with `plan_required` where the account's storage ends: then files before that are stored.
 *
 * @param commandId a repeat with it creates no second versions
 */
export async function storeArchive(
  parts: { actors: ActorSystem; files: FileStore },
  target: ArchiveTarget,
  content: Readable,
  commandId?: string,
): Promise<{ files: number; bytes: number }> {
  const { files } = parts;
  const { workspaceId, accountId } = target;
  // No file has this name: after a crash the sweep of orphaned contents finds it.
  const key = newContentKey(workspaceId, workspaceFileId(workspaceId, ''), accountId);
  await files.put(key, content, maxFileBytes);
  try {
    await read((archive) => check(archive));
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

async function check(archive: Readable): Promise<void> {
  const names = new Set<string>();
  const refused: string[] = [];
  for await (const file of tarFiles(archive)) {
    const name = nameOf(file.name);
    if (names.has(name)) throw invalidField(['body', 'file'], `Two files are called ${name}`, 'value_error', name);
    names.add(name);
    if (names.size > maxArchiveFiles)
      throw invalidField(['body', 'file'], `An archive may have at most ${maxArchiveFiles} files`, 'too_long', null);
    const kind = uploadKind(name);
    if (kind === null || !(await isOfKind(CheckedContent.of(file.content, kind)))) refused.push(name);
  }
  if (names.size === 0) throw invalidField(['body', 'file'], 'The archive has no files', 'value_error', null);
  if (refused.length === 0) return;
  const more = refused.length > shownRefused ? ` and ${refused.length - shownRefused} more` : '';
  throw new AppError(
    'unsupported_media_type',
    `These files are of kinds that are not taken, or their content is not what the name says: ${refused.slice(0, shownRefused).join(', ')}${more}. Allowed: ${allowedKinds}`,
  );
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

async function store(
  parts: { actors: ActorSystem; files: FileStore },
  target: ArchiveTarget,
  archive: Readable,
  commandId?: string,
): Promise<{ files: number; bytes: number }> {
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
  if (failure !== null) throw (failure as { error: unknown }).error;
  return stored;
}

function nameOf(sent: string): string {
  const checked = checkFilePath(sent);
  if ('problem' in checked) throw invalidField(['body', 'file'], checked.problem, 'value_error', sent.slice(0, 200).toWellFormed());
  return checked.name;
}
