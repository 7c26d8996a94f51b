/**
 * A Redis of a local cluster: on a free loopback port, without a password and without persistence, because it only holds the live nodes.
 * Its folder has its log, its pid and its address, by which the next start ends a Redis that a killed tool left behind.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { localRedisFile } from '../../src/cli/find-redis.ts';
import { commandLine, processesIn, processIdentity, signalProcess } from '../../src/storage/live-process.ts';
import type { RedisProgram } from './redis-program.ts';

export type RedisServer = {
  readonly url: string;
  readonly pid: number;
  /** Resolves when it has ended for any reason. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
};

const startWithinMs = 10_000;
const stopWithinMs = 5_000;
const pollMs = 20;
const portAttempts = 10;

/** `port`: the required port, or null for any free one. Rejects with the end of its log if it does not answer in ten seconds. */
export async function startRedis(program: RedisProgram, dataDir: string, port: number | null = null): Promise<RedisServer> {
  await mkdir(join(dataDir, 'redis'), { recursive: true });
  const folder = await realpath(join(dataDir, 'redis'));
  for (const pid of await processesIn(folder)) if (/redis-server/.test(await commandLine(pid))) await end(pid);
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch(program, dataDir, folder, port ?? anyPort());
    } catch (error) {
      if (port !== null || attempt === portAttempts || !/Address already in use/.test((error as Error).message)) throw error;
    }
  }
}

async function launch(program: RedisProgram, dataDir: string, folder: string, port: number): Promise<RedisServer> {
  const logPath = join(folder, 'redis.log');
  const log = await open(logPath, 'w', 0o600);
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', '', '--appendonly', 'no'];
  // In its own session: Ctrl-C must reach the nodes first.
  const child = spawn(program.path, settings, {
    cwd: folder,
    env: { ...process.env, ...program.env },
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
  });
  const ended = once(child, 'exit').then(
    () => {},
    () => {},
  );
  const spawned = once(child, 'spawn');
  await log.close();
  const url = `redis://127.0.0.1:${port}`;
  try {
    await spawned;
    await untilItAnswers(port, ended);
  } catch (error) {
    child.kill('SIGKILL');
    const tail = (await readFile(logPath, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n');
    throw new Error(`Redis did not start (${(error as Error).message}). The end of ${logPath}:\n${tail}`, { cause: error });
  }
  const stop = async () => {
    await rm(localRedisFile(dataDir), { force: true });
    await end(child.pid!);
    await ended;
  };
  await writeFile(localRedisFile(dataDir), url, { mode: 0o600 });
  return { url, pid: child.pid!, ended, stop };
}

async function untilItAnswers(port: number, ended: Promise<void>): Promise<void> {
  let over = false;
  void ended.then(() => (over = true));
  for (const giveUpAtMs = performance.now() + startWithinMs; performance.now() < giveUpAtMs; await delay(pollMs)) {
    if (over) throw new Error('it ended at once');
    if (await answers(port)) return;
  }
  throw new Error(`no answer within ${startWithinMs / 1_000} s`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      resolve(chunk.toString('latin1').startsWith('+PONG'));
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(false));
  });
}

async function end(pid: number): Promise<void> {
  const identity = await processIdentity(pid);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (identity === null || (await processIdentity(pid)) !== identity) return;
    signalProcess(pid, signal);
    const giveUpAtMs = performance.now() + stopWithinMs;
    while ((await processIdentity(pid)) === identity && performance.now() < giveUpAtMs) await delay(pollMs);
  }
}

/** Below the ports of outgoing connections, so that it is still free when a Redis is restarted. */
function anyPort(): number {
  return randomInt(15_000, 32_000);
}
