import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { processIdentity } from '../../src/storage/live-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const execute = promisify(execFile);
const scripts = fileURLToPath(new URL('../../scripts', import.meta.url));

/** A project with this run.mjs and what it loads, one package that is a local archive (so no network is needed) and a lock file, and nothing installed. */
async function project(t: TestContext, entries: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const root = folder.path;
  await mkdir(join(root, 'scripts'));
  await mkdir(join(root, 'package-of-it'));
  for (const name of ['run.mjs', 'stripped-types.mjs']) await copyFile(join(scripts, name), join(root, 'scripts', name));
  await writeFile(join(root, 'package-of-it', 'package.json'), JSON.stringify({ name: 'one', version: '1.0.0', main: 'one.js' }));
  await writeFile(join(root, 'package-of-it', 'one.js'), 'module.exports = 1;\n');
  await execute('npm', ['pack', '--silent', './package-of-it'], { cwd: root });
  await rm(join(root, 'package-of-it'), { recursive: true });
  await writeFile(
    join(root, 'package.json'),
    JSON.stringify({ name: 'project', version: '1.0.0', type: 'module', dependencies: { one: 'file:one-1.0.0.tgz' } }),
  );
  await execute('npm', ['install', '--package-lock-only', '--offline', '--no-audit', '--no-fund'], { cwd: root });
  for (const [name, source] of Object.entries(entries)) await writeFile(join(root, name), source);
  return root;
}

type Outcome = { code: number | null; stdout: string; stderr: string };
type Running = { child: ChildProcess; line(text: string): Promise<string>; outcome: Promise<Outcome> };

function run(t: TestContext, root: string, args: string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, ['scripts/run.mjs', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const outcome = once(child, 'close').then(([code]) => ({ code, stdout, stderr }));
  const line = async (text: string) => {
    while (!stdout.includes(text)) await once(child.stdout, 'data');
    return stdout.split('\n').find((candidate) => candidate.includes(text))!;
  };
  return { child, line, outcome };
}

test('missing packages are installed with one line, and the second start installs and prints nothing', async (t) => {
  const root = await project(t, {
    'entry.ts': `import one from 'one'; const found: number = one; console.log('found', found, process.argv.slice(2).join());`,
  });
  const first = await run(t, root, ['entry.ts', 'a', '--b']).outcome;
  assert.equal(first.stdout, 'found 1 a,--b\n');
  assert.match(first.stderr, /^Installing packages[^\n]*\n$/);
  assert.equal(first.code, 0);
  const record = join(root, 'node_modules', '.package-lock.json');
  const { mtimeMs } = await stat(record);
  assert.deepEqual(await run(t, root, ['entry.ts']).outcome, { code: 0, stdout: 'found 1 \n', stderr: '' });
  assert.equal((await stat(record)).mtimeMs, mtimeMs);
});

test('two concurrent first starts both work, and only one installs', async (t) => {
  const root = await project(t, { 'entry.mjs': `import one from 'one'; console.log('found', one);` });
  const outcomes = await Promise.all([run(t, root, ['entry.mjs']).outcome, run(t, root, ['entry.mjs']).outcome]);
  assert.deepEqual(
    outcomes.map(({ code, stdout }) => ({ code, stdout })),
    [
      { code: 0, stdout: 'found 1\n' },
      { code: 0, stdout: 'found 1\n' },
    ],
  );
  assert.equal(outcomes.filter(({ stderr }) => stderr.includes('Installing')).length, 1);
});

test('an interrupted install is repeated, although its lock still exists', async (t) => {
  const root = await project(t, { 'entry.mjs': `import one from 'one'; console.log('found', one);` });
  await mkdir(join(root, 'node_modules', 'one'), { recursive: true });
  await writeFile(join(root, '.install-lock'), '999999999');
  const { code, stdout } = await run(t, root, ['entry.mjs']).outcome;
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'found 1\n' });
  await assert.rejects(stat(join(root, '.install-lock')), { code: 'ENOENT' });
});

test('a changed version in the lock file is installed', async (t) => {
  const root = await project(t, { 'entry.mjs': 'console.log(1)' });
  await run(t, root, ['entry.mjs']).outcome;
  const record = join(root, 'node_modules', '.package-lock.json');
  await writeFile(record, (await readFile(record, 'utf8')).replace(/("version": ?)"1/g, '$1"0'));
  assert.match((await run(t, root, ['entry.mjs']).outcome).stderr, /Installing/);
});

test('a removed package is installed again', async (t) => {
  const root = await project(t, { 'entry.mjs': `import one from 'one'; console.log('found', one);` });
  await run(t, root, ['entry.mjs']).outcome;
  await rm(join(root, 'node_modules', 'one'), { recursive: true });
  assert.equal((await run(t, root, ['entry.mjs']).outcome).stdout, 'found 1\n');
});

test("a failed install shows the end of npm's output and what to do, and leaves no lock", async (t) => {
  const root = await project(t, { 'entry.mjs': '' });
  await rm(join(root, 'one-1.0.0.tgz'));
  const { code, stderr } = await run(t, root, ['entry.mjs'], { npm_config_cache: join(root, 'cache'), npm_config_offline: 'true' }).outcome;
  assert.equal(code, 1);
  assert.match(stderr, /one-1\.0\.0\.tgz[\s\S]*Installing packages failed\. .*npm ci/);
  await assert.rejects(stat(join(root, '.install-lock')), { code: 'ENOENT' });
});

test('without a lock file, or without an entry, one line says what to do', async (t) => {
  const root = await project(t, {});
  assert.match((await run(t, root, []).outcome).stderr, /^Usage: /);
  await rm(join(root, 'package-lock.json'));
  assert.match((await run(t, root, ['entry.mjs']).outcome).stderr, /^package-lock\.json is missing/);
});

test('the exit code is the entry’s own, and 128 and the number for a signal', async (t) => {
  const root = await project(t, { 'code.mjs': 'process.exitCode = 7', 'signal.mjs': `process.kill(process.pid, 'SIGKILL')` });
  assert.equal((await run(t, root, ['code.mjs']).outcome).code, 7);
  assert.equal((await run(t, root, ['signal.mjs']).outcome).code, 137);
});

test('SIGTERM is forwarded and waited for, and SIGINT is left to the terminal', async (t) => {
  const entry = `process.on('SIGTERM', () => { console.log('stopping'); process.exitCode = 3; clearInterval(on); });
    process.on('SIGINT', () => console.log('interrupted'));
    const on = setInterval(() => {}, 1000); console.log('up');`;
  const root = await project(t, { 'entry.mjs': entry });
  const { child, line, outcome } = run(t, root, ['entry.mjs']);
  await line('up');
  child.kill('SIGINT');
  child.kill('SIGTERM');
  const { code, stdout } = await outcome;
  assert.deepEqual({ code, stdout }, { code: 3, stdout: 'up\nstopping\n' });
});

test('an entry detects the kill -9 of the runner, and the channel keeps no entry alive', async (t) => {
  const entry = `process.on('disconnect', () => process.exit()); process.channel.unref(); console.log('pid', process.pid); if (process.argv[2]) setInterval(() => {}, 1000);`;
  const root = await project(t, { 'entry.mjs': entry });
  assert.equal((await run(t, root, ['entry.mjs']).outcome).code, 0);
  const { child, line, outcome } = run(t, root, ['entry.mjs', 'stay']);
  const pid = Number((await line('pid')).split(' ')[1]);
  assert.notEqual(await processIdentity(pid), null);
  child.kill('SIGKILL');
  // The entry holds the other end of the pipes: they close while it ends, a moment before it is gone.
  await outcome;
  await until(async () => (await processIdentity(pid)) === null, 'the end of the entry');
});
