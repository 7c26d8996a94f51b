import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Log, noLog } from '../../../src/log.ts';
import { createSandboxPool } from '../../../src/providers/sandbox/pool.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const directory = mkdtempSync(join(tmpdir(), 'sandbox-pool-'));
after(() => rm(directory, { recursive: true }));
const never = () => new AbortController().signal;

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Runs code that reports its start and then never ends. */
function busyRun(pool: ReturnType<typeof createSandboxPool>, signal: AbortSignal) {
  const { promise: busy, resolve } = Promise.withResolvers<void>();
  const files = async () => {
    resolve();
    return [];
  };
  return { busy, outcome: pool.run('acct', 'listFiles(); for (;;) {}', files, signal) };
}

test('an abort in the middle of a run ends its process at once', async () => {
  const pool = createSandboxPool({ directory, log: noLog });
  const abort = new AbortController();
  const { busy, outcome } = busyRun(pool, abort.signal);
  await busy;
  const [pid] = pool.pids();
  abort.abort(new Error('cancelled'));
  await assert.rejects(outcome, /cancelled/);
  assert.equal(exists(pid!), false);
  await pool.close();
});

test('an abort before the start runs nothing', async () => {
  const pool = createSandboxPool({ directory, log: noLog });
  await assert.rejects(
    pool.run('acct', '1', async () => null, AbortSignal.abort(new Error('too late'))),
    /too late/,
  );
  assert.deepEqual(pool.pids(), []);
  await pool.close();
});

test('close ends running and spare processes, and nothing runs afterwards', async () => {
  const pool = createSandboxPool({ directory, log: noLog });
  const { busy, outcome } = busyRun(pool, never());
  const refused = assert.rejects(outcome, { code: 'draining' });
  await busy;
  await until(() => pool.pids().length === 2);
  const pids = pool.pids();
  await pool.close();
  await refused;
  assert.deepEqual(pids.map(exists), [false, false]);
  await assert.rejects(
    pool.run('acct', '1', async () => null, never()),
    { code: 'draining' },
  );
});

test('callers beyond the limit of the queue are refused, waiting ones get a slot or leave', async () => {
  const pool = createSandboxPool({ directory, log: noLog, maxRunning: 1, maxWaiting: 2 });
  const first = new AbortController();
  const { busy, outcome } = busyRun(pool, first.signal);
  await busy;
  const leaving = new AbortController();
  const left = assert.rejects(
    pool.run('acct', '2', async () => null, leaving.signal),
    /changed my mind/,
  );
  const waiting = pool.run('acct', '3', async () => null, never());
  await assert.rejects(
    pool.run('acct', '4', async () => null, never()),
    { code: 'overloaded' },
  );
  leaving.abort(new Error('changed my mind'));
  await left;
  first.abort(new Error('enough'));
  await assert.rejects(outcome, /enough/);
  assert.equal((await waiting).result, 3);
  await pool.close();
});

test('endless code of one account leaves a slot to another account, whose code runs at once', async () => {
  const pool = createSandboxPool({ directory, log: noLog, maxRunning: 2, maxWaitingEach: 3 });
  const enough = new AbortController();
  const first = busyRun(pool, enough.signal);
  await first.busy;
  const waiting = Array.from({ length: 3 }, () => pool.run('acct', 'for (;;) {}', async () => null, enough.signal));
  const ended = Promise.allSettled([first.outcome, ...waiting]);
  await assert.rejects(
    pool.run('acct', '1', async () => null, never()),
    { code: 'overloaded' },
  );
  const other = await pool.run('another', '1 + 1', async () => null, never());
  assert.equal(other.result, 2);
  assert.deepEqual(pool.load, { running: 1, waiting: 3, rejected: 1 });
  enough.abort(new Error('enough'));
  await ended;
  await pool.close();
});

test('an unused spare process ends automatically', async () => {
  const pool = createSandboxPool({ directory, log: noLog, spareIdleMs: 1 });
  await pool.run('acct', '1', async () => null, never());
  await until(() => pool.pids().length === 0);
  await pool.close();
});

test('a sandbox that cannot start is unavailable to the caller, the log has the reason, and the check fails until one has run', async (t) => {
  const errors: unknown[] = [];
  const log = { ...noLog, error: ({ err }: { err: Error }) => void errors.push(String(err.cause)) } as unknown as Log;
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const path = join(folder.path, 'a-file');
  await writeFile(path, '');
  const pool = createSandboxPool({ directory: join(path, 'below'), log });
  await pool.check();
  await assert.rejects(
    pool.run('acct', '1', async () => null, never()),
    { code: 'unavailable', message: 'The sandbox cannot run code now' },
  );
  assert.match(String(errors), /ENOTDIR/);
  assert.equal(errors.length, 1);
  await assert.rejects(pool.check(), { code: 'unavailable' });
  await rm(path);
  assert.equal((await pool.run('acct', '1', async () => null, never())).error, null);
  await pool.check();
  await pool.close();
});

test('a parent that is killed leaves no child, busy or idle', { skip: process.platform === 'linux' ? false : 'reads /proc' }, async () => {
  const program = fileURLToPath(new URL('./parent.ts', import.meta.url));
  const parent = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(parent.stdout, 'data');
  const pids: number[] = JSON.parse(String(line));
  assert.equal(pids.length, 2);
  assert.deepEqual(pids.map(exists), [true, true]);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  // Each child has another parent now; its folder in /proc disappears when it has ended and been reaped.
  await until(() => !pids.some(isAlive));
});

/** An ended process that is not reaped yet is a zombie and not alive. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}/exe`);
}

const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const links = {
  node_modules: (at: string) => symlink(packages, at),
  'each package': async (at: string) => {
    await mkdir(join(at, '@jitl'), { recursive: true });
    for (const name of ['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync', '@jitl/quickjs-ffi-types'])
      await symlink(join(packages, name), join(at, name));
  },
};
for (const [linked, link] of Object.entries(links))
  test(`code runs where ${linked} is a symbolic link`, async (t) => {
    const { path, remove } = await temporaryFolder();
    t.after(remove);
    const program = join(path, 'sandbox');
    await cp(fileURLToPath(new URL('../../../src/providers/sandbox', import.meta.url)), program, { recursive: true });
    await link(join(path, 'node_modules'));
    const { startSandboxProcess } = (await import(
      pathToFileURL(join(program, 'process.ts')).href
    )) as typeof import('../../../src/providers/sandbox/process.ts');
    const child = startSandboxProcess(path);
    t.after(() => child.kill());
    await child.ready;
    child.send({ op: 'run', code: '1 + 1', timeMs: 10_000 });
    const done = await child.next();
    assert.deepEqual(done?.op === 'done' && done.result, 2);
  });
