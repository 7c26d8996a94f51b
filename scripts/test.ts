/**
 * `npm test [-- paths and node options]`: runs the test files, all of them or those under the given paths, in groups, with one shared
 * PostgreSQL (each test creates its own database on it). Exits with the outcome of the tests, and leaves nothing running or on disk.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { availableParallelism, constants, freemem, tmpdir } from 'node:os';
import { noLog } from '../src/log.ts';
import { startEmbeddedPostgres } from '../src/storage/embedded-postgres.ts';
import { processesIn, signalProcess } from '../src/storage/live-process.ts';
import { sharedPostgresSettings } from '../test/support/postgres-settings.ts';
import { copyPreparedPostgres } from '../test/support/prepared-postgres.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { bundledPackagesOption } from './bundle-packages.ts';
import { preparePostgres } from './prepare-postgres.ts';
import { groupTestFiles } from './test-groups.ts';
import { ciReporters, terminalReporters } from './test-reporters.ts';

/** Of a process, also where it hangs after its tests: an open socket or timer is a defect. */
const processTimeoutMs = 1_800_000;
/** Two more than processors, because tests also wait; not many more: they start processes, and would measure the machine, not the code. */
const processesAtOnce = Math.min(availableParallelism() + 2, 6);
const memoryFolder = '/dev/shm';
/** Bytes: many times the usual need of the tests. */
const memoryWanted = 4 * 2 ** 30;

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort(signal));
process.on('disconnect', () => stopping.abort('SIGTERM'));
process.channel?.unref();

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const options = args.filter((arg) => arg.startsWith('-'));
  const files = testFiles(args.filter((arg) => !arg.startsWith('-')));
  if (files.length === 0) {
    console.error(`No test files (*.test.ts) under ${args.join(' ') || 'test'}`);
    return 1;
  }
  process.env.TMPDIR ??= await folderInMemory();
  const folder = await temporaryFolder('troupe-tests-');
  try {
    const [prepared, dataDir] = [`${folder.path}/prepared`, `${folder.path}/shared`];
    await preparePostgres(prepared);
    await copyPreparedPostgres(dataDir, prepared);
    const postgres = await startEmbeddedPostgres({ dataDir, log: noLog, settings: sharedPostgresSettings });
    try {
      return await runTests(await groupTestFiles(files, folder.path, processesAtOnce), options, {
        TEST_DATABASE_URL: postgres.url,
        TEST_PREPARED_POSTGRES: prepared,
        TMPDIR: folder.path,
        NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${await bundledPackagesOption()}`.trim(),
      });
    } finally {
      await postgres.stop();
    }
  } finally {
    // An interrupted test may leave processes running: a detached PostgreSQL with its folder under this one, or services with theirs.
    for (const pid of [...(await processesIn(folder.path)), ...(await processesWithFolder(folder.path))]) signalProcess(pid, 'SIGKILL');
    await folder.remove();
  }
}

/** Pids of the processes that were given `folder`, or a path in it, in their environment. Empty where the system does not show it. */
async function processesWithFolder(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')));
  return pids.filter((_, i) => environments[i]!.includes(folder)).map(Number);
}

/** In memory if there is enough: a thousand databases are created and dropped, and on a busy disk each takes half a second. */
async function folderInMemory(): Promise<string> {
  const { bavail, bsize } = await statfs(memoryFolder).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize < memoryWanted || freemem() < memoryWanted ? tmpdir() : memoryFolder;
}

function testFiles(paths: string[]): string[] {
  const all = globSync('test/**/*.test.ts');
  const wanted = paths.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''));
  return all.filter((file) => wanted.length === 0 || wanted.some((path) => file === path || file.startsWith(`${path}/`))).sort();
}

async function runTests(files: string[], options: string[], env: Record<string, string>): Promise<number> {
  if (stopping.signal.aborted) return exitCode(null, stopping.signal.reason);
  const reporters = process.env.CI ? ciReporters : terminalReporters;
  const flags = ['--test', `--test-concurrency=${processesAtOnce}`, `--test-timeout=${processTimeoutMs}`, ...reporters];
  const command = ['--disable-warning=ExperimentalWarning', ...flags, ...options, ...files];
  const child = spawn(process.execPath, command, { stdio: 'inherit', env: { ...process.env, ...env } });
  // Ctrl-C reaches it from the terminal as well; a second signal changes nothing.
  stopping.signal.addEventListener('abort', () => child.kill('SIGTERM'));
  const [code, signal] = await exitOf(child);
  return exitCode(code, signal);
}

async function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
}

function exitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
