/** The exports of files of the project, found by their paths. */
import { globSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** The exports of each matching file, in the order of the paths. @param patterns relative to the project */
export function sourceExports<T>(patterns: string[]): Promise<T[][]> {
  const files = globSync(patterns, { cwd: root }).sort();
  return Promise.all(files.map(async (file): Promise<T[]> => Object.values(await import(new URL(file, root).href))));
}
