/**
 * Loaded before a program (`--import`): keeps TypeScript files whose types have been stripped, so that a process does not strip them all again.
 * Node's own compile cache keeps only what comes after that step; stripping is a third of the processor time of a start. Line numbers stay.
 *
 * A kept file has the name of its source's address and ends with the hash of the text it was made of: there are no more of them than sources,
 * and one of another text counts for nothing. Plain JavaScript, since it runs before anything can strip its types.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { registerHooks, stripTypeScriptTypes } = nodeModule;
const folder = fileURLToPath(new URL('../node_modules/.cache/stripped-types', import.meta.url));

// Also read by whatever Node a child process happens to be.
if (registerHooks !== undefined && stripTypeScriptTypes !== undefined) {
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
      return { format: 'module', source: stripped(url), shortCircuit: true };
    },
  });
}

function stripped(url) {
  const text = readFileSync(fileURLToPath(url), 'utf8');
  const end = `\n// ${hash(process.version + text)}\n`;
  const path = join(folder, `${hash(url)}.js`);
  try {
    const kept = readFileSync(path, 'utf8');
    if (kept.endsWith(end)) return kept;
  } catch {
    // It is the first time, or the folder cannot be read.
  }
  const source = stripTypeScriptTypes(text) + end;
  try {
    mkdirSync(folder, { recursive: true });
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, source);
    renameSync(unfinished, path);
  } catch {
    // Without a folder that can be written, or room in it, the next process strips again.
  }
  return source;
}

function hash(text) {
  return createHash('sha256').update(text).digest('base64url');
}
