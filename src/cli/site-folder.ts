/** The files of a folder that is published, without hidden, installed and linked ones, each under its name in the workspace. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { uploadKind } from '../file-kinds.ts';
import { Failure } from './failure.ts';
import { fileSize, oneLine } from './plain-text.ts';

export type SiteFolderFile = {
  /** On disk. */
  path: string;
  /** In the workspace, with `/` between folders, in Unicode's composed form. */
  name: string;
  sizeBytes: number;
};
export type SiteFolder = { files: SiteFolderFile[]; bytes: number; leftOut: string[] };

/** No host takes more. */
const maxFiles = 20_000;
const maxFileBytes = 52_428_800;
const keptHidden = '.well-known';
const shownRefused = 20;

/** In the order of their names. Throws `Failure` (usage) for a folder that cannot be published. */
export async function readSiteFolder(folder: string): Promise<SiteFolder> {
  const files: SiteFolderFile[] = [];
  const leftOut: string[] = [];
  await walk(folder, '');
  if (files.length === 0) throw wrong(`There is no file to publish in ${oneLine(folder, 500)}`);
  const names = new Map<string, string>();
  for (const { name, path } of files) {
    const other = names.get(name);
    if (other !== undefined) throw wrong(`Two files have the name ${oneLine(name)} in different forms of Unicode: rename one of them`);
    names.set(name, path);
  }
  const refused = files.filter(({ name }) => uploadKind(name) === null).map(({ name }) => oneLine(name));
  if (refused.length > 0) throw wrong(refusedKinds(refused));
  files.sort((one, other) => (one.name < other.name ? -1 : 1));
  return { files, bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0), leftOut };

  async function walk(at: string, within: string): Promise<void> {
    for (const entry of await entriesOf(at)) {
      const path = join(at, entry.name);
      const name = `${within}${entry.name.normalize('NFC')}`;
      const isPublished = (!entry.name.startsWith('.') || entry.name === keptHidden) && entry.name !== 'node_modules';
      if (isPublished && entry.isDirectory()) await walk(path, `${name}/`);
      else if (isPublished && entry.isFile()) files.push({ path, name, sizeBytes: await sizeOf(path, name) });
      else leftOut.push(entry.isDirectory() ? `${name}/` : name);
      if (files.length > maxFiles) throw wrong(`There are more than ${maxFiles} files in ${oneLine(folder, 500)}: no host accepts so many`);
    }
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw wrong(`${oneLine(folder, 500)} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

async function sizeOf(path: string, name: string): Promise<number> {
  const { size } = await stat(path);
  if (size > maxFileBytes) throw wrong(`${oneLine(name)} has ${fileSize(size)}; the service accepts at most ${fileSize(maxFileBytes)}`);
  return size;
}

function refusedKinds(names: readonly string[]): string {
  const rest = names.length > shownRefused ? `\n  and ${names.length - shownRefused} more` : '';
  const what = names.length === 1 ? 'This file is' : `These ${names.length} files are`;
  return `${what} of a type that workspaces do not accept; nothing was uploaded:\n  ${names.slice(0, shownRefused).join('\n  ')}${rest}`;
}

function wrong(what: string): Failure {
  return new Failure('usage', what);
}
