/**
 * Finds the files that a build has made. Every process of the build has ended, so nothing changes while the files are read. Links are followed to files and
 * folders of the copy only; a file is opened by its true path and never through a link.
 */
import { isUtf8 } from 'node:buffer';
import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

export type FoundFile = { path: string; truePath: string; sizeBytes: number };

export class Refused extends Error {
  readonly code: 'bad_name' | 'build_failed';
  constructor(code: 'bad_name' | 'build_failed', message: string) {
    super(message);
    this.code = code;
  }
}

const maxEntries = 100_000;
const maxPathBytes = 1_024;

/** The folder of the output, by its true path. Throws `Refused`. */
export function outputFolder(home: string, wanted: string | null, usual: readonly string[]): string {
  for (const name of wanted === null ? usual : [wanted]) {
    const path = truePathOf(join(home, name));
    if (path === null || !statSync(path).isDirectory()) continue;
    if (!isWithin(home, path)) throw new Refused('bad_name', `${name} is a link out of the workspace`);
    return path;
  }
  const missing = wanted === null ? `none of the folders ${usual.join(', ')}` : `no folder ${wanted}`;
  throw new Refused('build_failed', `The build left ${missing}`);
}

/** The files below `folder`, in no order. Throws `Refused`. */
export function findFiles(home: string, folder: string): FoundFile[] {
  const found: FoundFile[] = [];
  let entries = 0;
  const walk = (truePath: string, prefix: string, above: readonly string[]) => {
    for (const entry of entriesOf(truePath, prefix)) {
      if (++entries > maxEntries) throw new Refused('build_failed', `The build left more than ${maxEntries} files and folders`);
      if (!isUtf8(entry.name)) throw new Refused('bad_name', `The build left a name in ${prefix || '.'} that is not UTF-8`);
      const path = prefix + entry.name.toString('utf8');
      if (Buffer.byteLength(path) > maxPathBytes) throw new Refused('bad_name', `The build left a path of more than ${maxPathBytes} bytes`);
      const target = entry.isSymbolicLink()
        ? linkTarget(home, join(truePath, entry.name.toString('utf8')), path)
        : join(truePath, entry.name.toString('utf8'));
      const about = lstatSync(target);
      if (about.isFile()) found.push({ path, truePath: target, sizeBytes: about.size });
      else if (!about.isDirectory()) throw new Refused('bad_name', `${path} is no file: ${kindOf(about)}`);
      else if (above.includes(target)) throw new Refused('bad_name', `${path} is a link to a folder that contains it`);
      else walk(target, `${path}/`, [...above, target]);
    }
  };
  walk(folder, '', [folder]);
  return found;
}

function entriesOf(truePath: string, prefix: string): Dirent<Buffer>[] {
  try {
    return readdirSync(truePath, { withFileTypes: true, encoding: 'buffer' });
  } catch {
    throw new Refused('bad_name', `The folder ${prefix} cannot be read`);
  }
}

function linkTarget(home: string, link: string, path: string): string {
  const target = truePathOf(link);
  if (target === null) throw new Refused('bad_name', `${path} is a link to nothing`);
  if (!isWithin(home, target)) throw new Refused('bad_name', `${path} is a link out of the workspace`);
  return target;
}

function truePathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

const isWithin = (home: string, path: string) => path === home || path.startsWith(home + sep);

function kindOf(about: ReturnType<typeof lstatSync> & object): string {
  if (about.isSocket()) return 'a socket';
  if (about.isFIFO()) return 'a pipe';
  return 'a device';
}
