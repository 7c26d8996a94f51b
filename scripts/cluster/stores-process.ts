/**
 * Run by `stores.ts` as a separate process: keeps the lock on DATA_DIR, and the Redis and PostgreSQL that a local cluster has started. It
 * outlives the tool briefly, even if that is killed: the nodes, which end with the tool, still have commits to finish.
 */

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { noLog } from '../../src/log.ts';
import { type DataDirLock, lockDataDir } from '../../src/storage/data-dir-lock.ts';
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { processIdentity, signalProcess } from '../../src/storage/live-process.ts';
import { findRedisProgram } from './redis-program.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import type { StoresNotification, StoresOrder } from './stores.ts';

/** An earlier cluster, whose tool was killed, ends within this time. */
const lockWithinMs = 30_000;
const nodesEndWithinMs = 15_000;
const redisRestartMs = 1_000;

type Stop = () => Promise<void>;

const stops: Stop[] = [];
/** Identities of the nodes' processes: a pid may belong to another process later. */
const nodes = new Map<number, string>();
let stopping: Promise<void> | null = null;

process.on('message', (order: StoresOrder) => {
  if (order.kind === 'start') void start(order).catch((error: Error) => notify({ kind: 'failed', message: error.message }).then(stop));
  else if (order.kind === 'node') void processIdentity(order.pid).then((identity) => identity !== null && nodes.set(order.pid, identity));
  else void stop();
});
process.on('disconnect', () => void nodesEnded().then(stop));

async function start({ dataDir, redis, postgres, restart }: Extract<StoresOrder, { kind: 'start' }>): Promise<void> {
  const lock = await takeLock(dataDir);
  stops.push(() => lock.release());
  const databaseUrl = postgres ? await startPostgres(dataDir) : null;
  const server = redis ? await startOwnRedis(dataDir, restart) : null;
  await notify({ kind: 'started', databaseUrl, redisUrl: server?.url ?? null, redisPid: server?.pid ?? null });
}

async function takeLock(dataDir: string): Promise<DataDirLock> {
  for (const giveUpAtMs = performance.now() + lockWithinMs, printed = { once: false }; ; await delay(200)) {
    try {
      return await lockDataDir(dataDir);
    } catch (error) {
      const message = (error as Error).message;
      if (stopping !== null || !message.startsWith('Another process') || performance.now() >= giveUpAtMs) throw error;
      if (!printed.once) await notify({ kind: 'says', line: `${message.split(':')[0]}: waiting for it to end` });
      printed.once = true;
    }
  }
}

async function startPostgres(dataDir: string): Promise<string> {
  const onLost = () => void notify({ kind: 'lost', what: 'postgres' });
  const starting = startEmbeddedPostgres({ dataDir, log: noLog, onLost, settings: { max_connections: '400' } });
  stops.push(() => starting.then((postgres) => postgres.stop()).catch(() => {}));
  return (await starting).url;
}

async function startOwnRedis(dataDir: string, restart: boolean): Promise<RedisServer> {
  const program = await findRedisProgram(join(dataDir, 'redis-server'), (line) => void notify({ kind: 'says', line }));
  let starting = startRedis(program, dataDir);
  // Registered for the stop before it runs: the stop may come during the start.
  stops.push(() => starting.then((redis) => redis.stop()).catch(() => {}));
  const server = await starting;
  const watch = async ({ ended }: RedisServer): Promise<void> => {
    await ended;
    if (stopping !== null) return;
    await notify({ kind: 'lost', what: 'redis' });
    if (!restart) return;
    await delay(redisRestartMs);
    if (stopping !== null) return;
    starting = startRedis(program, dataDir, Number(new URL(server.url).port));
    const next = await starting;
    await notify({ kind: 'redis', pid: next.pid });
    return watch(next);
  };
  void watch(server).catch((error: Error) => notify({ kind: 'says', line: error.message }));
  return server;
}

/** Bounded: a node that does not end within 15 s is killed. */
async function nodesEnded(): Promise<void> {
  const alive = async () => {
    const pids = [];
    for (const [pid, identity] of nodes) if ((await processIdentity(pid)) === identity) pids.push(pid);
    return pids;
  };
  const giveUpAtMs = performance.now() + nodesEndWithinMs;
  while ((await alive()).length > 0 && performance.now() < giveUpAtMs) await delay(50);
  for (const pid of await alive()) signalProcess(pid, 'SIGKILL');
}

function stop(): Promise<void> {
  stopping ??= (async () => {
    for (let next = stops.pop(); next !== undefined; next = stops.pop()) await next().catch(() => {});
    process.exit(0);
  })();
  return stopping;
}

async function notify(notification: StoresNotification): Promise<void> {
  if (!process.connected) return;
  await new Promise<void>((resolve) => process.send!(notification, () => resolve()));
}
