/**
 * Bundles the packages into a few files: most of the processor time for loading a test file, or a service that it starts, goes into finding
 * and linking a thousand small files. Only for `npm test`; elsewhere the service runs with the packages as they are. Nothing is shortened
 * or renamed, and the project's own files are not changed.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'packages');

/** The packages that the project imports, and `kysely`, which is the largest part of `@mikro-orm`. */
const bundledPackages = /^(typebox|undici|kysely|@mikro-orm\/[a-z]+)(\/|$)/;
const importedNames = /(?:\bfrom |\bimport\(|\bimport )'([^'.][^']*)'/g;

/** Options for Node (`NODE_OPTIONS`) with which a process of the project imports the bundles; they are built again when a package has changed. */
export async function bundledPackagesOption(): Promise<string> {
  const specifiers = await importedSpecifiers();
  const hash = createHash('sha256').update(JSON.stringify(specifiers)).update(process.version);
  for (const file of [join(root, 'node_modules', '.package-lock.json'), fileURLToPath(import.meta.url)]) hash.update(await readFile(file));
  const folder = join(cache, hash.digest('base64url'));
  if (!existsSync(folder)) await bundle(specifiers, folder);
  const preload = pathToFileURL(join(root, 'scripts', 'bundled-packages.mjs'));
  preload.searchParams.set('folder', pathToFileURL(`${folder}/`).href);
  return `--import=${preload.href}`;
}

/** Of all the project's files, so that no package is loaded twice, bundled and unbundled. */
async function importedSpecifiers(): Promise<string[]> {
  const found = new Set<string>();
  for (const file of globSync(['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'], { cwd: root })) {
    const text = await readFile(join(root, file), 'utf8');
    for (const [, name] of text.matchAll(importedNames)) if (bundledPackages.test(name!)) found.add(name!);
  }
  return [...found].sort();
}

async function bundle(specifiers: string[], folder: string): Promise<void> {
  // At the same depth as the final folder; renamed when all files are written.
  const unfinished = `${folder}.${randomUUID()}`;
  const sources = join(unfinished, 'entries');
  await mkdir(sources, { recursive: true });
  const entries = specifiers.map((specifier, n) => ({ specifier, out: `entry-${n}`, in: join(sources, `entry-${n}.mjs`) }));
  for (const { specifier, in: path } of entries) await writeFile(path, await reExport(specifier));
  await build({
    entryPoints: entries.map(({ in: path, out }) => ({ in: path, out })),
    outdir: unfinished,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Code shared by two entries is one file, so that each class exists once.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    keepNames: true,
    logLevel: 'error',
    // For code written for `require`.
    banner: {
      js: `import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);`,
    },
    plugins: [othersStay],
  });
  await writeFile(
    join(unfinished, 'index.json'),
    JSON.stringify(Object.fromEntries(entries.map(({ specifier, out }) => [specifier, `${out}.mjs`]))),
  );
  await rename(unfinished, folder).catch(async (error) => {
    // Another `npm test` has finished first.
    await rm(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  });
}

/** By name: `export *` finds nothing in a CommonJS package, and leaves out the default. */
async function reExport(specifier: string): Promise<string> {
  const names = Object.keys(await import(specifier)).filter((name) => name !== 'module.exports');
  return `export { ${names.join(', ')} } from '${specifier}';\n`;
}

const othersStay: Plugin = {
  name: 'other packages stay where they are',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || bundledPackages.test(path) ? undefined : { path, external: true },
    );
  },
};
