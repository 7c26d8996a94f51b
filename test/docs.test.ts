/** What the documents point to is there: every relative link, and every file or folder that is named in backticks. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';

type Document = { path: string; prose: string };

const documents = globSync(['README.md', 'docs/**/*.md', 'deploy/**/*.md', 'bench/**/*.md', 'proto/**/*.md']).map(
  (path): Document => ({ path, prose: readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '') }),
);
const folders = ['.ci', 'bench', 'deploy', 'docs', 'examples', 'proto', 'scripts', 'src', 'test'];
const files = folders.flatMap((folder) => globSync(`${folder}/**`)).map((path) => `/${path}`);
/** A documents' way to name a file by the end of its path: `turns.ts`, `edge/routes/tasks.ts`. */
const fileName = /^[\w.-]+(\/[\w.-]+)*\.(ts|mjs|md|proto|ya?ml|cfg|csv)$/;

test('every relative link leads to a file, and its anchor to a heading', () => {
  const broken = documents.flatMap(({ path, prose }) =>
    [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
      if (/^[a-z]+:/.test(target)) return [];
      const [file = '', anchor] = target.split('#');
      const to = file === '' ? path : join(dirname(path), file);
      if (!existsSync(to)) return [`${path}: ${target}`];
      return anchor === undefined || anchorsOf(to).includes(anchor) ? [] : [`${path}: ${target} has no such heading`];
    }),
  );
  assert.deepEqual(broken, []);
});

test('every file and folder that is named exists', () => {
  const missing = documents.flatMap(({ path, prose }) =>
    [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, name = '']) => (isThere(name, path) ? [] : [`${path}: ${name}`])),
  );
  assert.deepEqual(missing, []);
});

test('decisions are numbered without a gap, each under its own number', () => {
  const decisions = globSync('docs/decisions/*.md').sort();
  const wrong = decisions.filter((path, n) => {
    const number = n + 1;
    const name = `docs/decisions/${String(number).padStart(4, '0')}-`;
    return !path.startsWith(name) || !readFileSync(path, 'utf8').startsWith(`# ${number}. `);
  });
  assert.deepEqual(wrong, []);
});

/** True also for what is no name of a file here. */
function isThere(name: string, document: string): boolean {
  const path = name.replace(/\/$/, '');
  if (existsSync(path) || existsSync(join(dirname(document), path))) return true;
  const isHere = /^[\w./-]+$/.test(path) && path.includes('/') && folders.includes(path.split('/')[0]!);
  if (!isHere && !fileName.test(path)) return true;
  return files.some((file) => file.endsWith(`/${path}`));
}

/** As code forges make them of headings. */
function anchorsOf(path: string): string[] {
  if (!statSync(path).isFile()) return [];
  const headings = readFileSync(path, 'utf8').match(/^#+ .*$/gm) ?? [];
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
