/**
 * `docs/integrations.md` followed exactly: its files and changes in a copy of the project, then the types and the tests for all
 * services.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const run = promisify(execFile);
const copied = [
  'src',
  'test/support',
  'test/config.test.ts',
  'test/domains/integrations',
  'package.json',
  'biome.json',
  '.env.example',
  'README.md',
];
const suite = 'test/domains/integrations/services/contract.test.ts';

test('a service that is added as the document says passes the tests for all services', async (t) => {
  const { path: copy, remove } = await temporaryFolder();
  t.after(remove);
  for (const path of copied) cpSync(path, join(copy, path), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'));
  const tsconfig = { extends: join(process.cwd(), 'tsconfig.json'), compilerOptions: { typeRoots: ['node_modules/@types'] } };
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ ...tsconfig, include: [], files: [suite, 'src/config.ts'] }));

  const steps = stepsOf(readFileSync('docs/integrations.md', 'utf8'));
  assert.equal(steps.filter(({ kind }) => kind === 'ts').length, 3, 'description, stand-in and row');
  for (const step of steps) follow(copy, step);

  const service = ['--test-name-pattern=^gitlab: ', '--test-name-pattern=^tools have', '--test-name-pattern=^every service'];
  const [tests] = await Promise.all([
    inCopy(copy, [
      '--test',
      '--test-reporter=tap',
      ...service,
      '--test-name-pattern=^\\.env\\.example names',
      suite,
      'test/config.test.ts',
    ]),
    inCopy(copy, ['node_modules/typescript/bin/tsc', '--noEmit', '--singleThreaded', '-p', '.']),
    inCopy(copy, ['node_modules/@biomejs/biome/bin/biome', 'format', '--vcs-enabled=false', ...newFiles(steps)]),
  ]);
  assert.match(tests, /^# pass 10$/m);
});

/** `ts`: a new file. `diff`: lines of a file that are replaced. */
type Step = { kind: 'ts' | 'diff'; path: string; text: string };

function stepsOf(document: string): Step[] {
  return [...document.matchAll(/^```(ts|diff) (\S+)\n([\s\S]*?)^```$/gm)].map(([, kind, path = '', text = '']) => ({
    kind: kind as Step['kind'],
    path,
    text,
  }));
}

function newFiles(steps: Step[]): string[] {
  return steps.filter(({ kind }) => kind === 'ts').map(({ path }) => path);
}

function follow(copy: string, { kind, path, text }: Step): void {
  const file = join(copy, path);
  if (kind === 'ts') {
    mkdirSync(dirname(file), { recursive: true });
    return writeFileSync(file, text, { flag: 'wx' });
  }
  const lines = text.trimEnd().split('\n');
  const side = (left: string) => lines.filter((line) => !line.startsWith(left)).map((line) => `${line.slice(1)}\n`);
  const before = readFileSync(file, 'utf8');
  const old = side('+').join('');
  const changed = side('-').join('');
  assert.equal(before.split(old).length, 2, `${path} has these lines once, as docs/integrations.md says:\n${old}`);
  writeFileSync(file, before.split(old).join(changed));
}

async function inCopy(cwd: string, args: string[]): Promise<string> {
  const { NODE_TEST_CONTEXT: _inherited, ...env } = process.env;
  const done = await run(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { cwd, env }).catch((error) => error);
  assert.equal(done.code ?? 0, 0, `${args.join(' ')}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}
