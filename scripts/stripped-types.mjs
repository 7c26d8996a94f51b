/**
 * Loaded before a program (`--import`): caches TypeScript files with stripped types, so that a process does not strip them all again.
 * Node's own compile cache does not include that step; stripping is a third of the processor time of a start. Line numbers stay.
 *
 * A kept file has the name of its source's address and ends with the state of the source (`stateOf`) that it was made of: there are no more
 * of them than sources, and one of another state counts for nothing. Plain JavaScript, since it runs before anything can strip its types.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { registerHooks, stripTypeScriptTypes } = nodeModule;
const folder = fileURLToPath(new URL('../node_modules/.cache/stripped-types', import.meta.url));
const states = new Map();

// A child process may run any version of Node, which also reads this file.
if (registerHooks !== undefined && stripTypeScriptTypes !== undefined) {
  registerHooks({
    // Node's own resolution reads each folder above and each package.json; here the specifier is a file, or is left to Node.
    resolve(specifier, context, next) {
      const from = context.parentURL;
      if (!specifier.startsWith('.') || !specifier.endsWith('.ts') || !from?.startsWith('file:')) return next(specifier, context);
      const { href } = new URL(specifier, from);
      return stateOf(href) === null ? next(specifier, context) : { url: href, format: 'module', shortCircuit: true };
    },
    load(url, context, next) {
      if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
      return { format: 'module', source: stripped(url), shortCircuit: true };
    },
  });
}

function stripped(url) {
  const state = stateOf(url);
  const path = join(folder, `${hash(url)}.js`);
  const end = `\n// ${process.version} ${state}\n`;
  try {
    const kept = readFileSync(path, 'utf8');
    if (state !== null && kept.endsWith(end)) return kept;
  } catch {
    // The first time, or the folder is not readable.
  }
  const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8')) + end;
  try {
    mkdirSync(folder, { recursive: true });
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, source);
    renameSync(unfinished, path);
  } catch {
    // Without a writable folder, or space in it, the next process strips again.
  }
  return source;
}

/** A value that changes with each change of the file; null if it is not a file, or is a link. */
function stateOf(url) {
  let state = states.get(url);
  if (state === undefined) {
    const stat = lstatSync(fileURLToPath(url), { bigint: true, throwIfNoEntry: false });
    state = stat?.isFile() ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : null;
    states.set(url, state);
  }
  return state;
}

function hash(text) {
  return createHash('sha256').update(text).digest('base64url');
}
