/** `npm run cluster` as a user runs it, with nodes that only report that they are ready; test/nodes has real ones. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { readOptions } from '../../scripts/cluster/options.ts';
import { processIdentity } from '../../src/storage/live-process.ts';
import { testDatabase } from '../support/database.ts';
import { nodeEnv } from '../support/node-env.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Ends on a signal (unless a file `deaf` exists), or when the process that started it has ended, as the service does. */
const standIn = `
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
const server = createServer((request, response) => response.end(process.env.NODE_NAME)).listen(Number(process.env.PORT), process.env.HOST);
server.on('listening', () => {
  console.log('Troupe serves on http://127.0.0.1:' + server.address().port + '\\n  API reference ...');
  console.log(JSON.stringify({ level: 40, node: process.env.NODE_NAME, dataDir: process.env.DATA_DIR, key: process.env.SECRET_KEY.length }));
});
process.on('SIGINT', () => existsSync(process.env.DATA_DIR + '/deaf') || process.exit(0));
process.on('disconnect', () => process.exit(0));
`;

type Tool = {
  child: ChildProcess;
  said(): string;
  /** Resolves with the first match in what it has said, and says. */
  says(what: RegExp): Promise<RegExpExecArray>;
  exit: Promise<number | null>;
};

type World = { folder: string; dataDir: string; run(args: string[], env?: Record<string, string>): Tool };

async function world(t: TestContext): Promise<World> {
  const folder = await temporaryFolder('troupe-local-');
  const entry = join(folder.path, 'node.mjs');
  await writeFile(entry, standIn);
  // The tool itself but for what its nodes run.
  const tool = join(folder.path, 'cluster.ts');
  const source = (await readFile('scripts/cluster.ts', 'utf8')).replaceAll(
    /'(\.\.?)\//g,
    (_, dots) => `'${join(process.cwd(), 'scripts', dots)}/`,
  );
  await writeFile(tool, source.replace('LocalCluster.start({', `LocalCluster.start({ entry: ${JSON.stringify(entry)},`));
  const running: Tool[] = [];
  t.after(async () => {
    for (const { child } of running) child.kill('SIGTERM');
    await Promise.all(running.map(({ exit }) => exit));
    await folder.remove();
  });
  const dataDir = join(folder.path, 'data');
  return {
    folder: folder.path,
    dataDir,
    run(args, env = {}) {
      const started = watch([tool, ...args], { DATA_DIR: dataDir, ...env });
      running.push(started);
      return started;
    },
  };
}

function watch(args: string[], env: Record<string, string>): Tool {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: { ...nodeEnv, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      for (const listener of listeners) listener();
    });
  }
  const exit = once(child, 'close').then(([code]) => code as number | null);
  const says = (what: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const check = () => {
        const found = what.exec(said);
        if (found === null) return;
        listeners.delete(check);
        resolve(found);
      };
      listeners.add(check);
      check();
      void exit.then((code) => reject(new Error(`ended with ${code} and never said ${what}:\n${said}`)));
    });
  return { child, said: () => said, says, exit };
}

async function waitUntilEnded(pid: number): Promise<void> {
  while ((await processIdentity(pid)) !== null) await new Promise((resolve) => setTimeout(resolve, 20));
}

function pidsOf(said: string): number[] {
  return Array.from(said.matchAll(/pid (\d+)/g), ([, pid]) => Number(pid));
}

const up = /Troupe serves on (\S+) \(3 nodes/;

test('nodes with their own Redis and PostgreSQL serve behind one port, and stop in order', async (t) => {
  const { run, dataDir } = await world(t);
  const first = run(['--port', '0']);
  const [, url] = await first.says(up);
  await first.says(/Ctrl-C stops it/);
  const names = new Set<string>();
  for (let i = 0; i < 6; i++) names.add(await (await fetch(url!, { headers: { connection: 'close' } })).text());
  assert.deepEqual([...names].sort(), ['node-1', 'node-2', 'node-3']);
  assert.match(first.said(), new RegExp(`node-2 \\| .*"dataDir":"${dataDir}","key":64`));
  const redis = await readFile(join(dataDir, 'redis', 'url'), 'utf8');
  assert.match(first.said(), new RegExp(redis));
  const postmaster = Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);

  first.child.kill('SIGINT');
  assert.equal(await first.exit, 0);
  for (const pid of [...pidsOf(first.said()), postmaster]) assert.equal(await processIdentity(pid), null);
});

test('killed with kill -9 the tool leaves nothing running; the next start waits for that; a second Ctrl-C ends all at once', async (t) => {
  const { run, dataDir } = await world(t);
  const postmaster = async () => Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const killed = run(['--port', '0', '--nodes', '1']);
  await killed.says(/Ctrl-C stops it/);
  const left = [...pidsOf(killed.said()), await postmaster()];
  killed.child.kill('SIGKILL');
  const next = run(['--port', '0', '--nodes', '1']);
  await Promise.all(left.map(waitUntilEnded));

  await next.says(/Ctrl-C stops it/);
  const pids = [...pidsOf(next.said()), await postmaster()];
  // A node that does not leave keeps an orderly end waiting.
  await writeFile(join(dataDir, 'deaf'), '');
  next.child.kill('SIGINT');
  await next.says(/Stopping/);
  next.child.kill('SIGINT');
  assert.equal(await next.exit, 130);
  await Promise.all(pids.map(waitUntilEnded));
});

test('a dead node or Redis is restarted only with --restart', async (t) => {
  const { run } = await world(t);
  const database = await testDatabase();
  t.after(() => database.close());
  const plain = run(['--port', '0', '--nodes', '1'], { DATABASE_URL: database.url });
  // This Redis is not to be found by DATA_DIR, beside a database from elsewhere.
  await plain.says(/REDIS_URL=redis:\/\/127\.0\.0\.1:\d+ npm run troupe -- cluster status/);
  await plain.says(/Ctrl-C stops it/);
  process.kill(Number(/node-1 +pid (\d+)/.exec(plain.said())![1]), 'SIGKILL');
  await plain.says(/node-1 has ended \(SIGKILL\)\n/);
  const url = /serves on (\S+)/.exec(plain.said())![1]!;
  assert.equal((await fetch(url)).status, 503);
  plain.child.kill('SIGINT');
  assert.equal(await plain.exit, 0);

  const restarting = run(['--port', '0', '--nodes', '2', '--restart'], { DATABASE_URL: database.url });
  await restarting.says(/Ctrl-C stops it/);
  process.kill(Number(/node-2 +pid (\d+)/.exec(restarting.said())![1]), 'SIGKILL');
  await restarting.says(/node-2 runs again \(pid \d+\)/);
  process.kill(Number(/redis +pid (\d+)/.exec(restarting.said())![1]), 'SIGKILL');
  await restarting.says(/Redis runs again/);
  restarting.child.kill('SIGINT');
  assert.equal(await restarting.exit, 0);
  for (const pid of pidsOf(restarting.said())) assert.equal(await processIdentity(pid), null);
});

test('wrong usage prints one line and the usage, exit 2; another failure prints one line, exit 1', async (t) => {
  const { run } = await world(t);
  const wrong: [string[], Record<string, string>, RegExp][] = [
    [['--nodes', '0'], {}, /--nodes must be a whole number from 1 to 20$/],
    [['--nodes', '3x'], {}, /--nodes must be/],
    [['--port', '70000'], {}, /--port must be/],
    [['--frob'], {}, /Unknown option '--frob'$/],
    [['three'], {}, /Unexpected argument 'three'/],
    [[], { REDIS_URL: 'http://x' }, /REDIS_URL is "http:\/\/x", but must be a redis/],
    [[], { LOG_LEVEL: 'loud' }, /LOG_LEVEL is/],
  ];
  for (const [args, env, words] of wrong) assert.throws(() => readOptions(args, env), words);
  const misused = run(['--nodes', 'x']);
  assert.equal(await misused.exit, 2);
  assert.match(misused.said(), /^--nodes must be a whole number from 1 to 20\nUsage: [^\n]*\n$/);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address() as { port: number };
  const tool = run(['--port', String(port)]);
  assert.equal(await tool.exit, 1);
  assert.match(tool.said(), new RegExp(`\\nPort ${port} of 127.0.0.1 is taken: [^\\n]*\\n$`));
  assert.equal(readOptions(['--help'], {}), 'help');
});

test('without a Redis one line says what to install', async (t) => {
  const { run, folder } = await world(t);
  const database = await testDatabase();
  t.after(() => database.close());
  const tool = run(['--port', '0'], { DATABASE_URL: database.url, PATH: folder });
  assert.equal(await tool.exit, 1);
  assert.match(tool.said(), /\nThere is no Redis: set REDIS_URL, or install one \([^\n]*\n$/);
});
