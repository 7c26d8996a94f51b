/**
 * Loaded before each process of `npm test` (`--import`, with `?folder=` of scripts/bundle-packages.ts): what the project's files import of a
 * package that is bundled comes from there. Packages that import each other get the files of node_modules, as without this.
 * Plain JavaScript, since it runs before anything can strip its types.
 */
import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';

const { registerHooks } = nodeModule;
const project = new URL('../', import.meta.url).href;
const installed = `${project}node_modules/`;
const folder = new URL(import.meta.url).searchParams.get('folder');

// Also read by whatever Node a child process happens to be.
if (registerHooks !== undefined && folder !== null) {
  const urls = bundledUrls();
  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier);
      const isImport = context.conditions.includes('import');
      const from = context.parentURL ?? '';
      if (url === undefined || !isImport || !from.startsWith(project) || from.startsWith(installed)) return next(specifier, context);
      return { url, format: 'module', shortCircuit: true };
    },
  });
}

/** Those of each specifier, e.g. `typebox/value`. */
function bundledUrls() {
  const files = JSON.parse(readFileSync(new URL('index.json', folder), 'utf8'));
  return new Map(Object.entries(files).map(([specifier, file]) => [specifier, new URL(file, folder).href]));
}
