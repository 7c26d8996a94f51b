/**
 * Loaded before each process of `npm test` (`--import`, with `?folder=` of scripts/bundle-packages.ts): imports of bundled packages in the
 * project's files are resolved to the bundles. Imports between packages are resolved to node_modules as usual. Plain JavaScript, because it
 * runs before types can be stripped.
 */
import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';

const { registerHooks } = nodeModule;
const project = new URL('../', import.meta.url).href;
const installed = `${project}node_modules/`;
const folder = new URL(import.meta.url).searchParams.get('folder');

// A child process may run any version of Node, which also reads this file.
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

/** The URLs by specifier, e.g. `typebox/value`. */
function bundledUrls() {
  const files = JSON.parse(readFileSync(new URL('index.json', folder), 'utf8'));
  return new Map(Object.entries(files).map(([specifier, file]) => [specifier, new URL(file, folder).href]));
}
