/** The part of the machine that a build sees: the folders of the system's programs, and those of the operator's PATH. */
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

const systemNames = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
export const systemFolders = () => [
  '/usr',
  ...systemNames.filter((path) => existsSync(path) && !lstatSync(path).isSymbolicLink()),
  ...['/nix/store'].filter(existsSync),
];
export const systemLinks = () =>
  systemNames
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    .map((path) => [path, readlinkSync(path)] as const);

/** Folders of PATH that can be shown: none that holds a hidden folder, and none of packages, whose programs are links to elsewhere. */
export function visiblePath(path: string, hidden: readonly string[]): string[] {
  const given = path.split(':').filter((folder) => folder.startsWith('/') && folder !== '/' && !folder.split(sep).includes('node_modules'));
  const shown = given.filter((folder) => isFolder(folder) && !hidden.some((one) => isWithin(folder, one) || isWithin(one, folder)));
  return [...new Set(shown)];
}

/** Those of PATH that are not below a folder of the system, and what their programs need beside them. */
export function pathFolders(path: string, hidden: readonly string[]): string[] {
  const shown = visiblePath(path, hidden).flatMap((folder) => [folder, ...besides(folder)]);
  const outside = shown.filter(
    (folder) => ![...systemFolders(), ...systemNames].some((one) => isWithin(one, folder)) && !hidden.some((one) => isWithin(folder, one)),
  );
  return [...new Set(outside)].filter((folder, _, all) => !all.some((one) => one !== folder && isWithin(one, folder)));
}

function besides(folder: string): string[] {
  // Version managers (pyenv, asdf, nodenv and others) keep the programs that their shims start beside these.
  if (basename(folder) === 'shims') return [dirname(folder)];
  // A program that is installed by itself.
  if (/^\/opt\/[^/]+\/s?bin$/.test(folder)) return [dirname(folder)];
  const node = join(folder, 'node');
  if (!existsSync(node)) return [];
  // npm is a package of the Node.js that it belongs to.
  const packages = join(dirname(realpathSync(node)), '..', 'lib', 'node_modules');
  return isFolder(packages) ? [packages] : [];
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It is not there, or below a folder that this user may not enter.
    return false;
  }
}

export const isWithin = (folder: string, path: string) => path === folder || path.startsWith(folder + sep);
