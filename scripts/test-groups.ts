/**
 * Groups of test files for `npm test`. A process loads and compiles the service once for all files of its group; a process for each file
 * costs a sixth more processor time.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const maxGroupFiles = 8;
/** Groups get smaller towards the end, so that the last processes end at about the same time ("guided self-scheduling"). */
const shareOfRest = 4;
/** A file that measures the memory or the event loop of its own process runs alone: the heap and the rest of other files would be measured too. */
const measuresItsProcess = /\bmemoryUsage\(|\bnew LoopWatch\(/;
/**
 * Folders whose files start processes of the service, take longest, and wait much. They are spread among the files that compute, so that the
 * processors are busy while they wait, and there are none at the end, where a processor would be idle.
 */
const longFolders = ['test/e2e/', 'test/nodes/'];
/** How many other files follow each of them. */
const othersBetween = 3;

/**
 * Writes a module for each group of `files` into `folder` and returns their paths. Within a group each file is a suite of that name, to
 * which its hooks belong: they run before and after the tests of this file. Node runs the modules by name: they have numbers.
 */
export async function groupTestFiles(files: readonly string[], folder: string, processesAtOnce: number): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const alone = files.filter((_, n) => measuresItsProcess.test(texts[n]!));
  const groups = alone.map((file) => [file]);
  let rest = spread(files.filter((file) => !alone.includes(file)));
  while (rest.length > 0) {
    const size = Math.min(maxGroupFiles, Math.ceil(rest.length / (processesAtOnce * shareOfRest)));
    groups.push(rest.slice(0, size));
    rest = rest.slice(size);
  }
  return Promise.all(groups.map((group, n) => writeGroup(group, join(folder, `group-${String(n + 1).padStart(3, '0')}.test.mjs`))));
}

function spread(files: readonly string[]): string[] {
  const isLong = (file: string) => longFolders.some((folder) => file.startsWith(folder));
  const others = files.filter((file) => !isLong(file));
  const mixed = files.filter(isLong).flatMap((long, n) => [long, ...others.slice(n * othersBetween, (n + 1) * othersBetween)]);
  return [...mixed, ...others.filter((file) => !mixed.includes(file))];
}

async function writeGroup(files: readonly string[], path: string): Promise<string> {
  const suites = files.map((file) => ({ file, url: pathToFileURL(file).href }));
  // Imported one after another: a suite collects what is registered until its function has ended. The first test waits until all are imported:
  // a module that is loaded while a test mocks timers keeps the mocks.
  const text = `import { before, describe } from 'node:test';
const loaded = Promise.withResolvers();
before(() => loaded.promise);
try {
  for (const { file, url } of ${JSON.stringify(suites)})
    await new Promise((imported, failed) => describe(file, () => import(url).then(imported, failed)));
} finally {
  loaded.resolve();
}
`;
  await writeFile(path, text);
  return path;
}
