/** A hash of the files of a site: equal if all names and contents are equal. */
import { createHash } from 'node:crypto';

export function fingerprintOf(files: Readonly<Record<string, string>>): string {
  return fingerprintOfHashes(Object.entries(files).map(([path, content]) => ({ path, sha256: sha256(content) })));
}

export function fingerprintOfHashes(files: readonly { path: string; sha256: string }[]): string {
  const lines = files.map(({ path, sha256: hash }) => `${hash} ${path}`).sort();
  return sha256(lines.join('\n')).slice(0, 16);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
