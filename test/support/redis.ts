/**
 * A real Redis for tests: a separate server for each test, on a free loopback port, in memory only, in its own folder. Tests that need
 * one are declared with `{ skip: withoutRedis }`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type TestRedis = {
  url: string;
  port: number;
  /** For queries and for faults; its commands wait while the server is paused. */
  client: Redis;
  /** Stops its process where it is: connections stay, nothing is answered. */
  pause(): void;
  resume(): void;
  /** Ends it at once (-9); what it held is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
  /** Empties it while it runs. */
  flush(): Promise<void>;
};

export const redisProgram = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'redis-server'))
  .find(isProgram);

/** The reason to skip a test that needs Redis; false where there is one. Where `CI` is set nothing is skipped: the test fails instead. */
export const withoutRedis: string | false = redisProgram !== undefined || process.env.CI ? false : 'there is no redis-server on the PATH';
if (withoutRedis) console.error(`SKIPPED: tests of the cluster, because ${withoutRedis}`);

/** Starts a Redis that ends with the test, however the test ends. */
export async function testRedis(t: Scope): Promise<TestRedis> {
  const program = neededProgram();
  const folder = await temporaryFolder('troupe-redis-');
  let server: ChildProcess | null = null;
  let client: Redis | null = null;
  const killServer = async () => {
    const ending = server;
    server = null;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
    ending.kill('SIGKILL');
    await once(ending, 'exit');
  };
  const leftOver = () => void server?.kill('SIGKILL');
  process.once('exit', leftOver);
  t.after(async () => {
    process.off('exit', leftOver);
    client?.disconnect();
    await killServer();
    await folder.remove();
  });

  let port = 0;
  for (let attempt = 1; server === null; attempt++) {
    port = await freePort();
    server = await startServer(program, settingsOf(port, folder.path), folder.path);
    if (server === null && attempt === 20) throw new Error('No free port was found for the Redis of a test');
  }
  client = new Redis({ port, retryStrategy: () => 50, maxRetriesPerRequest: null });
  // While it is killed or restarting; commands wait for it.
  client.on('error', () => {});
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    pause: () => void server!.kill('SIGSTOP'),
    resume: () => void server!.kill('SIGCONT'),
    kill: killServer,
    restart: async () => {
      await killServer();
      server = await startServer(program, settingsOf(port, folder.path), folder.path);
      if (server === null) throw new Error(`The Redis of a test could not be started again on port ${port}`);
    },
    flush: async () => void (await client.flushall()),
  };
}

/** Throws where there is none. */
export function neededProgram(): string {
  if (redisProgram === undefined) throw new Error('There is no redis-server on the PATH, and tests of the cluster need one');
  return redisProgram;
}

export function settingsOf(port: number, folder: string): string[] {
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: folder, daemonize: 'no', 'enable-debug-command': 'yes' };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** Resolves when it accepts connections; with null when the port is taken. */
export async function startServer(path: string, args: readonly string[], folder: string): Promise<ChildProcess | null> {
  const server = spawn(path, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const ready = new Promise<boolean>((resolve, reject) => {
    const onOutput = (chunk: Buffer) => {
      output += chunk;
      if (/ready to accept connections|Sentinel ID is/i.test(output)) resolve(true);
    };
    server.stdout.on('data', onOutput);
    server.stderr.on('data', onOutput);
    server.once('error', reject);
    server.once('close', () => {
      if (/address already in use/i.test(output)) resolve(false);
      else reject(new Error(`The Redis of a test did not start:\n${output.trim()}`));
    });
  });
  if (!(await ready)) return null;
  // Read on, so that a full pipe does not hold it up.
  server.stdout.resume();
  server.stderr.resume();
  return server;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
